/**
 * What the documentation tells a developer to paste is pasted: the first page's commands into a shell, the webhook
 * samples into their interpreters.
 *
 * Invariant: nothing is taken from our sources; the text is read from the pages, as a developer would read it.
 */

import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMerchant, type MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { collect, payByPhone, payFromWallet, untilStatus } from '../support/flows.ts';
import { settled } from '../support/payout-flows.ts';
import type { Hook } from '../support/receiver.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

const run = promisify(execFile);

let world: World;
let merchant: MerchantCreated;
let folder: string;
/** Not the default, and quoted with care. */
const DATA_DIR = "the shop's data";

beforeAll(async () => {
  world = await openWorld({ env: { DATA_DIR } });
  merchant = await world.merchant();
  folder = await mkdtemp(join(tmpdir(), 'mbongo-docs-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

type Node = DefaultTreeAdapterTypes.ChildNode;

/** The blocks of code with that caption on a page. */
async function blocks(path: string, caption: string): Promise<string[]> {
  const document = parse(await (await fetch(world.url + path)).text());
  const found: string[] = [];
  const walk = (node: Node): void => {
    if (node.nodeName === 'figure' && textOf(node.childNodes[0]) === caption) found.push(textOf(node.childNodes[1]));
    else if ('childNodes' in node) for (const child of node.childNodes) walk(child);
  };
  for (const node of document.childNodes) walk(node);
  return found;
}

function textOf(node: Node | undefined): string {
  if (node === undefined) return '';
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

/** Runs lines in a shell, in a project’s folder whose demo merchant is that merchant; returns the lines that they print. */
async function shell(lines: readonly string[], { key_id, secret }: MerchantCreated = merchant): Promise<string[]> {
  await mkdir(join(folder, DATA_DIR), { recursive: true });
  await writeFile(join(folder, DATA_DIR, 'demo.json'), JSON.stringify({ key_id, secret }));
  const { stdout } = await run('bash', ['-c', lines.join('\n')], { cwd: folder });
  return stdout.split('\n');
}

test('the first page’s commands, pasted one after the other, make a payment and show its webhook', async () => {
  const { key_id, secret } = merchant;
  for (const page of ['/docs', '/docs/webhooks']) {
    expect(await (await fetch(world.url + page)).text(), page).toContain('<code>the shop&#39;s data/demo.json</code>');
  }
  const [start, ...steps] = await blocks('/docs', 'Shell');
  expect([start, steps.length]).toEqual(['npm start', 6]);

  const [credential, token, payment, submitted = ''] = await shell(steps.slice(0, 4));
  expect(credential).toBe(`${key_id}:${secret}`);
  expect(token).toMatch(/^sess_/);
  expect(payment).toMatch(/^pay_/);
  expect(JSON.parse(submitted)).toMatchObject({ status: 'pending_mobile_money_verification', amount: '45.90' });

  // The customer approves after a second, and the carrier calls back.
  await world.pass(1_500);
  await world.pass(5_000);
  const known = [`TOKEN=${token}`, `PAYMENT=${payment}`, steps[0] ?? ''];
  const [, status = '', inbox = ''] = await shell([...known, steps[4] ?? '', 'echo', steps[5] ?? '']);
  expect(JSON.parse(status)).toMatchObject({ data: { status: 'completed' } });
  const [caught] = JSON.parse(inbox).messages;
  expect(JSON.parse(caught.body)).toMatchObject({ status: 'approved', amount: '45.90', customer_reference: 'order-1' });
});

test('the commands about refunds, pasted after those of the first page, refund a part of its payment', async () => {
  const other = await world.merchant();
  const [, credential = '', ...steps] = await blocks('/docs', 'Shell');
  const [find = '', refund = '', read = '', ...more] = await blocks('/docs/refunds', 'Shell');
  expect(more).toEqual([]);
  await shell([credential, ...steps.slice(0, 3)], other);
  await world.pass(1_500);
  await world.pass(5_000);

  const [, transaction, refundId] = await shell([credential, find, refund], other);
  expect(transaction).toMatch(/^txn_/);
  const [, answer = ''] = await untilLater(world, async () => {
    const lines = await shell([credential, `REFUND=${refundId}`, read], other);
    return lines[1]?.includes('"status":"completed"') ? lines : undefined;
  });
  expect(JSON.parse(answer)).toMatchObject({ transaction_id: transaction, amount: '5.00', refunded_amount: '5.00' });
});

test('the commands about payouts pay one of two people, and the failed line is paid again', async () => {
  const other = await createMerchant(world.gateway.deps, { name: 'Salaries', noFloat: false });
  const [, credential = ''] = await blocks('/docs', 'Shell');
  const [send = '', read = '', retry = '', ...more] = await blocks('/docs/payouts', 'Shell');
  expect(more).toEqual([]);
  const [, batch, again] = await shell([credential, send, send], other);
  expect([batch, again]).toEqual([expect.stringMatching(/^batch_/), batch]);

  await settled(world, other, batch ?? '');
  const [, shown = '', repaid = ''] = await shell([credential, `BATCH=${batch}`, read, 'echo', retry], other);
  expect(JSON.parse(shown)).toMatchObject({
    status: 'partial_success',
    beneficiaries: [{ status: 'completed' }, { status: 'failed' }],
  });
  expect(JSON.parse(repaid)).toMatchObject({ retry_of: batch, total_amount: '35.50' });
});

test('the command about reconciling prints a whole statement of the day', async () => {
  const [, credential = ''] = await blocks('/docs', 'Shell');
  const [statement = '', ...more] = await blocks('/docs/reconcile', 'Shell');
  expect(more).toEqual([]);
  const [head, first, ...lines] = (await shell([credential, statement])).map((line) => line.trimEnd()).slice(1);
  expect(head).toMatch(/^id,at,balance,cause,amount,currency,balance_after/);
  expect([first, lines.at(-2)]).toEqual([
    expect.stringContaining('opening_balance'),
    expect.stringContaining('closing_balance'),
  ]);
});

test('the commands about test numbers approve the newest request on a phone, and name this gateway’s data', async () => {
  const other = await world.merchant();
  const [phone = '', wallet] = await blocks('/docs/test-numbers', 'Shell');
  const paying = await collect(world, other);
  await payByPhone(world, paying, '+243810000042');
  const [prompt = '', answer = ''] = await shell([phone]);
  expect(prompt).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.parse(answer)).toMatchObject({ status: 'approved' });
  await untilStatus(world, paying, 'approved');
  expect(wallet).toMatch(/^DATA_DIR='the shop'\\''s data' npx mbongo wallet open /);
});

test('the command about the hosted page, with a session of its own, answers with the page’s address', async () => {
  const [, credential = '', mint = ''] = await blocks('/docs', 'Shell');
  const [hosted = ''] = await blocks('/docs/payments', 'Shell');
  const [, , answer = ''] = await shell([credential, mint, hosted]);
  expect(JSON.parse(answer)).toMatchObject({ status: 'pending', redirect_url: expect.stringContaining(world.url) });
});

describe('a webhook sample', () => {
  let hook: Hook;

  beforeAll(async () => {
    const paying = await collect(world, merchant);
    await payFromWallet(world, paying, await world.wallet());
    hook = await world.receiver.about(paying.transaction_id);
  });

  /** Deliveries that must be accepted, and ones that must not. */
  function cases() {
    const headers = {
      'webhook-id': String(hook.headers['webhook-id']),
      'webhook-timestamp': String(hook.headers['webhook-timestamp']),
      'webhook-signature': String(hook.headers['webhook-signature']),
    };
    const now = Number(headers['webhook-timestamp']);
    const secret = merchant.webhook_secret;
    const real = { headers, body: hook.raw, secret, now };
    const signature = headers['webhook-signature'];
    const signedBy = (unset: string) => {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${hook.raw}`;
      const key = Buffer.from(unset.replace('whsec_', ''), 'base64');
      return { ...headers, 'webhook-signature': `v1,${createHmac('sha256', key).update(signed).digest('base64')}` };
    };
    const other = { ...headers, 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` };
    return {
      real: [
        real,
        { ...real, now: now + 300 },
        { ...real, now: now - 300 },
        { ...real, headers: { ...headers, 'webhook-signature': `${other['webhook-signature']} ${signature}` } },
      ],
      forged: [
        { ...real, body: hook.raw.replace('12.50', '12.51') },
        { ...real, secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}` },
        { ...real, now: now + 301 },
        { ...real, now: now - 301 },
        { ...real, headers: other },
        { ...real, headers: { ...headers, 'webhook-id': 'evt_other' } },
        { ...real, headers: { ...headers, 'webhook-timestamp': 'soon' } },
        { ...real, headers: { ...headers, 'webhook-timestamp': '9'.repeat(5_000) } },
        { ...real, headers: { ...headers, 'webhook-signature': '' } },
        { ...real, headers: {} },
        // A developer who has forgotten to set the secret accepts nothing, rather than everything.
        ...['', 'whsec_', 'whsec_bm9uZQ=='].map((unset) => ({ ...real, secret: unset, headers: signedBy(unset) })),
      ],
    };
  }

  /** Judges every case with a program that reads them from a file, and prints which it accepts. */
  async function judge(name: string, harness: string, program: string, args: readonly string[]): Promise<void> {
    const { real, forged } = cases();
    await writeFile(join(folder, 'cases.json'), JSON.stringify([...real, ...forged]));
    await writeFile(join(folder, name), harness);
    const { stdout } = await run(program, args, { cwd: folder, env: { ...process.env, GOTOOLCHAIN: 'local' } });
    expect(JSON.parse(stdout)).toEqual([...real.map(() => true), ...forged.map(() => false)]);
  }

  test('in TypeScript accepts what the gateway signs, and nothing else', async () => {
    const [sample = ''] = await blocks('/docs/webhooks', 'TypeScript');
    const harness = `${sample}
import { readFileSync } from 'node:fs';
const cases = JSON.parse(readFileSync('cases.json', 'utf8'));
console.log(JSON.stringify(cases.map((one) => isFromMbongo(one.headers, one.body, one.secret, one.now))));
`;
    await judge('judge.mts', harness, process.execPath, ['--import', import.meta.resolve('tsx'), 'judge.mts']);
  });

  test('in Python does the same, if it is installed', async ({ skip }) => {
    if (!(await isThere('python3', '--version'))) skip();
    const [sample = ''] = await blocks('/docs/webhooks', 'Python');
    const harness = `${sample}


import json

cases = json.load(open("cases.json"))
print(json.dumps([is_from_mbongo(c["headers"], c["body"].encode(), c["secret"], c["now"]) for c in cases]))
`;
    await judge('judge.py', harness, 'python3', ['judge.py']);
  });

  test('in PHP does the same, if it is installed', async ({ skip }) => {
    if (!(await isThere('php', '--version'))) skip();
    const [sample = ''] = await blocks('/docs/webhooks', 'PHP');
    const harness = `${sample}
$cases = json_decode(file_get_contents('cases.json'), true);
echo json_encode(array_map(fn ($c) => is_from_mbongo($c['headers'], $c['body'], $c['secret'], $c['now']), $cases));
`;
    await judge('judge.php', harness, 'php', ['judge.php']);
  });

  // The first run of Go compiles what is imported of its standard library: without inlining, in two thirds of the time.
  test('in Go does the same, if it is installed', { timeout: 900_000 }, async ({ skip }) => {
    if (!(await isThere('go', 'version'))) skip();
    const [sample = ''] = await blocks('/docs/webhooks', 'Go');
    await writeFile(join(folder, 'verify.go'), sample);
    const harness = `package main

import (
	"encoding/json"
	"os"
	"time"
)

func main() {
	var cases []struct {
		Headers map[string]string
		Body, Secret string
		Now int64
	}
	text, _ := os.ReadFile("cases.json")
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	believed := []bool{}
	for _, one := range cases {
		header := func(name string) string { return one.Headers[name] }
		believed = append(believed, isFromMbongo(header, []byte(one.Body), one.Secret, time.Unix(one.Now, 0)))
	}
	json.NewEncoder(os.Stdout).Encode(believed)
}
`;
    await judge('main.go', harness, 'go', ['run', '-gcflags=all=-l', 'verify.go', 'main.go']);
  });
});

function isThere(program: string, argument: string): Promise<boolean> {
  return run(program, [argument]).then(
    () => true,
    () => false,
  );
}
