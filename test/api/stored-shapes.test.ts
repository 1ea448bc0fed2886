/**
 * What another version of the gateway has stored or sealed in another shape is not taken for what this one expects.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Challenge } from '../../src/connectors/connector.ts';
import { auditDue, auditNow, readAudit } from '../../src/usecases/audit.ts';
import { callbackReceipt } from '../../src/usecases/card-callback-memory.ts';
import { challengeUrl, sealChallenge } from '../../src/usecases/card-challenge.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import type { Reply } from '../../src/usecases/perform.ts';
import { openPosition, sealPosition } from '../../src/usecases/statement-cursor.ts';
import type { StatementPosition } from '../../src/usecases/statement-read.ts';
import { challenged } from '../support/card-payments.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

test.each([
  ['with the address under another name', { url: 'https://issuer.example/acs', fields: [] }],
  ['with its fields as an object', { action: 'https://issuer.example/acs', fields: { creq: 'x' } }],
  ['with a field that is no text', { action: 'https://issuer.example/acs', fields: [{ name: 'creq', value: 1 }] }],
])('a challenge %s sends its customer to the payment, as one that is over does', async (_, other) => {
  const { deps } = world.gateway;
  const attempt = await attemptOf(world, await challenged(world, merchant));
  const show = () => fetch(challengeUrl(deps, attempt), { redirect: 'manual' });
  expect((await show()).status).toBe(200);
  const sealed = sealChallenge(deps, attempt.id, other as unknown as Challenge);
  await rowsOf(world, 'update attempt set challenge = $1 where id = $2', [sealed, attempt.id]);
  const shown = await show();
  expect([shown.status, shown.headers.get('location')]).toEqual([303, '/checkout/closed/returned']);
});

test.each([
  ['no body', { status: 200 }],
  ['a body that is no text', { status: 200, body: { status: 'approved' } }],
  ['an address that is no text', { status: 303, body: '{}', location: ['https://shop.example/'] }],
])('a remembered reply to a callback with %s is not sent', async (what, reply) => {
  const { deps } = world.gateway;
  const payment = { shard: merchant.merchant.shard, id: `txn ${what}` };
  const receipt = callbackReceipt(deps, payment, ['signed', 'x']);
  expect(await receipt.stored()).toBeUndefined();
  expect(await deps.store.commit({ ...receipt.remember(reply as unknown as Reply) })).toBe('won');
  await expect(receipt.stored()).rejects.toThrow('a remembered reply has another shape');
});

const POSITION: StatementPosition = {
  order: { currency: 'usd', balances: ['available', 'held'], from: 0, until: 1 },
  opening: [0n, 0n],
  closing: [250n, -5n],
  running: [0n, 12n],
  after: { at: 1, id: 'trf_1', side: 'credit' },
};

test.each([
  ['after a line', POSITION],
  ['before the first line', { ...POSITION, after: undefined }],
])('a position %s opens as it was sealed', (_, position) => {
  const { deps } = world.gateway;
  expect(openPosition(deps, 'mch_1', 'q', sealPosition(deps, 'mch_1', 'q', position))).toEqual(position);
});

test.each([
  ['without its order', { order: undefined }],
  ['in a currency that there is not', { order: { ...POSITION.order, currency: 'xxx' } }],
  ['with a balance that there is not', { order: { ...POSITION.order, balances: ['available', 'frozen'] } }],
  ['with its time as text', { order: { ...POSITION.order, until: '2026-11-27' } }],
  ['with fewer amounts than balances', { closing: [250n] }],
  ['with amounts in major units', { running: ['0.00', '0.12'] }],
  ['with a last line of another form', { after: { at: 1, id: 'trf_1' } }],
])('a position %s does not open: the client is told that the cursor is invalid', (_, other) => {
  const { deps } = world.gateway;
  const cursor = sealPosition(deps, 'mch_1', 'q', { ...POSITION, ...other } as StatementPosition);
  expect(openPosition(deps, 'mch_1', 'q', cursor)).toBeUndefined();
});

const RECORD = { at: 1, findings: {}, accounts: 1, transfers: 1, turn: 1 };

test.each([
  ['no JSON', '{'],
  ['no counts', JSON.stringify({ ...RECORD, findings: undefined })],
  ['a time as text', JSON.stringify({ ...RECORD, at: '2026-11-27' })],
  [
    'a mark of a book without what to look at again',
    JSON.stringify({ ...RECORD, books: { startedAt: 'x', after: 1 } }),
  ],
])(
  'an audit record with %s counts as none: the next audit is made all the same, and writes it anew',
  async (_, value) => {
    const { deps } = world.gateway;
    await rowsOf(
      world,
      `insert into setting values (0, 'audit', 1, $1) on conflict (shard, id) do update set value = excluded.value`,
      [value],
    );
    const told = () => world.log.lines.filter((line) => line.includes('audit_record_damaged')).length;
    const before = told();
    expect(await readAudit(deps)).toBeUndefined();
    expect((await auditNow(deps)).findings).toEqual([]);
    expect(await auditDue(deps)).toBe(0);
    expect(told()).toBe(before + 1);
    expect(await readAudit(deps)).toMatchObject({ at: deps.clock.wall(), findings: {} });
  },
);
