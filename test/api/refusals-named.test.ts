/** Refusals of a body name the payment that it is about, if it is the caller's own (contract §2). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memoryLog } from '../../src/platform/testing/memory-log.ts';
import { StoreUnavailable } from '../../src/store/errors.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { findTransactionOf } from '../../src/usecases/payment-read.ts';
import { callerOf } from '../support/direct-calls.ts';
import { bearerOf, collect } from '../support/flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

test.each([1, '0', '1.005', 'x', '-1'])(
  'a refund of %j is refused about its payment, to its merchant alone',
  async (amount) => {
    const { transaction_id } = await collect(world, merchant);
    const asked = { body: { transaction_id, amount } };
    const own = await world.call('POST', '/internal/refunds', { bearer: bearerOf(merchant), ...asked });
    expect(own.json).toMatchObject({ error: true, transaction_id });
    const stranger = await world.call('POST', '/internal/refunds', {
      bearer: bearerOf(await world.merchant()),
      ...asked,
    });
    expect(stranger.json).toMatchObject({ error: true, transaction_id: null });
  },
);

test('a payment that cannot be read is not named, and a fault of ours is logged', async () => {
  const paying = await collect(world, merchant);
  const caller = await callerOf(world, merchant, paying);
  const { deps } = world.gateway;
  const log = memoryLog(world.clock);
  const failing = (error: Error) => {
    const payment = { ...deps.store.payment, get: () => Promise.reject(error) };
    return findTransactionOf({ ...deps, log, store: { ...deps.store, payment } }, caller, paying.transaction_id);
  };
  expect(await findTransactionOf(deps, caller, paying.transaction_id)).toBe(paying.transaction_id);
  expect(await failing(new StoreUnavailable())).toBeUndefined();
  expect(log.lines).toEqual([]);
  expect(await failing(new TypeError('a fault of ours'))).toBeUndefined();
  expect(log.lines.join()).toMatch(/a fault of ours.*"event":"lookup_failed"/);
});
