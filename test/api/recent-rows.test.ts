/**
 * One process's memory of its own rows, after another process has moved them: no decision rests on the stale memory.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { settleByInquiry } from '../../src/usecases/attempt-settle.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  answerPrompt,
  collect,
  collectWith,
  debitsOf,
  numberEnding,
  type Paying,
  payByPhone,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf, callBack, expectBooksAgree, onlyHook } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond, type Second, submitAt } from '../support/second-gateway.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let second: Second;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
  second = await openSecond(world, world.clock);
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  await second.close();
  await world.close();
});

/** A payment that the first gateway has collected, and so remembers as untouched. */
const collected = (): Promise<Paying> => collect(world, merchant, { method: 'mobile_money' });

/** Answers the prompt on that phone; no callback arrives by itself. */
async function answerQuietly(msisdn: string, answer: 'approve' | 'reject'): Promise<void> {
  world.sandbox.faults.set('mtn', { lose_callback_rate: 1 });
  expect(await answerPrompt(world, msisdn, answer)).toBeLessThan(300);
}

test('a callback at a gateway that remembers the payment from before its attempt: the money is the payment’s own', async () => {
  const paying = await collected();
  const msisdn = numberEnding('42');
  expect((await submitAt(second.url, paying, msisdn)).status).toBe(200);
  await answerQuietly(msisdn, 'approve');
  expect(await callBack(callbackUrl(world.gateway.deps, await attemptOf(world, paying)), {})).toBe(200);
  expect(await statusOf(world, paying)).toBe('approved');
  expect(await rowsOf(world, `select id from account where id like 'suspense:%'`)).toEqual([]);
  await onlyHook(world, paying);
  await expectBooksAgree(world, merchant);
});

test('a callback at a gateway that remembers the attempt as open, though another has settled it: nothing happens', async () => {
  const paying = await collected();
  const msisdn = numberEnding('42');
  expect((await payByPhone(world, paying, msisdn)).status).toBe(200);
  await answerQuietly(msisdn, 'reject');
  const url = callbackUrl(world.gateway.deps, await attemptOf(world, paying));
  for (const base of [second.url, world.url, world.url]) {
    expect(await callBack(base + new URL(url).pathname, {})).toBe(200);
    expect(await statusOf(world, paying)).toBe('cancelled');
  }
  await onlyHook(world, paying);
  expect(world.log.lines.filter((line) => line.includes('attempt_alarm'))).toEqual([]);
});

test('an answer that changes nothing of rows that are outdated by now gives the payment as it has become', async () => {
  const paying = await collected();
  const msisdn = numberEnding('42');
  expect((await payByPhone(world, paying, msisdn)).status).toBe(200);
  expect(await statusOf(world, paying)).toBe('pending_mobile_money_verification');
  const { deps, store } = world.gateway;
  const attempt = await attemptOf(world, paying);
  const payment = await store.payment.get(attempt.shard, attempt.payment_id);
  await answerPrompt(world, msisdn, 'approve');
  await untilStatus(world, paying, 'approved');
  const heard = { answer: { kind: 'waiting', providerReference: null }, at: deps.clock.now() } as const;
  expect((await settleByInquiry(deps, attempt, payment, heard, 'hint')).status).toBe('approved');
});

test('a submit at a gateway that remembers the payment as pending, though it was cancelled elsewhere: refused', async () => {
  const paying = await collected();
  const sibling = { ...paying, ...(await collectWith(world, paying.token, 'mobile_money')) };
  const msisdn = numberEnding('01');
  expect((await submitAt(second.url, sibling, msisdn)).status).toBe(200);
  expectRefusal(await payByPhone(world, paying, msisdn), 401, '1001', 'SESSION_CONSUMED');
  await untilStatus(world, sibling, 'approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});

test('a submit that the carrier refused at one gateway is tried again at the one that remembers the payment', async () => {
  const paying = await collected();
  world.sandbox.faults.set('mtn', { refuse_rate: 1 });
  expect((await submitAt(second.url, paying, numberEnding('01'))).status).toBe(502);
  world.sandbox.faults.clear();
  const msisdn = numberEnding('01');
  expect((await payByPhone(world, paying, msisdn)).status).toBe(200);
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  await onlyHook(world, paying);
});

test('a failed inquiry after a hint, at a gateway with an outdated attempt in memory: the next one comes sooner', async () => {
  const paying = await collected();
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  const { id } = await attemptOf(world, paying);
  // As another process does that has inquired for a while without news.
  const postpone = `update attempt set inquiries = 8, version = version + 3, next_inquiry_at = next_inquiry_at + interval '15 min'`;
  await rowsOf(world, `${postpone} where id = '${id}'`);
  world.sandbox.faults.set('mtn', { error_rate: 1 });
  expect(await callBack(callbackUrl(world.gateway.deps, await attemptOf(world, paying)), {})).toBe(200);
  const { next_inquiry_at, inquiries } = await attemptOf(world, paying);
  expect([Number(next_inquiry_at) - world.clock.now(), inquiries]).toEqual([5_000, 8]);
});

test('a due inquiry without an answer counts, at a gateway that remembers the attempt in another state', async () => {
  const paying = await collected();
  const msisdn = numberEnding('42');
  world.sandbox.faults.set('mtn', { answer_lost_rate: 1 });
  await payByPhone(world, paying, msisdn);
  const unsure = await attemptOf(world, paying);
  expect(unsure.status).toBe('unknown');
  world.sandbox.faults.clear();
  expect(await callBack(second.url + new URL(callbackUrl(world.gateway.deps, unsure)).pathname, {})).toBe(200);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'waiting', inquiries: 0 });
  world.sandbox.faults.set('mtn', { error_rate: 1 });
  await world.pass(6_000);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'waiting', inquiries: 1 });
});

test('a due inquiry is written at once, at a gateway that remembers the attempt from before it was claimed', async () => {
  const paying = await collected();
  expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'waiting', inquiries: 0 });
  const lost = () => world.gateway.store.stats().commit.lostAtDatabase;
  const before = lost();
  await world.pass(6_000);
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'waiting', inquiries: 1 });
  expect(lost()).toBe(before);
});
