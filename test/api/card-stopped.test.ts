/**
 * A credential is revoked or a merchant suspended while a card payment waits for the network: no money is asked for.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/store/errors.ts';
import { revokeCredential } from '../../src/usecases/credential-revoke.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { type CardPaying, collectByCard, submitCard } from '../support/card-payments.ts';
import { callerOf, plainly, submitOf } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import { refusal } from '../support/fickle-network.ts';
import { statusOf } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';
import { collectBody, type World } from '../support/world.ts';

let desk: FickleDesk;
let world: World;
beforeAll(async () => {
  desk = await openFickleDesk();
  ({ world } = desk);
});
afterEach(() => desk.reset());
afterAll(() => desk.close());

const HOW = [
  ['suspended', 403, '1004'],
  ['revoked', 401, '1001'],
] as const;

async function stop(shop: MerchantCreated, how: (typeof HOW)[number][0]): Promise<void> {
  const { deps } = world.gateway;
  if (how === 'suspended') await setMerchantStatus(deps, shop.merchant.id, 'SUSPENDED');
  else await revokeCredential(deps, shop.key_id);
}

async function turnAway(paying: CardPaying): Promise<void> {
  desk.network.instead('pay', refusal('SERVER_BUSY'));
  expectRefusal(await submitCard(world, paying), 502, '1404');
  desk.network.instead('pay', undefined);
}

test.each(HOW)(
  'a token is not sent if its merchant is %s while an earlier try is inquired about',
  async (how, ...said) => {
    const { network } = desk;
    const shop = await world.merchant();
    network.issuer = 'SUCCESSFUL';
    const paying = await collectByCard(world, shop);
    await turnAway(paying);
    const before = network.count('pay');
    const slow = network.hold('inquire');
    const body = collectBody(world, 'google_pay', {
      native_pay_token: 'tok_approved',
      native_pay_token_type: 'PAYMENT_GATEWAY',
    });
    const collected = world.call('POST', '/payments/collect', { bearer: paying.token, body });
    await slow.asked;
    await stop(shop, how);
    slow.answer();
    expectRefusal(await collected, ...said);
    await world.gateway.background.idle();
    expect(network.count('pay')).toBe(before);
    const paid = await rowsOf(world, "select id from payment where merchant_id = $1 and method = 'google_pay'", [
      shop.merchant.id,
    ]);
    expect(paid).toEqual([]);
  },
);

/** A card is stopped whether its issuer lets it pay at once or wants to see its customer first. */
const STOPPED = HOW.flatMap((stop) => (['SUCCESSFUL', 'PENDING'] as const).map((issuer) => [issuer, ...stop] as const));

test.each(STOPPED)('a card (%s) does not go on if its merchant is %s while the issuer is asked', async (...stopped) => {
  const [issuer, how, ...said] = stopped;
  const { network } = desk;
  const shop = await world.merchant();
  network.issuer = issuer;
  const paying = await collectByCard(world, shop);
  const before = network.count('pay');
  const slow = network.hold('authenticate');
  const submitted = submitCard(world, paying);
  await slow.asked;
  await stop(shop, how);
  slow.answer();
  expectRefusal(await submitted, ...said);
  expect(network.count('pay')).toBe(before);
  const isTold = (line: string) => line.includes('card_not_charged') && line.includes(paying.transaction_id);
  expect(world.log.lines.some(isTold)).toBe(true);
});

test('a card that was not charged because its merchant was suspended pays once it is allowed again', async () => {
  const { network } = desk;
  const shop = await world.merchant();
  network.issuer = 'SUCCESSFUL';
  const paying = await collectByCard(world, shop);
  const slow = network.hold('authenticate');
  const submitted = submitCard(world, paying, { headers: { 'idempotency-key': 'suspended-meanwhile' } });
  await slow.asked;
  await stop(shop, 'suspended');
  slow.answer();
  expectRefusal(await submitted, 403, '1004');
  await setMerchantStatus(world.gateway.deps, shop.merchant.id, 'ALLOWED');
  expect(await statusOf(world, paying)).toBe('pending');
  const again = await submitCard(world, paying, { headers: { 'idempotency-key': 'suspended-meanwhile' } });
  expect(again.json, again.text).toMatchObject({ status: 'approved' });
});

test('if it cannot be read whether the merchant is suspended, the card is not charged, and the customer may pay at once', async () => {
  const { network, merchant } = desk;
  network.issuer = 'SUCCESSFUL';
  const paying = await collectByCard(world, merchant);
  const before = network.count('pay');
  const { deps } = world.gateway;
  const { store } = deps;
  const payer = await callerOf(world, merchant, paying);
  let isAway = false;
  const session: typeof store.session = {
    ...store.session,
    async caller(shard, id) {
      if (!isAway) return store.session.caller(shard, id);
      isAway = false;
      throw new StoreUnavailable();
    },
  };
  const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
  const command = submitOf(paying, { method: 'card', formId: paying.form, browser });
  const slow = network.hold('authenticate');
  const submitted = submitPayment({ ...deps, store: { ...store, session } }, payer, command, plainly);
  await slow.asked;
  isAway = true;
  slow.answer();
  await expect(submitted).rejects.toMatchObject({ code: 1404 });
  expect([isAway, network.count('pay')]).toEqual([false, before]);
  expect(await statusOf(world, paying)).toBe('pending');
  expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
});
