/**
 * Where a customer is sent who comes back from the issuer, and whose order has been paid by another try, or may have been: the shop
 * has to ask, and its failure address would ask for the money again (decision 30).
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import {
  type CardPaying,
  callbackFor,
  collectByCard,
  collectCardWith,
  postForm,
  submitCard,
} from '../support/card-payments.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import type { FickleNetwork } from '../support/fickle-network.ts';
import { untilStatus } from '../support/flows.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { openSecond, type Second } from '../support/second-gateway.ts';
import { openTurnedAwayDesk, type TurnedAwayDesk } from '../support/turned-away.ts';

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

/** A payment whose first try was turned away. */
async function tried(): Promise<{ readonly paying: CardPaying; readonly first: string }> {
  const paying = await collectByCard(desk.world, desk.merchant, { body: URLS, minted: { ttl_seconds: 7_200 } });
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
  const paying = await sentToIssuer(
    await collectByCard(world, desk.merchant, { body: URLS, minted: { ttl_seconds: 7_200 } }),
  );
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
