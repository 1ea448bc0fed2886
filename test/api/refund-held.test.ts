/**
 * Refunds of payments with delayed delivery: what is still held is refunded first, and can no longer be released.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { releaseForOperator } from '../../src/usecases/delivery-release.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { callOffRefund } from '../../src/usecases/refund-decide.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, statusOf } from '../support/flows.ts';
import {
  balancesOf,
  expectSound,
  paidByPhone,
  paidByWallet,
  readBack,
  refund,
  refunded,
  untilTurnedAway,
} from '../support/refund-flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  await expectSound(world);
  await world.close();
});

const LATER = { delivery_behaviour: 'delayed_delivery' };
const SAY = { by: 'amina', why: null };

const release = (merchant: MerchantCreated, transactionId: string) =>
  world.call('POST', `/internal/deliveries/${transactionId}/release`, { bearer: bearerOf(merchant) });

test('before the release: held money is refunded, and only the rest is released', async () => {
  const merchant = await world.merchant();
  const paid = await paidByWallet(world, merchant, LATER);
  await refunded(world, merchant, paid, { amount: '4.00' });
  expect(await balancesOf(world, merchant)).toEqual({ held: 8_50n });
  const first = await release(merchant, paid.transaction_id);
  expect(first.json, first.text).toMatchObject({ amount: '8.50', status: 'approved' });
  expect(await balancesOf(world, merchant)).toEqual({ available: 8_50n });
  await refunded(world, merchant, paid, { amount: '1.00' });
  expect((await release(merchant, paid.transaction_id)).text).toBe(first.text);
  expect((await releaseForOperator(world.gateway.deps, paid.transaction_id)).amountMinor).toBe(8_50n);
  expect(await balancesOf(world, merchant)).toEqual({ available: 7_50n });
});

test('in full: nothing is left to release', async () => {
  const merchant = await world.merchant();
  const paid = await paidByWallet(world, merchant, LATER);
  await refunded(world, merchant, paid);
  expect(await balancesOf(world, merchant)).toEqual({});
  expectRefusal(await release(merchant, paid.transaction_id), 409, '1205', 'STATE');
});

test('in full after the release: a repeated release still says what was released, and when', async () => {
  const merchant = await world.merchant();
  const paid = await paidByWallet(world, merchant, LATER);
  const { json: first } = await release(merchant, paid.transaction_id);
  await refunded(world, merchant, paid);
  await world.pass(60_000);
  const again = await release(merchant, paid.transaction_id);
  expect(again.json, again.text).toEqual({ ...first, status: 'refunded' });
  expect(await balancesOf(world, merchant)).toEqual({});
});

test('if the merchant covers the fee, the available balance pays what the held share does not', async () => {
  const merchant = await world.merchant();
  const base = { merchantId: merchant.merchant.id, method: undefined, currency: 'usd' as const };
  await setFee(world.gateway.deps, { ...base, rate: '20', fixed: 0n, min: undefined, max: undefined });
  const body = { ...LATER, fee_covered_by: 'merchant' };
  const paid = await paidByWallet(world, merchant, body);
  expect(await balancesOf(world, merchant)).toEqual({ held: 10_00n });
  expectRefusal(await refund(world, merchant, { transaction_id: paid.transaction_id }), 402, '1201', 'BALANCE_SHORT');
  await paidByWallet(world, merchant, { fee_covered_by: 'merchant' });
  await refunded(world, merchant, paid);
  expect(await balancesOf(world, merchant)).toEqual({ available: 7_50n });
  expect(await statusOf(world, paid)).toBe('refunded');
});

test('a refund that fails before the release puts its money back where it was held', async () => {
  const merchant = await world.merchant();
  const paid = await paidByPhone(world, merchant, '01', LATER);
  world.sandbox.faults.set('mtn', { refuse_rate: 1 });
  const { refund_id } = await refunded(world, merchant, paid, { amount: '5.00' });
  await untilTurnedAway(world, refund_id);
  expect(await balancesOf(world, merchant)).toEqual({ held: 7_50n, reserved: 5_00n });
  await callOffRefund(world.gateway.deps, refund_id, SAY, { notTaken: true });
  expect(await balancesOf(world, merchant)).toEqual({ held: 12_50n });
  expect((await release(merchant, paid.transaction_id)).json.amount).toBe('12.50');
  expect(await balancesOf(world, merchant)).toEqual({ available: 12_50n });
});

test('a refund that fails after the release makes its money available', async () => {
  const merchant = await world.merchant();
  const paid = await paidByPhone(world, merchant, '01', LATER);
  world.sandbox.faults.set('mtn', { refuse_rate: 1 });
  const { refund_id } = await refunded(world, merchant, paid);
  const released = await release(merchant, paid.transaction_id);
  expect(released.json.amount).toBe('0.00');
  expect(await balancesOf(world, merchant)).toEqual({ reserved: 12_50n });
  await untilTurnedAway(world, refund_id);
  await callOffRefund(world.gateway.deps, refund_id, SAY, { notTaken: true });
  expect(await balancesOf(world, merchant)).toEqual({ available: 12_50n });
  expect((await release(merchant, paid.transaction_id)).text).toBe(released.text);
  expect((await readBack(world, merchant, refund_id)).status).toBe('failed');
});

test('a release and refunds that race never release what is refunded', async () => {
  const merchant = await world.merchant();
  const paid = await paidByWallet(world, merchant, LATER);
  const body = { transaction_id: paid.transaction_id, amount: '1.00' };
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => refund(world, merchant, body)),
    release(merchant, paid.transaction_id),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(201), 200]);
  expect(await balancesOf(world, merchant)).toEqual({ available: 2_50n });
});
