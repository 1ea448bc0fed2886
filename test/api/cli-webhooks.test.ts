/**
 * `mbongo webhook list`, `show` and `replay`: what became of each event and why; one is sent again at once, those of a span only
 * with --yes.
 */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeId, shardOf } from '../../src/domain/ids.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';

let database: TestDatabase;
let cli: CommandLine;

beforeEach(async () => {
  database = await createTestDatabase();
  cli = await openCommandLine(database.url, TEST_MASTER_KEY);
});

afterEach(async () => {
  await database.drop();
  await cli.close();
});

async function query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<Row>(text, values);
  await client.end();
  return rows;
}

async function makeMerchant(name: string): Promise<string> {
  const { out } = await cli.run(['merchant', 'create', '--name', name, '--no-float', '--json']);
  return String((JSON.parse(out) as { merchant_id: string }).merchant_id);
}

/** Writes an event of a day of February 2026; `number` tells it from others. */
async function makeEvent(merchantId: string, number: number, status = 'dead', day = 1): Promise<string> {
  const shard = shardOf(merchantId);
  const at = Date.UTC(2026, 1, day);
  const id = makeId('evt', at, new Uint8Array(16).fill(number), shard);
  await query(
    `insert into webhook_event (shard, id, version, merchant_id, transaction_id, sequence, type, url, body, status,
       attempts, next_at, created_at, delivered_at, last_error)
     values ($1, $2, 3, $3, 'txn_x', 1, 'payment.approved', $5, '{}', $4, 9, $6::timestamptz, $6,
       case when $4 = 'delivered' then $6::timestamptz end, 'http_500')`,
    [shard, id, merchantId, status, status === 'no_target' ? null : 'https://shop.example/hook', new Date(at)],
  );
  return id;
}

/** How many times the events have been changed. */
async function versions(): Promise<number[]> {
  const rows = await query<{ version: number }>('select version from webhook_event order by version');
  return rows.map(({ version }) => version);
}

const replay = (words: string) => cli.run(`webhook replay ${words}`);

describe('webhook replay', () => {
  it('does not say that events are sent while no worker runs', async () => {
    const merchant = await makeMerchant('Boutique');
    const said = async (words: string): Promise<string> => (await replay(words)).out;
    expect(await said('--from 2026-01-01')).toBe('There is nothing to send again.\n');
    const id = await makeEvent(merchant, 1);
    const all = '--from 2026-01-01 --yes';
    expect(await said(all)).toBe('1 event is due again: it is sent as soon as a worker runs.\n');
    await makeEvent(merchant, 2);
    expect(await said(all)).toBe('2 events are due again: they are sent as soon as a worker runs.\n');
    expect(await said(`--event ${id}`)).toBe(`${id} is due again: it is sent as soon as a worker runs.\n`);
  });

  it('of a span needs --yes: without it, it says what it would send, and of whom, and changes nothing', async () => {
    const [one, other] = [await makeMerchant('Boutique Kivu'), await makeMerchant('Chez Amani')];
    await makeEvent(one, 1);
    await makeEvent(other, 2);
    await makeEvent(other, 3, 'delivered');
    await makeEvent(other, 4, 'no_target');
    const span = '--from 2026-01-01 --to 2026-03-01';
    const made = 'made from 2026-01-01T00:00:00.000Z until 2026-03-01T00:00:00.000Z';
    const asked = await replay(span);
    expect(asked).toEqual({
      status: 1,
      out: '',
      err:
        `mbongo: this sends 3 webhooks again, ${made}, 1 of them delivered before: ` +
        `2 of ${other} (Chez Amani), 1 of ${one} (Boutique Kivu): add --yes to do it\n`,
    });
    const dead = await replay(`${span} --status dead --merchant ${other}`);
    expect([dead.status, dead.err]).toEqual([
      1,
      `mbongo: this sends 1 webhook again, ${made}, none of them delivered before: 1 of ${other} (Chez Amani): add --yes to do it\n`,
    ]);
    expect(await versions()).toEqual([3, 3, 3, 3]);
    expect(await cli.json(`webhook replay ${span} --status dead --merchant ${other} --yes`)).toEqual({ replayed: 1 });
    expect(await versions()).toEqual([3, 3, 3, 4]);
    expect(await cli.json(`webhook replay ${span} --yes`)).toEqual({ replayed: 3 });
    expect(await versions()).toEqual([3, 4, 4, 5]);
  });

  it('of a span names the merchants with the most events, and how many others there are', async () => {
    for (let number = 1; number <= 7; number += 1) {
      const merchant = await makeMerchant(`Shop ${number}`);
      for (let event = 0; event < number; event += 1) await makeEvent(merchant, number * 10 + event);
    }
    const { status, err } = await replay('--from 2026-01-01');
    expect(status).toBe(1);
    expect(err).toMatch(
      /sends 28 webhooks .*: 7 of mch_\w+ \(Shop 7\), .* 3 of mch_\w+ \(Shop 3\), the rest of 2 other merchants: add --yes/,
    );
  });
});

