/**
 * Money comes for an order, too late to count, while a submit waits for something else: the order is not paid a second time
 * (decision 30).
 */

import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Attempt } from '../../src/domain/records.ts';
import { CommitUnknown, StoreUnavailable } from '../../src/store/errors.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { collectByCard, collectCardWith, openFormOf, submitCard } from '../support/card-payments.ts';
import { callerOf, meansOf, oncePinIsJudged, plainly, submitOf } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type FickleNetwork, openFickleNetwork, refusal } from '../support/fickle-network.ts';
import {
  collect,
  collectWith,
  numberEnding,
  type Paying,
  payByPhone,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { givenBack } from '../support/late-verdict.ts';
import { attemptOf, callBack } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { openWaveringCarrier, TURNED_AWAY, type WaveringCarrier } from '../support/wavering-carrier.ts';
import { collectBody, openWorld, type World } from '../support/world.ts';

let carrier: WaveringCarrier;
let network: FickleNetwork;
let world: World;
let merchant: MerchantCreated;
beforeAll(async () => {
  [carrier, network] = await Promise.all([openWaveringCarrier(), openFickleNetwork()]);
  world = await openWorld({
    env: { MTN_MOMO_BASE_URL: carrier.url, CARDNET_BASE_URL: network.url, RATE_LIMIT_SCALE: '0' },
  });
  merchant = await world.merchant();
});
beforeEach(() => Object.assign(network, { issuer: 'SUCCESSFUL', pays: 'APPROVED' }));
afterAll(async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await world.close();
  await Promise.all([carrier.close(), network.close()]);
});

/** An order that its carrier has turned away. */
interface TurnedAway {
  readonly reference: string;
  /** The carrier says that it has taken the money all the same. */
  pays(): Promise<void>;
}

async function triesOf({ transaction_id }: Paying): Promise<readonly [Attempt, ...Attempt[]]> {
  const [first, ...others] = await rowsOf<Attempt>(world, 'select * from attempt where payment_id = $1', [
    transaction_id,
  ]);
  if (first === undefined) throw new Error('no try has been made');
  return [first, ...others];
}

async function turnedAway(paying: Paying): Promise<TurnedAway> {
  carrier.answer(TURNED_AWAY);
  expectRefusal(await payByPhone(world, paying, numberEnding('42')), 502, '1404');
  const [tried] = await triesOf(paying);
  const { reference, shard, id } = tried;
  const { deps, store } = world.gateway;
  return {
    reference,
    async pays() {
      carrier.say(reference, 'SUCCESSFUL');
      expect(await callBack(callbackUrl(deps, tried), {})).toBe(200);
      expect(await store.attempt.get(shard, id)).toMatchObject({ status: 'approved', reason: 'late_success' });
    },
  };
}

/** Submits a card; a phone that had been turned away pays the order while the issuer is asked. */
async function phonePaysWhileIssuerIsAsked(headers: Readonly<Record<string, string>> = {}) {
  const paying = await collect(world, merchant);
  const tried = await turnedAway(paying);
  const form = await openFormOf(world, paying);
  const before = network.count('pay');
  const slow = network.hold('authenticate');
  const submit = () => submitCard(world, { ...paying, form }, { headers });
  const submitted = submit();
  await slow.asked;
  await tried.pays();
  slow.answer();
  expectRefusal(await submitted, 400, '1110', 'PAID_BEFORE');
  expect(network.count('pay')).toBe(before);
  expect(await statusOf(world, paying)).toBe('pending');
  return { paying, submit };
}

/** Another payment of a session whose first one a carrier has turned away, and the customer's card has ended. */
async function besideDeclined() {
  const first = await collect(world, merchant);
  const tried = await turnedAway(first);
  const form = await openFormOf(world, first);
  network.pays = 'DECLINED';
  expectRefusal(await submitCard(world, { ...first, form }), 402, '1502');
  network.pays = 'APPROVED';
  const paying: Paying = { ...first, ...(await collectWith(world, first.token)) };
  return { tried, paying };
}

test.each(['SUCCESSFUL', 'PENDING'] as const)(
  'a card (%s) is not charged, nor its customer sent on, if a phone has paid the order while the issuer was asked',
  async (issuer) => {
    network.issuer = issuer;
    await phonePaysWhileIssuerIsAsked();
  },
);

test('a card that was not charged for that pays by the same call once the money has been given back', async () => {
  const { paying, submit } = await phonePaysWhileIssuerIsAsked({ 'idempotency-key': 'paid-meanwhile' });
  expectRefusal(await submit(), 400, '1110', 'PAID_BEFORE');
  const [{ id }] = await triesOf(paying);
  await bookLateMoney(world.gateway.deps, id, givenBack(id));
  expect((await submit()).json).toMatchObject({ status: 'approved' });
});

