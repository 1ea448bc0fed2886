/**
 * The auditor in a running gateway: sound books give no finding, and each kind of fault is found, reported and counted.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { AccountRef } from '../../src/domain/change.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { auditDue, readAudit } from '../../src/usecases/audit.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { challenged, readyToPay, submitCard } from '../support/card-payments.ts';
import { collect, numberEnding, payFromWallet, statusOf, untilStatus } from '../support/flows.ts';
import { sendPayout } from '../support/payout-flows.ts';
import { attemptOf, pushed } from '../support/phone-payments.ts';
import { refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

const MINUTE = 60_000;

let world: World;
let merchant: MerchantCreated;
let told: number;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
  await world.pass(MINUTE);
  told = 0;
});
afterEach(async () => {
  await world.pass(MINUTE);
  expect(await findings()).toEqual({});
});
afterAll(() => world.close());

/** The findings in the round's record. */
async function findings(): Promise<Readonly<Record<string, number>> | undefined> {
  return (await readAudit(world.gateway))?.findings;
}

/** The findings logged since the last call, without the fields that every line has. */
function toldNow(): Record<string, unknown>[] {
  const lines = world.log.lines.filter((line) => line.includes('"audit_finding"'));
  const fresh = lines.slice(told);
  told = lines.length;
  return fresh.map((line) => {
    const { level, time, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
    expect([level, typeof time, event]).toEqual(['error', 'string', 'audit_finding']);
    return fields;
  });
}

test('after payments of every kind there is no finding, and it reports how much was checked', async () => {
  const byWallet = await collect(world, merchant);
  await payFromWallet(world, byWallet, await world.wallet());
  const byPhone = await pushed(world, merchant, '01');
  await untilStatus(world, byPhone, 'approved');
  const refused = await pushed(world, merchant, '02');
  await untilStatus(world, refused, 'failed');
  const byCard = await readyToPay(world, merchant, 'frictionless');
  await submitCard(world, byCard);
  await until(async () => ((await statusOf(world, byCard)) === 'approved' ? true : undefined));
  await pushed(world, merchant, '42');
  await challenged(world, merchant);
  await world.pass(MINUTE, 3);
  const record = await readAudit(world.gateway);
  expect(record?.findings).toEqual({});
  expect(record?.transfers).toBeGreaterThanOrEqual(4);
  expect(record?.accounts).toBeGreaterThanOrEqual(4);
  expect(toldNow()).toEqual([]);
});

test('while payouts and refunds are in progress, and when they have ended, there is no finding', async () => {
  await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 500_00n);
  const [byPhone, byCard] = await Promise.all([
    pushed(world, merchant, '01', { ttl_seconds: 86_400 }),
    readyToPay(world, merchant, 'frictionless'),
  ]);
  await submitCard(world, byCard);
  await untilStatus(world, byPhone, 'approved');
  const endings = ['01', '02', '03', '04', '06', '07', '08', '42'];
  const sent = await sendPayout(world, merchant, {
    beneficiaries: endings.map((ending) => ({ phone_number: numberEnding(ending), amount: '2.00' })),
  });
  expect(sent.status, sent.text).toBeLessThan(300);
  await refunded(world, merchant, byPhone, { amount: '5.00' });
  await refunded(world, merchant, byCard, { amount: '5.00' });
  for (let minutes = 0; minutes < 8; minutes += 1) {
    await world.pass(MINUTE);
    expect([minutes, await findings()]).toEqual([minutes, {}]);
  }
  const kinds = world.sandbox.book.lines({}).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'credit').length).toBeGreaterThanOrEqual(6);
  expect(toldNow()).toEqual([]);
});

test('balances that differ from the transfers are found, even if they sum to zero', async () => {
  const { number } = await world.wallet();
  const other = await world.wallet();
  const move = (id: string, by: number) =>
    rowsOf(world, 'update account set balance = balance + $2 where id = $1', [id, by]);
  await move(number, 5);
  await world.pass(MINUTE);
  expect(await findings()).toEqual({ sum: 1, balance: 1 });
  expect(toldNow()).toEqual([
    { kind: 'sum', currency: 'usd', balance: '5' },
    { kind: 'balance', account: expect.any(String), currency: 'usd', balance: '5005', transfers: '5000' },
  ]);
  await move(other.number, -5);
  await world.pass(MINUTE);
  expect(await findings()).toEqual({ balance: 2 });
  await move(number, -5);
  await move(other.number, 5);
  toldNow();
});

