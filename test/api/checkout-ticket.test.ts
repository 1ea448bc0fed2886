/**
 * A ticket is used up by the opening that showed the page, and by no other.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openByTicket, openForGood } from '../../src/usecases/checkout-open.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { host, titleOf, visitor } from '../support/checkout-flows.ts';
import { losingAnswer } from '../support/lost-answer.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterAll(() => world.close());

test('a ticket still opens the page after an opening that showed none, because the merchant was suspended just then', async () => {
  const { deps } = world.gateway;
  const { url } = await host(world, merchant);
  const customer = visitor(world);
  await setMerchantStatus(deps, merchant.merchant.id, 'SUSPENDED');
  expect((await customer.open(url)).status).toBe(403);
  await setMerchantStatus(deps, merchant.merchant.id, 'ALLOWED');
  const shown = await customer.open(url);
  expect(shown.status, titleOf(shown)).toBe(200);
  expect((await visitor(world).open(url)).status).toBe(410);
});

test('a ticket opens the page whose key was committed although the answer to that was lost, with that key alone', async () => {
  const { deps } = world.gateway;
  const { url } = await host(world, merchant);
  const ticket = new URL(url).searchParams.get('ticket') ?? '';
  const opened = await openForGood(losingAnswer(deps), ticket);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  expect((await openByTicket(deps, ticket, () => opened.key)).kind).toBe('open');
  expect((await openByTicket(deps, ticket, () => undefined)).kind).toBe('used');
});