test('if it cannot be read whether the order was paid, the card is not charged, and the customer may pay at once', async () => {
  const paying = await collectByCard(world, merchant);
  const { deps } = world.gateway;
  const { store } = deps;
  let isAway = false;
  const attempt: typeof store.attempt = {
    ...store.attempt,
    async turnedAway(...key) {
      if (!isAway) return store.attempt.turnedAway(...key);
      isAway = false;
      throw new StoreUnavailable();
    },
  };
  const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
  const command = submitOf(paying, { method: 'card', formId: paying.form, browser });
  const caller = await callerOf(world, merchant, paying);
  const before = network.count('pay');
  const slow = network.hold('authenticate');
  const submitted = submitPayment({ ...deps, store: { ...store, attempt } }, caller, command, plainly);
  await slow.asked;
  isAway = true;
  slow.answer();
  await expect(submitted).rejects.toMatchObject({ code: 1404 });
  expect([isAway, network.count('pay')]).toEqual([false, before]);
  expect((await submitCard(world, paying)).json).toMatchObject({ status: 'approved' });
});

describe('a customer back from the issuer, of whose order the network had turned another card away', () => {
  async function backFromIssuer() {
    const first = await collectByCard(world, merchant, { minted: { ttl_seconds: 7_200 } });
    network.instead('pay', refusal('SERVER_BUSY'));
    expectRefusal(await submitCard(world, first), 502, '1404');
    network.instead('pay', undefined);
    const second = { ...first, ...(await collectCardWith(world, first.token)) };
    network.issuer = 'PENDING';
    expect((await submitCard(world, second)).status).toBe(202);
    network.issuer = 'SUCCESSFUL';
    return { first, second, before: network.count('pay') };
  }

  test('is not charged if the network has carried that out meanwhile', async () => {
    const { first, second, before } = await backFromIssuer();
    const [tried] = await triesOf(first);
    network.took(tried.id);
    await world.pass(60_000, 2);
    expect(network.count('pay')).toBe(before);
    await untilStatus(world, second, 'expired', 60_000);
    expect(await triesOf(first)).toMatchObject([{ status: 'approved', reason: 'late_success' }]);
  });

  test('is charged if the network has not', async () => {
    const { second, before } = await backFromIssuer();
    await untilStatus(world, second, 'approved', 60_000);
    expect(network.count('pay')).toBe(before + 1);
  });

  test('is not charged while the network cannot tell, and is not kept waiting for ever', async () => {
    const { second, before } = await backFromIssuer();
    network.instead('inquire', 'cuts');
    // As long as a customer may be on the way back from the issuer, and no longer.
    await world.pass(60_000, 14);
    expect(await statusOf(world, second)).toBe('processing');
    await untilStatus(world, second, 'expired', 60_000);
    expect(network.count('pay')).toBe(before);
    network.instead('inquire', undefined);
  });
});

test('a customer back from the issuer is not charged if a phone has paid the order meanwhile', async () => {
  const paying = await collect(world, merchant);
  const tried = await turnedAway(paying);
  const form = await openFormOf(world, paying);
  network.issuer = 'PENDING';
  expect((await submitCard(world, { ...paying, form })).status).toBe(202);
  await tried.pays();
  network.issuer = 'SUCCESSFUL';
  const before = network.count('pay');
  await untilStatus(world, paying, 'expired', 60_000);
  expect(network.count('pay')).toBe(before);
});

/** A customer back from the issuer; the answer to the commit that allows PAY is lost, once `meanwhile` has happened. */
async function allowedInDoubt() {
  const paying = await collect(world, merchant);
  const tried = await turnedAway(paying);
  const form = await openFormOf(world, paying);
  network.issuer = 'PENDING';
  expect((await submitCard(world, { ...paying, form })).status).toBe(202);
  network.issuer = 'SUCCESSFUL';
  const before = network.count('pay');
  const { deps } = world.gateway;
  const losing = (meanwhile: () => Promise<void>): Deps => {
    let isLost = false;
    const commit: typeof deps.store.commit = async (change) => {
      const outcome = await deps.store.commit(change);
      const steps = change.updates?.some(({ table, row }) => table === 'attempt' && row.status === 'authenticated');
      if (isLost || steps !== true) return outcome;
      isLost = true;
      await meanwhile();
      throw new CommitUnknown();
    };
    return { ...deps, store: { ...deps.store, commit } };
  };
  return { tried, losing, attempt: () => attemptOf(world, paying), pays: () => network.count('pay') - before };
}

test('nor if one pays it while it is in doubt whether PAY has been allowed', async () => {
  const { tried, losing, attempt, pays } = await allowedInDoubt();
  await whileTimePasses(world, inquireAttempt(losing(tried.pays), await attempt(), 'hint'));
  expect(await attempt()).toMatchObject({ status: 'not_sent' });
  expect(pays()).toBe(0);
});

