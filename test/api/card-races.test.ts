/**
 * A card payment between two processes, a network that answers at will, and customers who will not wait: whatever is
 * heard of the challenge, nothing overtakes a PAY in flight.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { CommitUnknown } from '../../src/store/errors.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import {
  type CardPaying,
  callbackFor,
  collectByCard,
  postCallback,
  postForm,
  submitCard,
} from '../support/card-payments.ts';
import { type FickleDesk, openFickleDesk } from '../support/fickle-desk.ts';
import type { FickleNetwork } from '../support/fickle-network.ts';
import { type Fields, statusOf } from '../support/flows.ts';
import { attemptOf, onlyHook } from '../support/phone-payments.ts';
import { openSecond, quiet, type Second } from '../support/second-gateway.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { openWire, type Wire } from '../support/wire.ts';
import type { World } from '../support/world.ts';

let desk: FickleDesk;
let network: FickleNetwork;
let world: World;
let merchant: MerchantCreated;
let wire: Wire;
/** Another process, whose database is behind the wire. */
let second: Second;

beforeAll(async () => {
  desk = await openFickleDesk();
  ({ network, world, merchant } = desk);
  wire = await openWire(world.databaseUrl);
  second = await openSecond(world, manualClock(0), wire.url, { env: desk.env });
});
afterEach(() => {
  desk.reset();
  wire.release();
});
afterAll(async () => {
  await second.close();
  await wire.close();
  await desk.close();
});

/** A payment whose customer is at the issuer. */
async function atIssuer(body: Fields = {}): Promise<CardPaying> {
  const paying = await collectByCard(world, merchant, { body, minted: { ttl_seconds: 7_200 } });
  const submitted = await submitCard(world, paying);
  expect(submitted.status, submitted.text).toBe(202);
  return paying;
}

