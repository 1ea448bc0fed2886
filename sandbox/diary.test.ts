// What the networks remember after a restart: everything that they had taken, and how it ended.
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SandboxOptions } from './app.ts';
import { openDiary } from './diary.ts';
import { cardClient, transactionPath } from './testing/cardnet-client.ts';
import { disbursementClient, momoClient, type RunningSandbox, startSandbox } from './testing/start-sandbox.ts';

let folder: string;
let running: RunningSandbox;
let diary: ReturnType<typeof openDiary>;

const begin = async (options: Partial<SandboxOptions> = {}): Promise<void> => {
  diary = openDiary(folder);
  running = await startSandbox({ diary, ...options });
};
const end = async (): Promise<void> => {
  await running.close();
  diary.close();
};
const again = async (): Promise<void> => {
  await end();
  await begin();
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mbongo-diary-'));
  await begin();
});
afterEach(async () => {
  await end();
  rmSync(folder, { recursive: true, force: true });
});

const books = async () => (await running.call('GET', '/control/books')).json;
const numberOf = (status: unknown): number => Number(JSON.parse(JSON.stringify(status)).financialTransactionId);

test('after a restart, open requests can be approved on the phone, and finished ones keep their result', async () => {
  const before = await momoClient(running);
  const [paid, waiting] = [await before.pay('243810000001'), await before.pay('243810000042')];
  running.world.advance(1_000);
  const ended = (await before.status(paid.reference)).json;
  expect(ended).toMatchObject({ status: 'SUCCESSFUL' });
  await again();

  const momo = await momoClient(running);
  expect((await momo.status(paid.reference)).json).toEqual(ended);
  expect((await momo.status(waiting.reference)).json).toMatchObject({ status: 'PENDING' });
  for (const { reference } of [paid, waiting]) {
    expect((await momo.pay('243810000042', { reference })).status).toBe(409);
  }
  const approval = { answer: 'approve', pin: '0000' };
  await running.call('POST', `/phone/243810000042/prompts/${waiting.reference}`, approval);
  const approved = (await momo.status(waiting.reference)).json;
  expect(approved).toMatchObject({ status: 'SUCCESSFUL' });
  expect(numberOf(approved)).toBeGreaterThan(numberOf(ended));
  expect(await books()).toMatchObject([{ times: 1 }, { times: 1 }]);
  await again();
  expect((await (await momoClient(running)).status(waiting.reference)).json).toEqual(approved);
  expect(await books()).toMatchObject([{ times: 1 }, { times: 1 }]);
});

test('after a restart, a client that compares with the book carries on where it was', async () => {
  await (await momoClient(running)).pay('243810000001');
  running.world.advance(1_000);
  const page = async () => (await running.call('GET', '/control/books/page?after=0&limit=10')).json;
  const before = await page();
  expect(before).toMatchObject({ size: 1 });
  await end();
  await begin({ now: () => Date.UTC(2027, 0, 1) });
  expect(await page()).toEqual(before);
});

test('after a restart, a payout that was in flight is paid, once', async () => {
  const { reference } = await (await disbursementClient(running)).pay('243810000001');
  await again();
  running.world.advance(1_000);
  await again();
  const { status } = await disbursementClient(running);
  expect((await status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  expect(await books()).toMatchObject([{ kind: 'credit', times: 1 }]);
});

test('if the process ends between moving money and reporting it, nothing is moved twice', async () => {
  const { reference } = await (await momoClient(running)).pay('243810000001');
  running.world.advance(1_000);
  await end();
  const path = join(folder, 'networks.jsonl');
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines.at(-1)).toContain('decided');
  rmSync(path);
  // The last line was cut off.
  appendFileSync(path, `${lines.slice(0, -1).join('\n')}\n${lines.at(-1)?.slice(0, 40)}`);
  await begin();
  running.world.advance(600_000);
  expect((await (await momoClient(running)).status(reference)).json).toMatchObject({ status: 'SUCCESSFUL' });
  expect(await books()).toMatchObject([{ times: 1 }]);
  // It keeps the number that it was given.
  const status = async () => (await (await momoClient(running)).status(reference)).json;
  const told = await status();
  await (await momoClient(running)).pay('243810000101');
  running.world.advance(1_000);
  await again();
  expect(await status()).toEqual(told);
});

test('a card’s debit does not count if the process ended before its order was recorded', async () => {
  const { opened } = await cardClient(running).payWith({ number: '5123450000000008' });
  await end();
  const path = join(folder, 'networks.jsonl');
  const lines = readFileSync(path, 'utf8').split('\n');
  const at = lines.findIndex((line) => line.startsWith('["book"'));
  writeFileSync(path, `${lines.slice(0, at + 1).join('\n')}\n`);
  for (const _ of [1, 2]) {
    await begin();
    expect((await cardClient(running).ask('GET', transactionPath(opened.order, 'pay-1'))).json.result).toBe('ERROR');
    expect(await cardClient(running).book(opened.order)).toEqual([]);
    await end();
  }
  await begin();
  const cards = cardClient(running);
  const anew = await cards.open({ id: opened.order });
  await cards.fill(anew.session, { number: '5123450000000008' });
  await cards.initiate(anew);
  await cards.authenticate(anew);
  expect((await cards.pay(anew)).json.result).toBe('SUCCESS');
  await again();
  expect(await cardClient(running).book(opened.order)).toMatchObject([{ times: 1 }]);
});

test('after a restart, a card payment is known and can be refunded once, and the file contains no card', async () => {
  const card = { number: '5123450000000008' };
  const { opened, paid } = await cardClient(running).payWith(card);
  expect(paid.json.result).toBe('SUCCESS');
  await again();
  const cards = cardClient(running);
  const found = await cards.ask('GET', transactionPath(opened.order, 'pay-1'));
  expect(found.json).toMatchObject({ result: 'SUCCESS', order: { status: 'CAPTURED' } });
  expect((await cards.refund(opened, '2.50', 'refund-1')).json.result).toBe('SUCCESS');
  await again();
  expect((await cardClient(running).refund(opened, '2.50', 'refund-1')).json.result).toBe('SUCCESS');
  expect(await cardClient(running).book(opened.order)).toMatchObject([{ times: 1 }, { amount: '2.50', times: 1 }]);
  expect(readFileSync(join(folder, 'networks.jsonl'), 'utf8')).not.toContain(card.number);
});
