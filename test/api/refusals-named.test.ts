/** Refusals of a body name the payment that it is about, if it is the caller's own (contract §2). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
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
