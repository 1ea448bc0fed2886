/** A refund is sent while the permission for it is fresh: nothing is read between its attempt and the call. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdConnector } from '../../src/usecases/connector-hold.ts';
import { startRefund } from '../../src/usecases/refund-start.ts';
import { creditsOf, paidByPhone, refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

test('its merchant has been read before the attempt is written', async () => {
  const merchant = await world.merchant();
  const paid = await paidByPhone(world, merchant, '01');
  const { deps } = world.gateway;
  // So that the gateway leaves the refund to this test, which does not look at the hold.
  await holdConnector(deps, 'mtn-momo-disbursement', { by: 'amina', why: null });
  await world.pass(1_000, 3);
  const { refund_id } = await refunded(world, merchant, paid);
  const refund = await deps.store.refund.get(merchant.merchant.shard, refund_id);
  if (refund === undefined) throw new Error('no refund');
  const attempts = () => rowsOf(world, 'select id from attempt where payment_id = $1', [refund_id]);
  let writtenBefore: unknown[] | undefined;
  const at: typeof deps.store.merchant.at = async (...key) => {
    writtenBefore = await attempts();
    return deps.store.merchant.at(...key);
  };
  const store = { ...deps.store, merchant: { ...deps.store.merchant, at } };
  const holds = { ...deps.holds, isHeld: () => Promise.resolve(false) };
  const sent = await startRefund({ ...deps, store, holds }, refund);
  await sent.written;
  expect(writtenBefore).toEqual([]);
  expect(await attempts()).toHaveLength(1);
  await world.pass(1_000, 3);
  expect(creditsOf(world, paid.msisdn)).toHaveLength(1);
});
