/**
 * Sample calls about webhook events, for the walks of the route table.
 *
 * Invariant: each is about an event of its own.
 */

import { makeId } from '../../src/domain/ids.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { bearerOf, collect, payFromWallet } from './flows.ts';
import type { Sample } from './sample.ts';
import type { World } from './world.ts';

export async function listEventsSample(world: World, merchant: MerchantCreated): Promise<Sample> {
  await makeEvent(world, merchant);
  return { path: '/internal/events?limit=5', bearer: bearerOf(merchant), answers: 200 };
}

export async function readEventSample(world: World, merchant: MerchantCreated): Promise<Sample> {
  return aboutEvent(world, merchant, '');
}

export async function replayEventSample(world: World, merchant: MerchantCreated): Promise<Sample> {
  return { ...(await aboutEvent(world, merchant, '/replay')), otherBody: { note: 'x' } };
}

export async function replayEventsSample(world: World, merchant: MerchantCreated): Promise<Sample> {
  await makeEvent(world, merchant);
  const body = { from: new Date(world.clock.now() - 1_000).toISOString(), status: 'delivered' };
  return {
    path: '/internal/events/replay',
    bearer: bearerOf(merchant),
    body,
    answers: 200,
    otherBody: { ...body, status: 'dead' },
  };
}

async function aboutEvent(world: World, merchant: MerchantCreated, rest: string): Promise<Sample> {
  const id = await makeEvent(world, merchant);
  const { clock, random } = world.gateway.deps;
  const unknown = makeId('evt', clock.now(), random.bytes(16), merchant.merchant.shard);
  const pathOf = (event: string): string => `/internal/events/${event}${rest}`;
  return { path: pathOf(id), bearer: bearerOf(merchant), answers: 200, unknown: { path: pathOf(unknown) } };
}

/** The delivered event of a payment from a wallet. */
async function makeEvent(world: World, merchant: MerchantCreated): Promise<string> {
  const paying = await collect(world, merchant);
  await payFromWallet(world, paying, await world.wallet());
  const { headers } = await world.receiver.about(paying.transaction_id);
  return String(headers['webhook-id']);
}
