/**
 * Where a customer is sent who comes back from the issuer, and whose order has been paid by another try, or may have been: the shop
 * has to ask, and its failure address would ask for the money again (decision 30).
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import { RETURN_LIFE_MS } from '../../src/usecases/card-challenge.ts';
import {
  type CardPaying,
  callbackFor,
  collectByCard,
  collectCardWith,
  postForm,
  submitCard,
} from '../support/card-payments.ts';
import { type Shown, stepOf, textOf, visitor } from '../support/checkout-flows.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import type { FickleNetwork } from '../support/fickle-network.ts';
import { untilStatus } from '../support/flows.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { openSecond, type Second } from '../support/second-gateway.ts';
import { openTurnedAwayDesk, type TurnedAwayDesk } from '../support/turned-away.ts';
import { until, whileTimePasses } from '../support/waiting.ts';
import { collectBody } from '../support/world.ts';

const URLS = { success_redirect_url: 'https://shop.example/thanks', fail_redirect_url: 'https://shop.example/again' };
const shopAt = (path: string, { transaction_id }: CardPaying, status: string): string =>
  `https://shop.example/${path}?transaction_id=${transaction_id}&status=${status}`;

let desk: FickleDesk;
let earlier: TurnedAwayDesk;
beforeAll(async () => {
  desk = await openFickleDesk();
  earlier = openTurnedAwayDesk(desk);
});
afterEach(() => desk.reset());
afterAll(() => desk.close());

const collected = (): Promise<CardPaying> =>
  collectByCard(desk.world, desk.merchant, { body: URLS, minted: { ttl_seconds: 7_200 } });

/** A payment whose first try was turned away. */
async function tried(): Promise<{ readonly paying: CardPaying; readonly first: string }> {
  const paying = await collected();
  return { paying, first: await earlier.turnAway(paying) };
}

/** Sends the payment's customer to the issuer. */
async function sentToIssuer(paying: CardPaying): Promise<CardPaying> {
  desk.network.issuer = 'PENDING';
  const submitted = await submitCard(desk.world, paying);
  expect(submitted.status, submitted.text).toBe(202);
  return paying;
}

/** The browser comes back from the issuer: where it is sent. */
const comesBack = async (paying: CardPaying): Promise<string | null> =>
  (await postForm(desk.world, callbackFor(desk.world, paying))).location;

describe('another payment of the session was tried, and taken', () => {
  /** A customer at the issuer, whose session's first payment the network has turned away; `first`: that try. */
  async function atIssuer(): Promise<{ readonly paying: CardPaying; readonly first: string }> {
    const { paying, first } = await tried();
    const other = { ...paying, ...(await collectCardWith(desk.world, paying.token, URLS)) };
    return { paying: await sentToIssuer(other), first };
  }

  test('as is found when the customer is back: to success_redirect_url, now and once the challenge is over', async () => {
    const { paying, first } = await atIssuer();
    desk.network.took(first);
    desk.network.issuer = 'SUCCESSFUL';
    expect(await comesBack(paying)).toBe(shopAt('thanks', paying, 'processing'));
    expect(await earlier.attempt(first)).toMatchObject({ status: 'approved', reason: 'late_success' });
    await untilStatus(desk.world, paying, 'expired', 60_000);
    expect(await comesBack(paying)).toBe(shopAt('thanks', paying, 'expired'));
  });

  test.each([
    ['is still open', 'PENDING', 'processing'],
    ['has failed', 'FAILED', 'declined'],
  ] as const)('as is known, and the challenge %s: to success_redirect_url', async (_name, issuer, status) => {
    const { paying, first } = await atIssuer();
    desk.network.took(first);
    await inquireAttempt(desk.world.gateway.deps, await earlier.attempt(first), 'due');
    desk.network.issuer = issuer;
    expect(await comesBack(paying)).toBe(shopAt('thanks', paying, status));
  });

  test('not: to fail_redirect_url', async () => {
    const { paying } = await atIssuer();
    desk.network.issuer = 'FAILED';
    expect(await comesBack(paying)).toBe(shopAt('again', paying, 'declined'));
  });
});

test.each(['SUCCESSFUL', 'FAILED'] as const)(
  'while nobody can say whether an earlier try has paid: to success_redirect_url (%s)',
  async (issuer) => {
    const { paying } = await tried();
    await sentToIssuer(paying);
    desk.network.issuer = issuer;
    desk.network.instead('inquire', 'cuts');
    expect(await comesBack(paying)).toBe(shopAt('thanks', paying, 'processing'));
  },
);