/** Posts the callback to the other process. */
async function callSecond(paying: CardPaying, fields = callbackFor(world, paying)): Promise<{ status: string }> {
  const answer = await fetch(`${second.url}/api/v1/payments/card/3ds-callback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  return (await answer.json()) as { status: string };
}

/** GET check-status at the other process. */
async function checkSecond(paying: CardPaying): Promise<{ status: string }> {
  const answer = await fetch(`${second.url}/api/v1/payments/check-status/${paying.transaction_id}`, {
    headers: { authorization: `Bearer ${paying.token}` },
  });
  return (await answer.json()) as { status: string };
}

const LIFE_MS = 10 * 60_000;

describe('while PAY is in flight', () => {
  test.each([
    ['a callback', callSecond],
    ['a reader', checkSecond],
  ])('%s at another process that finds the challenge over ends nothing', async (_name, look) => {
    const paying = await atIssuer();
    await world.pass(LIFE_MS - 1_000);
    const asked = network.hold('look');
    const late = look(paying);
    await asked.asked;
    network.issuer = 'SUCCESSFUL';
    const pay = network.hold('pay');
    await world.clock.advance(2_000);
    await pay.asked;
    // What the other process hears now proves nothing; its time is over.
    asked.answer('cuts');
    expect((await late).status).toBe('processing');
    expect((await attemptOf(world, paying)).status).toBe('authenticated');
    pay.answer();
    await world.pass(0);
    expect(await statusOf(world, paying)).toBe('approved');
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
  });

  test('a callback that learns that the issuer said no changes nothing', async () => {
    const paying = await atIssuer();
    const asked = network.hold('look');
    const late = callSecond(paying);
    await asked.asked;
    network.issuer = 'SUCCESSFUL';
    const pay = network.hold('pay');
    const callback = postCallback(world, callbackFor(world, paying));
    await pay.asked;
    network.issuer = 'FAILED';
    asked.answer();
    expect((await late).status).toBe('processing');
    pay.answer();
    expect((await callback).json).toMatchObject({ status: 'approved' });
    expect(await attemptOf(world, paying)).toMatchObject({ three_ds_status: 'AUTHENTICATION_SUCCESSFUL' });
  });

  test('a callback that comes to two processes at once is answered by both as by the one that paid', async () => {
    const paying = await atIssuer();
    const fields = callbackFor(world, paying);
    const asked = network.hold('look');
    const late = callSecond(paying, fields);
    await asked.asked;
    network.issuer = 'SUCCESSFUL';
    const paid = await postCallback(world, fields);
    expect(paid.json).toMatchObject({ status: 'approved' });
    asked.answer();
    expect(await late).toEqual(paid.json);
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
  });

  test('a callback whose twin has been told to wait writes what it paid, and repeats what the twin was told', async () => {
    const paying = await atIssuer();
    const fields = callbackFor(world, paying);
    const asked = network.hold('look');
    const late = callSecond(paying, fields);
    await asked.asked;
    const told = await postCallback(world, fields);
    expect(told.json).toMatchObject({ status: 'processing' });
    network.issuer = 'SUCCESSFUL';
    asked.answer();
    expect(await late).toEqual(told.json);
    expect((await attemptOf(world, paying)).status).toBe('approved');
    expect((await postCallback(world, fields)).text).toBe(told.text);
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
  });

  test('a “not found” from before the challenge no longer counts, and no inquiry is made', async () => {
    const paying = await collectByCard(world, merchant, { minted: { ttl_seconds: 7_200 } });
    const asking = network.hold('authenticate');
    const submitted = submitCard(world, paying);
    await asking.asked;
    // The round gets “not found” about an attempt whose call should have ended.
    await world.pass(46_000);
    expect((await attemptOf(world, paying)).not_found_at).not.toBeNull();
    asking.answer();
    expect((await submitted).status).toBe(202);
    expect(await attemptOf(world, paying)).toMatchObject({ status: 'challenged', not_found_at: null, inquiries: 0 });
    await world.pass(61_000);
    network.issuer = 'SUCCESSFUL';
    const pay = network.hold('pay');
    const callback = postCallback(world, callbackFor(world, paying));
    await pay.asked;
    const inquiries = network.count('inquire');
    const read = await world.call('GET', `/payments/check-status/${paying.transaction_id}`, { bearer: paying.token });
    expect(read.json, read.text).toMatchObject({ status: 'processing' });
    expect(network.count('inquire')).toBe(inquiries);
    pay.answer();
    expect((await callback).json).toMatchObject({ status: 'approved' });
  });

  test('a browser that comes back just as PAY is answered is not sent to the failure address', async () => {
    const success_redirect_url = 'https://shop.example/thanks';
    const urls = { success_redirect_url, fail_redirect_url: 'https://shop.example/again' };
    const paying = await atIssuer(urls);
    network.issuer = 'SUCCESSFUL';
    const pay = network.hold('pay');
    const callback = postCallback(world, callbackFor(world, paying));
    await pay.asked;
    // By the time PAY is answered, the other process has read the payment twice, and its attempt once.
    const { attempt } = second.gateway.deps.store;
    const { get } = attempt;
    let reads = 0;
    Object.assign(attempt, {
      get: async (...key: Parameters<typeof get>) => {
        reads += 1;
        if (reads === 2) {
          Object.assign(attempt, { get });
          pay.answer();
          await callback;
        }
        return get(...key);
      },
    });
    const fields = callbackFor(world, paying);
    const comeBack = () => postForm({ ...world, url: second.url }, fields);
    const answer = await comeBack();
    expect((await callback).json).toMatchObject({ status: 'approved' });
    expect(answer.location, answer.text).toContain(success_redirect_url);
    expect((await comeBack()).location).toBe(answer.location);
  });

  test('an operator’s decision is refused', async () => {
    const paying = await atIssuer();
    const { id } = await attemptOf(world, paying);
    network.issuer = 'SUCCESSFUL';
    const pay = network.hold('pay');
    let callback: ReturnType<typeof postCallback> | undefined;
    const deps = interrupted(async () => {
      callback = postCallback(world, callbackFor(world, paying));
      await pay.asked;
    });
    await expect(decideAttempt(deps, id, NOT_PAID)).rejects.toThrow(
      /^the upstream is being asked about att_\w+ at the moment/,
    );
    await expect(decideAttempt(world.gateway.deps, id, NOT_PAID)).rejects.toThrow(
      /^the upstream is being asked about att_\w+ at the moment/,
    );
    pay.answer();
    expect((await callback)?.json).toMatchObject({ status: 'approved' });
  });

  test('an operator’s decision that was meant for the challenge is refused', async () => {
    const paying = await atIssuer();
    const { id } = await attemptOf(world, paying);
    network.issuer = 'SUCCESSFUL';
    network.instead('pay', 'cuts');
    const deps = interrupted(async () => {
      expect((await postCallback(world, callbackFor(world, paying))).json).toMatchObject({ status: 'processing' });
      await world.pass(6_000);
    });
    const { store } = world.gateway;
    await expect(decideAttempt(deps, id, NOT_PAID)).rejects.toThrow('was challenged and is now unknown');
    expect((await store.attempt.get(shardOf(id), id))?.status).toBe('unknown');
    network.took(id);
    await world.pass(10_000);
    expect(await statusOf(world, paying)).toBe('approved');
  });

  const NOT_PAID = { paid: false, providerReference: null, by: 'amina', why: null };

  /** The deps of an operator's command, between whose first read and first write something else happens. */
  function interrupted(happens: () => Promise<void>): World['gateway']['deps'] {
    const { deps } = world.gateway;
    let before: (() => Promise<void>) | undefined = happens;
    const store: typeof deps.store = {
      ...deps.store,
      commit: async (change) => {
        const first = before;
        before = undefined;
        await first?.();
        return deps.store.commit(change);
      },
    };
    return { ...deps, store };
  }
});

describe('the database’s answer to the commit before PAY is lost', () => {
  /** A callback at the other process, suspended after its commit is written and before it is acknowledged. */
  async function stepAsleep(): Promise<{ paying: CardPaying; answer: Promise<{ status: string }> }> {
    const before = await atIssuer();
    network.issuer = 'SUCCESSFUL';
    // From now on its statements are prepared: one commit is one answer of the database.
    expect((await callSecond(before)).status).toBe('approved');
    await quiet(world, second);
    network.issuer = 'PENDING';
    const paying = await atIssuer();
    network.issuer = 'SUCCESSFUL';
    wire.hold('commit');
    const answer = callSecond(paying);
    await wire.kept();
    expect((await attemptOf(world, paying)).status).toBe('authenticated');
    return { paying, answer };
  }

  test('the commit is found to be our own, and PAY is sent, once', async () => {
    const { paying, answer } = await stepAsleep();
    const pays = network.count('pay');
    wire.cut();
    wire.release();
    expect((await whileTimePasses(world, answer)).status).toBe('approved');
    expect(network.count('pay')).toBe(pays + 1);
    expect((await onlyHook(world, paying)).body.status).toBe('approved');
  });

  test('after five seconds nothing is sent any more: the payment has failed', async () => {
    const { paying, answer } = await stepAsleep();
    const pays = network.count('pay');
    await world.clock.advance(5_001);
    wire.cut();
    wire.release();
    expect((await whileTimePasses(world, answer)).status).toBe('failed');
    expect(network.count('pay')).toBe(pays);
    expect(await statusOf(world, paying)).toBe('failed');
  });
});

test('a commit before PAY that was lost to another process’s is not taken for our own: PAY is sent once', async () => {
  const paying = await atIssuer();
  network.issuer = 'SUCCESSFUL';
  const pays = network.count('pay');
  const pay = network.hold('pay');
  const { deps } = world.gateway;
  let other: Promise<{ status: string }> | undefined;
  /** The database loses our commit and its answer; the other process asks for the money instead. */
  const store: typeof deps.store = {
    ...deps.store,
    async commit(change) {
      const steps = change.updates?.some(({ table, row }) => table === 'attempt' && row.status === 'authenticated');
      if (other !== undefined || steps !== true) return deps.store.commit(change);
      other = callSecond(paying);
      await pay.asked;
      throw new CommitUnknown();
    },
  };
  await whileTimePasses(world, inquireAttempt({ ...deps, store }, await attemptOf(world, paying), 'hint'));
  pay.answer();
  expect(await other).toMatchObject({ status: 'approved' });
  expect(network.count('pay')).toBe(pays + 1);
});

describe('inquiries in between', () => {
  /** A challenge that the round has inquired about so often that its next inquiry is far off. */
  async function longWaiting(): Promise<CardPaying> {
    const paying = await atIssuer();
    for (const pause of [5_000, 5_000, 10_000, 15_000, 30_000]) await world.pass(pause);
    expect((await attemptOf(world, paying)).inquiries).toBe(5);
    return paying;
  }

  test('a callback that found the network unreachable is decided again, and the round inquires soon', async () => {
    const paying = await longWaiting();
    const fields = callbackFor(world, paying);
    network.instead('look', 'cuts');
    expect((await postCallback(world, fields)).json).toMatchObject({ status: 'processing' });
    expect(await attemptOf(world, paying)).toMatchObject({
      inquiries: 5,
      next_inquiry_at: world.clock.now() + 5_000,
    });
    network.instead('look', undefined);
    network.issuer = 'SUCCESSFUL';
    expect((await postCallback(world, fields)).json).toMatchObject({ status: 'approved' });
    await onlyHook(world, paying);
  });

  test('a read that found the network unreachable has the round inquire soon', async () => {
    const paying = await longWaiting();
    const read = () => world.call('GET', `/payments/check-status/${paying.transaction_id}`, { bearer: paying.token });
    network.issuer = 'SUCCESSFUL';
    network.instead('look', 'cuts');
    expect((await read()).json).toMatchObject({ status: 'processing' });
    network.instead('look', undefined);
    await world.pass(5_000);
    expect(await statusOf(world, paying)).toBe('approved');
  });

  test('reads do not put off the round’s next inquiry, about the challenge or the money', async () => {
    const paying = await longWaiting();
    const { next_inquiry_at, inquiries } = await attemptOf(world, paying);
    const read = () => world.call('GET', `/payments/check-status/${paying.transaction_id}`, { bearer: paying.token });
    for (let times = 0; times < 3; times += 1) expect((await read()).json).toMatchObject({ status: 'processing' });
    expect(await attemptOf(world, paying)).toMatchObject({ next_inquiry_at, inquiries });
    network.issuer = 'SUCCESSFUL';
    network.instead('pay', 'cuts');
    expect((await postCallback(world, callbackFor(world, paying))).json).toMatchObject({ status: 'processing' });
    const unsure = await attemptOf(world, paying);
    expect(unsure).toMatchObject({ status: 'unknown', inquiries: 0 });
    for (let times = 0; times < 3; times += 1) expect((await read()).json).toMatchObject({ status: 'processing' });
    const after = await attemptOf(world, paying);
    expect(after).toMatchObject({ inquiries: 0, next_inquiry_at: unsure.next_inquiry_at });
    network.took(after.id);
    await world.pass(5_000);
    expect(await statusOf(world, paying)).toBe('approved');
  });
});

test('a customer who passed while every process was down is not charged once the return address has expired', async () => {
  const paying = await atIssuer();
  const pays = network.count('pay');
  network.issuer = 'SUCCESSFUL';
  // Nothing inquires in between: the clock leaps, and stays ahead of everybody else's.
  await world.leap(LIFE_MS + 5 * 60_000);
  expect(await statusOf(world, paying)).toBe('expired');
  expect(network.count('pay')).toBe(pays);
  expect(await attemptOf(world, paying)).toMatchObject({ three_ds_status: 'AUTHENTICATION_SUCCESSFUL' });
  expect((await onlyHook(world, paying)).body.status).toBe('expired');
});
