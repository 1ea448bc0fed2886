/**
 * A card submit whose process died before it reached the network: it keeps no other payment of its session from being paid.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { intendAttempt } from '../../src/usecases/attempt-intend.ts';
import { cardIntention } from '../../src/usecases/card-pay.ts';
import { collectCardWith, fillForm, readyToPay, submitCard } from '../support/card-payments.ts';
import { callerOf } from '../support/direct-calls.ts';
import { statusOf } from '../support/flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(() => world.close());

test('a submit that died before it reached the network does not keep the session from being paid by another payment', async () => {
  const { deps } = world.gateway;
  const merchant = await world.merchant();
  const first = await readyToPay(world, merchant, 'frictionless', { minted: { ttl_seconds: 7_200 } });
  const caller = await callerOf(world, merchant, first);
  const payment = await deps.store.payment.get(caller.session.shard, first.transaction_id);
  const card = deps.connectors.card;
  if (payment === undefined || card === undefined) throw new Error('gone');
  // The process dies here: the attempt is committed, the network was never called.
  const intention = cardIntention(card, 'card');
  await intendAttempt(deps, { caller, payment, intention, answering: { receipt: undefined } });
  for (let n = 0; n < 10 && (await statusOf(world, first)) !== 'pending'; n += 1) await world.pass(60_000);
  expect(await statusOf(world, first)).toBe('pending');
  const second = { ...first, ...(await collectCardWith(world, first.token)) };
  await fillForm(world, second.form, 'frictionless');
  let submitted = await submitCard(world, second);
  for (let n = 0; n < 5 && submitted.status !== 200; n += 1) {
    await world.pass(60_000);
    submitted = await submitCard(world, second);
  }
  expect(submitted.status, submitted.text).toBe(200);
});