describe('two processes hear of the customer at once', () => {
  let second: Second;
  beforeAll(async () => {
    second = await openSecond(desk.world, manualClock(0), desk.world.databaseUrl, { env: desk.env });
  });
  afterAll(() => second.close());

  /** A browser is back at the second process, which is told that an earlier try has paid once `meanwhile` has happened here. */
  async function hearsLate(issuer: FickleNetwork['issuer'], meanwhile: (paying: CardPaying) => Promise<void>) {
    const { network, world } = desk;
    const { paying, first } = await tried();
    await sentToIssuer(paying);
    network.issuer = issuer;
    const heard = network.hold('inquire');
    const back = postForm({ ...world, url: second.url }, callbackFor(world, paying));
    await heard.asked;
    await meanwhile(paying);
    // The network contradicts itself: it has told this process that the earlier try took nothing.
    network.took(first);
    heard.answer();
    return { paying, first, location: (await back).location };
  }

  test('one asks for the money, whatever the other hears of an earlier try: to success_redirect_url', async () => {
    let pay: ReturnType<FickleNetwork['hold']> | undefined;
    let here: Promise<string | null> | undefined;
    const { paying, first, location } = await hearsLate('SUCCESSFUL', async (one) => {
      pay = desk.network.hold('pay');
      here = comesBack(one);
      await pay.asked;
    });
    expect(location).toBe(shopAt('thanks', paying, 'processing'));
    pay?.answer();
    expect(await here).toBe(shopAt('thanks', paying, 'approved'));
    expect((await attemptOf(desk.world, paying)).id).not.toBe(first);
  });

  test('by the same callback, while one asks for the money: the other waits, and sends the customer the same way', async () => {
    const { network, world } = desk;
    const paying = await sentToIssuer(await collected());
    const fields = callbackFor(world, paying);
    network.issuer = 'SUCCESSFUL';
    const pay = network.hold('pay');
    const here = postForm(world, fields);
    await pay.asked;
    const waiting = world.clock.pending();
    const there = postForm({ ...world, url: second.url }, fields);
    const waits = until(async () => {
      await world.call('GET', '/health');
      return world.clock.pending() > waiting ? true : undefined;
    });
    await Promise.race([waits, there]);
    pay.answer();
    const [first, other] = await whileTimePasses(world, Promise.all([here, there]));
    expect(first.location).toBe(shopAt('thanks', paying, 'approved'));
    expect(other).toEqual(first);
  });

  test('one ends the challenge, and the other hears that an earlier try has paid: to success_redirect_url', async () => {
    const { paying, first, location } = await hearsLate('FAILED', async (one) => {
      expect(await comesBack(one)).toBe(shopAt('again', one, 'declined'));
    });
    expect(await earlier.attempt(first)).toMatchObject({ status: 'approved', reason: 'late_success' });
    expect(location).toBe(shopAt('thanks', paying, 'declined'));
  });
});

test('an approval that comes after the round has given the payment up: to success_redirect_url', async () => {
  const { network, world } = desk;
  const paying = await sentToIssuer(await collected());
  network.issuer = 'SUCCESSFUL';
  const pay = network.hold('pay');
  const back = comesBack(paying);
  await pay.asked;
  // As if the process had stood still: the round has heard “not found” twice.
  await untilStatus(world, paying, 'failed', 30_000);
  pay.answer();
  expect(await back).toBe(shopAt('thanks', paying, 'failed'));
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'approved', reason: 'late_success' });
});

describe('a hosted page on which nothing is asked for, because of an earlier try of the session', () => {
  const wayBack = ({ html }: Shown): string | undefined => /href="https:\/\/shop\.example\/([a-z]+)\?/.exec(html)?.[1];

  /** The page of another payment of a session whose first one the network has turned away. */
  async function beside(method: 'none' | 'card') {
    const { world } = desk;
    const { paying, first } = await tried();
    const body = collectBody(world, method, { ...URLS, cardnet_payment_method: 'HOSTED_SESSION' });
    const made = await world.call('POST', '/payments/collect-redirect', { bearer: paying.token, body });
    expect(made.status, made.text).toBe(200);
    const customer = visitor(world);
    const page = await customer.open(made.json.redirect_url);
    expect(wayBack(page)).toBe('again');
    return { paying, first, customer, page };
  }

  test('that has paid: it leads to success_redirect_url', async () => {
    const { paying, first, customer, page } = await beside('none');
    desk.network.took(first);
    // As if the session had been over when that was learned.
    await earlier.setSession(paying, 'CONSUMED');
    await inquireAttempt(desk.world.gateway.deps, await earlier.attempt(first), 'due');
    await earlier.setSession(paying, 'ACTIVE');
    const wallet = await desk.world.wallet();
    const refused = await customer.send(stepOf(page, 'pay'), {
      method: 'wallet',
      number: wallet.number,
      pin: wallet.pin,
    });
    expect(textOf(refused)).toContain('Do not pay again: ask the shop');
    expect(wayBack(refused)).toBe('thanks');
  });

  test('that may have paid: it leads to success_redirect_url', async () => {
    const { customer, page } = await beside('card');
    desk.network.instead('inquire', 'cuts');
    const refused = await customer.send(stepOf(page, 'pay'), { method: 'card' });
    expect(textOf(refused)).toContain('An earlier try may have gone through');
    expect(wayBack(refused)).toBe('thanks');
  });
});

test('an earlier try has paid, and its customer passed while every process was down: it pays the payment', async () => {
  const { network, world } = desk;
  const { paying, first } = await tried();
  const pays = network.count('pay');
  await sentToIssuer(paying);
  network.took(first);
  network.issuer = 'SUCCESSFUL';
  // Nothing inquires in between: the clock leaps, and stays ahead of everybody else's.
  await world.leap(RETURN_LIFE_MS);
  expect(await comesBack(paying)).toBe(shopAt('thanks', paying, 'approved'));
  await earlier.expectPaidBy({ paying, first, pays });
});