test('what a long audit has found is recorded, even if another process has begun one meanwhile', async () => {
  const { number } = await world.wallet();
  const move = (by: number) => rowsOf(world, 'update account set balance = balance + $2 where id = $1', [number, by]);
  await move(5);
  const { deps } = world.gateway;
  const clock = { ...deps.clock, wall: () => deps.clock.wall() + MINUTE };
  const auditRecent = async (shard: number) => {
    const looked = await deps.store.auditRecent(shard);
    await rowsOf(world, "update setting set version = version + 1 where shard = 0 and id = 'audit'", []);
    return looked;
  };
  await auditDue({ ...deps, clock, store: { ...deps.store, auditRecent } });
  expect(await findings()).toEqual({ sum: 1, balance: 1 });
  await move(-5);
  await world.pass(MINUTE);
  toldNow();
});

test('a reserved amount that nothing accounts for is found', async () => {
  // A merchant that has nothing else reserved.
  const { id, shard } = (await world.merchant()).merchant;
  await creditBalance(world.gateway.deps, id, 'usd', 10n);
  const reserve = (amount: bigint, from: string, to: string, name: string) =>
    world.gateway.store.commit({
      claims: [
        {
          table: 'setting',
          row: { shard: 0, id: `test ${name}`, version: 1, value: '' },
        },
      ],
      transfers: [
        {
          shard,
          id: `trf_${name}`,
          debit: { shard, id: `${id}:${from}:usd`, floored: false },
          credit: { shard, id: `${id}:${to}:usd`, floored: false },
          amount_minor: amount,
          currency: 'usd',
          cause: 'release',
          cause_id: name,
          at: world.clock.now(),
        },
      ],
    });
  await reserve(7n, 'available', 'reserved', 'there');
  await world.pass(MINUTE);
  expect(await findings()).toEqual({ reserved: 1 });
  expect(toldNow()).toEqual([
    { kind: 'reserved', account: `${id}:reserved:usd`, currency: 'usd', balance: '7', open: '0' },
  ]);
  await reserve(7n, 'reserved', 'available', 'back');
});

test('a suspense account that holds what no attempt has brought is found', async () => {
  const { shard } = merchant.merchant;
  const suspense = { shard, id: 'suspense:usd', floored: false };
  const transit = { shard, id: 'transit:test:usd', floored: false };
  const move = (debit: AccountRef, credit: AccountRef, name: string) =>
    world.gateway.store.commit({
      claims: [{ table: 'setting', row: { shard: 0, id: `test ${name}`, version: 1, value: '' } }],
      transfers: [
        {
          shard,
          id: `trf_${name}`,
          debit,
          credit,
          amount_minor: 7n,
          currency: 'usd',
          cause: 'late_success',
          cause_id: name,
          at: world.clock.now(),
        },
      ],
    });
  await move(transit, suspense, 'nobody');
  await world.pass(MINUTE);
  expect(await findings()).toEqual({ suspense: 1 });
  const found = { kind: 'suspense', account: 'suspense:usd', shard: String(shard), currency: 'usd', balance: '7' };
  expect(toldNow()).toEqual([{ ...found, attempts: '0' }]);
  await move(suspense, transit, 'nobody_again');
});

test('a day closed with a wrong balance is distinguished from a wrong account', async () => {
  const { number } = await world.wallet();
  await rowsOf(
    world,
    `insert into account_day select shard, id, '2026-11-19', currency, 1 from account where id = $1`,
    [number],
  );
  await world.pass(MINUTE);
  expect(await findings()).toEqual({ closed_day: 1 });
  expect(toldNow()).toMatchObject([{ kind: 'closed_day', currency: 'usd' }]);
  await rowsOf(world, 'delete from account_day');
});