describe('webhook list and show', () => {
  it('show each status with its reason, and when it is tried next', async () => {
    const merchant = await makeMerchant('Boutique');
    const reasons = new Map([
      ['waiting', '2026-02-01T00:00:00.000Z  http_500'],
      ['delivered', ''],
      ['dead', 'http_500'],
      ['gone', 'http_410'],
      ['no_target', 'it has no notify_url'],
    ]);
    for (const [number, status] of [...reasons.keys()].entries()) await makeEvent(merchant, number + 1, status);
    await query("update webhook_event set last_error = 'http_410' where status = 'gone'");
    await query("update webhook_event set last_error = null where status in ('delivered', 'no_target')");
    for (const [status, reason] of reasons) {
      const { out } = await cli.run(`webhook list --status ${status}`);
      const [, row = '', ...more] = out.trimEnd().split('\n');
      expect(more).toEqual([]);
      expect(row).toMatch(new RegExp(` ${status} +9 *${reason}$`));
    }
  });

  it('list the events of a span: from its start, and before its end', async () => {
    const merchant = await makeMerchant('Boutique');
    const ids: string[] = [];
    for (const day of [1, 2, 3]) ids.push(await makeEvent(merchant, day, 'delivered', day));
    const listed = async (span: string) =>
      ((await cli.json(`webhook list --merchant ${merchant} ${span}`)).events as { event_id: string }[]).map(
        ({ event_id }) => event_id,
      );
    expect(await listed('--to 2026-02-02')).toEqual(ids.slice(0, 1));
    expect(await listed('--from 2026-02-02 --to 2026-02-03')).toEqual(ids.slice(1, 2));
    expect(await listed('--from 2026-02-01 --to 2026-02-03T00:00:00.001Z')).toEqual(ids);
    expect(await cli.run('webhook list --from 2026-02-02 --to 2026-02-02')).toEqual({
      status: 2,
      out: '',
      err: 'mbongo: --from must be before --to\n',
    });
    expect(await cli.run('webhook list --to yesterday')).toMatchObject({ status: 2, out: '' });
  });

  it('show every try of one event, and not its body', async () => {
    const merchant = await makeMerchant('Boutique');
    const id = await makeEvent(merchant, 1, 'waiting');
    await query(`update webhook_event set body = '{"phone_number":"+243810000042"}'`);
    for (const [number, code, error] of [
      [1, 500, 'http_500'],
      [2, null, 'timeout'],
    ]) {
      await query(
        `insert into webhook_attempt (shard, id, event_id, number, at, status_code, duration_ms, error)
         values ($1, $2, $3, $4, '2026-02-01', $5, 12, $6)`,
        [shardOf(id), `whd_${number}`, id, number, code, error],
      );
    }
    expect(await cli.json(`webhook show ${id}`)).toMatchObject({
      event_id: id,
      status: 'waiting',
      next_at: '2026-02-01T00:00:00.000Z',
      tries: [
        { try_id: 'whd_1', number: 1, at: '2026-02-01T00:00:00.000Z', status_code: 500, duration_ms: 12 },
        { try_id: 'whd_2', number: 2, status_code: null, error: 'timeout' },
      ],
    });
    const { out } = await cli.run(`webhook show ${id}`);
    expect(out).toMatch(
      /\nstatus +waiting\n[\s\S]*\ntry +at +answer +ms +error\n1 +2026-\S+ +500 +12 +http_500\n2 +\S+ +12 +timeout\n$/,
    );
    expect(out).not.toContain('+2438');
    const unknown = await cli.run(`webhook show ${id.replace(/^evt_.{20}/, 'evt_00000000000000000000')}`);
    expect([unknown.status, unknown.err]).toEqual([1, expect.stringContaining('see `mbongo webhook list`')]);
    expect((await cli.run('webhook show evt_1')).status).toBe(2);
  });
});