test('nor after a stall while it is read, after such a doubt, whether the session may pay: another try may be under way', async () => {
  const { losing, attempt, pays } = await allowedInDoubt();
  let isLost = false;
  let stalledMs = 0;
  const deps = losing(async () => {
    isLost = true;
  });
  const { clock, store } = deps;
  const caller: typeof store.session.caller = async (...key) => {
    if (isLost) stalledMs = 60_000;
    return store.session.caller(...key);
  };
  const slow: Deps = {
    ...deps,
    clock: { ...clock, now: () => clock.now() + stalledMs },
    store: { ...store, session: { ...store.session, caller } },
  };
  await whileTimePasses(world, inquireAttempt(slow, await attempt(), 'hint'));
  expect(stalledMs).toBe(60_000);
  expect(pays()).toBe(0);
  expect(await attempt()).toMatchObject({ status: 'not_sent' });
});

test('nor if it cannot be read, after such a doubt, whether the session may pay', async () => {
  const { losing, attempt, pays } = await allowedInDoubt();
  let isAway = false;
  let failures = 0;
  const deps = losing(async () => {
    isAway = true;
  });
  const { store } = deps;
  const caller: typeof store.session.caller = async (...key) => {
    if (!isAway) return store.session.caller(...key);
    isAway = false;
    failures += 1;
    throw new StoreUnavailable();
  };
  const away: Deps = { ...deps, store: { ...store, session: { ...store.session, caller } } };
  await whileTimePasses(world, inquireAttempt(away, await attempt(), 'hint'));
  expect(failures).toBe(1);
  expect(pays()).toBe(0);
  expect(await attempt()).toMatchObject({ status: 'not_sent' });
});

test('a wallet is not debited if a phone has paid the order while the PIN was verified', async () => {
  const { tried, paying } = await besideDeclined();
  const wallet = await world.wallet();
  const deps = oncePinIsJudged(world.gateway.deps, tried.pays);
  const caller = await callerOf(world, merchant, paying);
  const submitted = submitPayment(deps, caller, submitOf(paying, meansOf(wallet)), plainly);
  const details = [{ field: 'payment_id', code: 'PAID_BEFORE' }];
  await expect(submitted).rejects.toMatchObject({ code: 1110, more: { details } });
  expect(await statusOf(world, paying)).toBe('pending');
});

test('nobody is sent a prompt if another phone has paid the order while the carrier was asked about an earlier one', async () => {
  const { tried, paying } = await besideDeclined();
  const own = await turnedAway(paying);
  const isAsked = new Promise<void>((resolve) => carrier.beforeWordOf(tried.reference, async () => resolve()));
  carrier.beforeWordOf(own.reference, async () => {
    await isAsked;
    // The answer about the first one, which says that it is not known, is given before it pays.
    await setImmediate();
    await tried.pays();
  });
  expectRefusal(await payByPhone(world, paying, numberEnding('42')), 400, '1110', 'PAID_BEFORE');
  expect(await triesOf(paying)).toHaveLength(1);
});

test('a token is not sent if a phone has paid the order while the network was asked about an earlier try', async () => {
  const { tried, paying } = await besideDeclined();
  const before = network.count('pay');
  const slow = network.hold('inquire');
  const native = { native_pay_token: 'tok_approved', native_pay_token_type: 'PAYMENT_GATEWAY' };
  const body = collectBody(world, 'google_pay', native);
  const collected = world.call('POST', '/payments/collect', { bearer: paying.token, body });
  await slow.asked;
  await tried.pays();
  slow.answer();
  expectRefusal(await collected, 400, '1110', 'PAID_BEFORE');
  await world.gateway.background.idle();
  expect(network.count('pay')).toBe(before);
});

test('a token is not sent if a card was tried, and taken, while the network was asked about an earlier try', async () => {
  const first = await collectByCard(world, merchant, { minted: { ttl_seconds: 7_200 } });
  network.instead('pay', refusal('SERVER_BUSY'));
  expectRefusal(await submitCard(world, first), 502, '1404');
  const second = { ...first, ...(await collectCardWith(world, first.token)) };
  const slow = network.hold('inquire');
  const native = { native_pay_token: 'tok_approved', native_pay_token_type: 'PAYMENT_GATEWAY' };
  const body = collectBody(world, 'google_pay', native);
  const collected = world.call('POST', '/payments/collect', { bearer: first.token, body });
  await slow.asked;
  expectRefusal(await submitCard(world, second), 502, '1404');
  network.instead('pay', undefined);
  const [tried] = await triesOf(second);
  network.took(tried.id);
  const before = network.count('pay');
  slow.answer();
  expectRefusal(await collected, 401, '1001', 'SESSION_CONSUMED');
  await world.gateway.background.idle();
  expect(network.count('pay')).toBe(before);
  expect(await statusOf(world, second)).toBe('approved');
});
