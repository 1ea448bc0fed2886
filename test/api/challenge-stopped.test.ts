/**
 * A customer who is at the issuer while the session's credential is revoked or its merchant suspended: no money is asked for.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeCredential } from '../../src/usecases/credential-revoke.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { answerChallenge, callbackFor, capturesOf, challenged, postCallback } from '../support/card-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

const paymentStatus = async (id: string): Promise<string | undefined> =>
  (await rowsOf<{ status: string }>(world, 'select status from payment where id = $1', [id]))[0]?.status;

test.each(['suspended', 'revoked'] as const)('back from the issuer, pays nothing if it is %s', async (how) => {
  const { deps } = world.gateway;
  const shop = await world.merchant();
  const paying = await challenged(world, shop);
  if (how === 'suspended') await setMerchantStatus(deps, shop.merchant.id, 'SUSPENDED');
  else await revokeCredential(deps, shop.key_id);
  await answerChallenge(world, paying, 'pass');
  await postCallback(world, callbackFor(world, paying));
  expect(capturesOf(world, paying)).toEqual([]);
  expect(
    world.log.lines.some((line) => line.includes('challenge_not_charged') && line.includes(paying.transaction_id)),
  ).toBe(true);
  await untilLater(
    world,
    async () => ((await paymentStatus(paying.transaction_id)) === 'processing' ? undefined : true),
    30_000,
  );
  expect(await paymentStatus(paying.transaction_id)).toBe('expired');
  expect(capturesOf(world, paying)).toEqual([]);
});

test('pays once a suspended merchant is allowed again while the challenge lasts', async () => {
  const { deps } = world.gateway;
  const shop = await world.merchant();
  const paying = await challenged(world, shop);
  await setMerchantStatus(deps, shop.merchant.id, 'SUSPENDED');
  await answerChallenge(world, paying, 'pass');
  await postCallback(world, callbackFor(world, paying));
  await setMerchantStatus(deps, shop.merchant.id, 'ALLOWED');
  await untilLater(world, async () => ((await paymentStatus(paying.transaction_id)) === 'approved' ? true : undefined));
  expect(capturesOf(world, paying)).toHaveLength(1);
});

test('pays at once when the browser comes back by the same callback, after its merchant has been allowed again', async () => {
  const { deps } = world.gateway;
  const shop = await world.merchant();
  const paying = await challenged(world, shop);
  const fields = await answerChallenge(world, paying, 'pass');
  await setMerchantStatus(deps, shop.merchant.id, 'SUSPENDED');
  expect((await postCallback(world, fields)).json).toMatchObject({ status: 'processing' });
  await setMerchantStatus(deps, shop.merchant.id, 'ALLOWED');
  expect((await postCallback(world, fields)).json).toMatchObject({ status: 'approved' });
});