test('of several processes one audits per minute, and an operator’s decision gives no finding', async () => {
  const silent = await attemptOf(world, await pushed(world, merchant, '04'));
  await decideAttempt(world.gateway.deps, silent.id, {
    paid: true,
    providerReference: 'REF-1',
    by: 'amina',
    why: 'their statement',
  });
  await world.pass(MINUTE);
  expect(await findings()).toEqual({});
  const { number } = await world.wallet();
  const move = (by: number) => rowsOf(world, 'update account set balance = balance + $2 where id = $1', [number, by]);
  await move(1);
  const before = await readAudit(world.gateway);
  expect(await auditDue(world.gateway.deps)).toBe(0);
  expect(await readAudit(world.gateway)).toEqual(before);
  await world.clock.advance(MINUTE - 1);
  await Promise.all(Array.from({ length: 5 }, () => auditDue(world.gateway.deps)));
  expect(toldNow().map(({ kind }) => kind)).toEqual(['sum', 'balance']);
  await move(-1);
});

test('a movement that nobody asked for is found, and reported until it is explained', async () => {
  const paying = await pushed(world, merchant, '01');
  await untilStatus(world, paying, 'approved');
  await world.pass(MINUTE);
  const attempt = await attemptOf(world, paying);
  const entry = {
    carrier: 'mtn',
    kind: 'debit' as const,
    msisdn: '243810000001',
    currency: 'usd',
    at: world.clock.now(),
  };
  world.sandbox.book.record({ ...entry, reference: 'forged', amount: '3.00', external_id: 'att_nobody' });
  for (let minutes = 0; minutes < 3; minutes += 1) {
    await world.pass(MINUTE);
    expect(await findings()).toEqual({ book_unknown: 1 });
  }
  expect(toldNow()).toEqual(Array(3).fill({ kind: 'book_unknown', attempt_id: 'att_nobody' }));

  // The same again: now it was moved twice, and another amount as well.
  const [line] = world.sandbox.book.lines({ reference: attempt.reference });
  const again = { ...entry, reference: attempt.reference, amount: line?.amount ?? '', external_id: attempt.id };
  world.sandbox.book.record(again);
  await world.pass(MINUTE);
  expect(await findings()).toEqual({ book_unknown: 1, book_times: 1 });
  await forget();
});

test('what is approved here but in no book is found, and so is what is paid there but refused here', async () => {
  const silent = await attemptOf(world, await pushed(world, merchant, '04'));
  const refused = await pushed(world, merchant, '02');
  await untilStatus(world, refused, 'failed');
  const declined = await attemptOf(world, refused);
  const other = await attemptOf(world, await pushed(world, merchant, '04'));
  const entry = { carrier: 'mtn', kind: 'debit' as const, msisdn: '243810000001', currency: 'usd' };
  const debit = (external_id: string, amount: string): void =>
    world.sandbox.book.record({ ...entry, at: world.clock.now(), reference: external_id, external_id, amount });
  debit(declined.id, '12.50');
  debit(other.id, '12.49');
  await world.pass(MINUTE);
  // It is inquired about for another day: until then it may still turn out to be paid.
  expect(await findings()).toEqual({ book_amount: 1 });
  await rowsOf(world, 'update attempt set next_inquiry_at = null where id = $1', [declined.id]);
  await rowsOf(world, `update attempt set status = 'approved', settled_at = $2, next_inquiry_at = null where id = $1`, [
    silent.id,
    new Date(world.clock.now()),
  ]);
  await world.pass(MINUTE);
  expect(await findings()).toEqual({ book_amount: 1, book_unpaid: 1, book_missing: 1 });
  const lines = world.log.lines.filter((line) => line.includes('"audit_finding"')).join('\n');
  expect(lines).not.toMatch(/24381\d{4}/);
  await forget();
});

/** Removes what a test has tampered with from the books. */
async function forget(): Promise<void> {
  await rowsOf(
    world,
    `update setting set version = version + 1,
    value = (value::jsonb #- '{books}')::text where id = 'audit'`,
  );
  toldNow();
}

test('while requests are shed, the audit is made every three minutes', async () => {
  const { deps } = world.gateway;
  // Later than any audit that the world makes by itself.
  const clock = manualClock(deps.clock.wall() + 1_000 * MINUTE);
  const madeAt = async () => (await readAudit(world.gateway))?.at;
  await auditDue({ ...deps, clock });
  const first = await madeAt();
  await clock.advance(2 * MINUTE);
  await auditDue({ ...deps, clock }, { isCalm: false });
  expect(await madeAt()).toBe(first);
  await clock.advance(MINUTE);
  await auditDue({ ...deps, clock }, { isCalm: false });
  expect(await madeAt()).toBe(clock.wall());
});
