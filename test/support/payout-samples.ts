/**
 * Sample calls about payouts, for the walks of the route table.
 *
 * Invariant: each is about a batch of its own, and pays wallets: they settle at once and need no carrier.
 */

import { makeId } from '../../src/domain/ids.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { bearerOf, type Fields } from './flows.ts';
import { createPayout, payoutBody, settled } from './payout-flows.ts';
import type { Sample } from './sample.ts';
import { mint, type World } from './world.ts';

/** No account has this number: a payout to it fails. */
const NOBODY = '5707000000000000';

async function bodyOf(world: World, { merchant }: MerchantCreated): Promise<Fields> {
  await creditBalance(world.gateway.deps, merchant.id, 'usd', 100_00n);
  return payoutBody(world, { receipt_mode: 'wallet', beneficiaries: [{ wallet_number: NOBODY, amount: '1.00' }] });
}

/** A batch whose only line has failed. */
async function failedBatch(world: World, merchant: MerchantCreated): Promise<string> {
  const { json } = await createPayout(world, merchant, await bodyOf(world, merchant));
  await settled(world, merchant, json.batch_id);
  return json.batch_id;
}

function unknownBatch(world: World, { merchant }: MerchantCreated): string {
  const { clock, random } = world.gateway.deps;
  return makeId('batch', clock.now(), random.bytes(16), merchant.shard);
}

export async function sendSample(
  world: World,
  merchant: MerchantCreated,
  consume: (world: World, token: string) => Promise<void>,
): Promise<Sample> {
  const body = await bodyOf(world, merchant);
  const { token } = await mint(world, merchant, { ttl_seconds: 86_400 });
  return {
    path: '/payments/send',
    bearer: token,
    body,
    answers: 200,
    otherBody: { ...body, note: 'x' },
    consume: () => consume(world, token),
  };
}

export async function createSample(world: World, merchant: MerchantCreated): Promise<Sample> {
  const body = await bodyOf(world, merchant);
  return {
    path: '/internal/payouts',
    bearer: bearerOf(merchant),
    body,
    answers: 200,
    otherBody: { ...body, note: 'x' },
  };
}

export async function retrySample(world: World, merchant: MerchantCreated): Promise<Sample> {
  const pathOf = (batch: string): string => `/internal/payouts/${batch}/retry`;
  return {
    path: pathOf(await failedBatch(world, merchant)),
    bearer: bearerOf(merchant),
    body: {},
    answers: 200,
    otherBody: { transaction_ids: ['txn_x'] },
    unknown: { path: pathOf(unknownBatch(world, merchant)), body: {} },
  };
}

export async function listSample(world: World, merchant: MerchantCreated): Promise<Sample> {
  await failedBatch(world, merchant);
  return { path: '/internal/payouts?status=failed&limit=5', bearer: bearerOf(merchant), answers: 200 };
}

export async function readSample(world: World, merchant: MerchantCreated): Promise<Sample> {
  const pathOf = (batch: string): string => `/internal/payouts/${batch}`;
  return {
    path: pathOf(await failedBatch(world, merchant)),
    bearer: bearerOf(merchant),
    answers: 200,
    unknown: { path: pathOf(unknownBatch(world, merchant)) },
  };
}
