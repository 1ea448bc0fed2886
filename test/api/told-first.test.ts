/**
 * A submit that is answered before the carrier's “waiting” is written (decision 25): no reader in this process is told less
 * than the submit was, no process pays twice, and the next result is written together with it.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { StoreUnavailable } from '../../src/store/errors.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  answerPrompt,
  collect,
  collectWith,
  debitsOf,
  detailOf,
  freshKey,
  numberEnding,
  type Paying,
  payByPhone,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf, carrierAsked, expectBooksAgree, onlyHook, pushed } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond, type Second, submitAt } from '../support/second-gateway.ts';
import { until, untilLater, whileTimePasses } from '../support/waiting.ts';
import { openWaveringCarrier } from '../support/wavering-carrier.ts';
import { openWire, type Wire } from '../support/wire.ts';
import { collectBody, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
/** Another process's gateway, whose database is behind the wire. */
let wire: Wire;
let second: Second;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
  wire = await openWire(world.databaseUrl);
  second = await openSecond(world, manualClock(0), wire.url);
});
afterEach(() => {
  wire.refuse = false;
});
afterAll(async () => {
  await second.close();
  await wire.close();
  await world.close();
});

const AS_INTENDED = { attempt: 'intended', payment: 'processing', session: 'ACTIVE' };
const AS_TOLD = { attempt: 'waiting', payment: 'pending_mobile_money_verification', session: 'CONSUMED' };

/** What is written about a payment, its session and its attempt. */
async function writtenOf({ transaction_id }: Pick<Paying, 'transaction_id'>): Promise<unknown> {
  const text = `select a.status as attempt, p.status as payment, s.status as session from payment p
    join attempt a on a.id = p.attempt_id join session s on s.id = p.session_id where p.id = '${transaction_id}'`;
  return (await rowsOf(world, text))[0];
}

const timelineOf = async (paying: Paying): Promise<string[]> =>
  (await detailOf(world, paying)).timeline.map(({ status }: { status: string }) => status);

test('an acceptance is written a second after it was told, if nothing reads it before', async () => {
  const paying = await pushed(world, merchant, '42');
  expect(await writtenOf(paying)).toEqual(AS_INTENDED);
  await world.clock.advance(999);
  expect(await writtenOf(paying)).toEqual(AS_INTENDED);
  await untilLater(
    world,
    async () => ((await writtenOf(paying)) as { attempt: string }).attempt === 'waiting' || undefined,
    1,
  );
  expect(await writtenOf(paying)).toEqual(AS_TOLD);
  expect(await timelineOf(paying)).toEqual(['pending', 'processing', 'pending_mobile_money_verification']);
});

test('a reader in this process gets what was told, which is written by then', async () => {
  for (const path of ['status', 'transaction']) {
    const paying = await pushed(world, merchant, '42');
    const read = await world.call('GET', `/payments/${path}/${paying.transaction_id}`, { bearer: paying.token });
    expect(read.json, path).toMatchObject({ status: 'pending_mobile_money_verification' });
    expect(await writtenOf(paying)).toEqual(AS_TOLD);
  }
});

test('a reader with another session of the merchant gets what was told, too', async () => {
  const paying = await pushed(world, merchant, '42');
  const other = await collect(world, merchant);
  expect(await statusOf(world, { ...paying, token: other.token })).toBe('pending_mobile_money_verification');
  expect(await writtenOf(paying)).toEqual(AS_TOLD);
});

test('if the carrier takes a second to answer, it is written first, as a callback may have reached another process', async () => {
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  world.sandbox.faults.set('mtn', { delay_ms: 1_000 });
  const asked = carrierAsked(world);
  const submitted = payByPhone(world, paying, numberEnding('42'));
  await asked;
  await world.clock.advance(1_000);
  world.sandbox.faults.clear();
  expect((await submitted).json).toMatchObject({ status: 'pending_mobile_money_verification' });
  expect(await writtenOf(paying)).toEqual(AS_TOLD);
});

test('its session is consumed for later calls in this process: a second submit, and another payment', async () => {
  const paying = await pushed(world, merchant, '42');
  const other = numberEnding('01');
  expectRefusal(await payByPhone(world, paying, other), 401, '1001', 'SESSION_CONSUMED');
  expect(debitsOf(world, other)).toEqual([]);
  const next = await pushed(world, merchant, '42');
  const body = collectBody(world, 'mobile_money');
  expectRefusal(await world.call('POST', '/payments/collect', { bearer: next.token, body }), 401, '1001');
});

test('a final result that comes first is written in the same change', async () => {
  const paying = await pushed(world, merchant, '42');
  expect(await writtenOf(paying)).toEqual(AS_INTENDED);
  const { commit } = world.gateway.store.stats();
  const lost = commit.lostAtDatabase + commit.lostInBatch;
  expect(await answerPrompt(world, paying.msisdn, 'approve')).toBe(200);
  const hook = await onlyHook(world, paying);
  expect(hook.body.status).toBe('approved');
  expect(await writtenOf(paying)).toEqual({ attempt: 'approved', payment: 'approved', session: 'CONSUMED' });
  expect(await timelineOf(paying)).toEqual(['pending', 'processing', 'approved']);
  expect(commit.lostAtDatabase + commit.lostInBatch).toBe(lost);
  // Nothing is left to be written later.
  await world.pass(2_000);
  expect(await timelineOf(paying)).toEqual(['pending', 'processing', 'approved']);
  expect(debitsOf(world, paying.msisdn)).toMatchObject([{ times: 1 }]);
});

test('a refusal that comes first ends the payment, and consumes the session', async () => {
  const paying = await pushed(world, merchant, '42');
  expect(await answerPrompt(world, paying.msisdn, 'reject')).toBe(200);
  expect((await onlyHook(world, paying)).body.status).toBe('cancelled');
  expect(await writtenOf(paying)).toEqual({ attempt: 'declined', payment: 'cancelled', session: 'CONSUMED' });
  expectRefusal(await payByPhone(world, paying, numberEnding('01')), 401, '1001', 'SESSION_CONSUMED');
});

test('with an Idempotency-Key, or if a sibling has to end, it is written before it is told', async () => {
  const keyed = await collect(world, merchant, { method: 'mobile_money' });
  expect((await payByPhone(world, keyed, numberEnding('42'), freshKey())).status).toBe(200);
  expect(await writtenOf(keyed)).toEqual(AS_TOLD);
  const first = await collect(world, merchant, { method: 'mobile_money' });
  const sibling = await collectWith(world, first.token, 'mobile_money');
  expect((await payByPhone(world, first, numberEnding('42'))).status).toBe(200);
  expect(await writtenOf(first)).toEqual(AS_TOLD);
  expect(await statusOf(world, { ...sibling, token: first.token })).toBe('cancelled');
});

test('another process shows `processing` for that second, and never pays as well', async () => {
  const paying = await pushed(world, merchant, '42');
  const headers = { authorization: `Bearer ${paying.token}` };
  const read = await fetch(`${second.url}/api/v1/payments/status/${paying.transaction_id}`, { headers });
  expect(await read.json()).toMatchObject({ status: 'processing' });
  const other = numberEnding('01');
  const answer = await whileTimePasses(world, submitAt(second.url, paying, other));
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([401, { error_code: '1001' }]);
  expect(await writtenOf(paying)).toEqual(AS_TOLD);
  expect(debitsOf(world, other)).toEqual([]);
});

test('a callback that reaches another process settles it there; what is written here later changes nothing', async () => {
  // Both have one public address, at which the carrier happens to reach the first process.
  const behind = await openSecond(world, manualClock(0), world.databaseUrl, { env: { PUBLIC_URL: world.url } });
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  const msisdn = numberEnding('42');
  expect((await submitAt(behind.url, paying, msisdn)).status).toBe(200);
  expect(await writtenOf(paying)).toEqual(AS_INTENDED);
  expect(await answerPrompt(world, msisdn, 'approve')).toBe(200);
  await untilStatus(world, paying, 'approved');
  await world.pass(2_000);
  expect(await writtenOf(paying)).toEqual({ attempt: 'approved', payment: 'approved', session: 'CONSUMED' });
  expect((await onlyHook(world, paying)).body.status).toBe('approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  await behind.close();
});

test('a process that dies before it is written loses nothing else: the carrier is inquired at', async () => {
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  const msisdn = numberEnding('42');
  expect((await submitAt(second.url, paying, msisdn)).status).toBe(200);
  // From now on nothing that it writes reaches the database.
  wire.refuse = true;
  wire.cut();
  expect(await statusOf(world, paying)).toBe('processing');
  const asked = async (): Promise<true | undefined> => (await statusOf(world, paying)) !== 'processing' || undefined;
  await untilLater(world, asked);
  expect(await writtenOf(paying)).toEqual(AS_TOLD);
  wire.refuse = false;
  expect(await answerPrompt(world, msisdn, 'approve')).toBe(200);
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});

test('a stop writes what is still unwritten', async () => {
  const stopping = await openSecond(world, manualClock(0));
  const paying = await collect(world, merchant, { method: 'mobile_money' });
  expect((await submitAt(stopping.url, paying, numberEnding('42'))).status).toBe(200);
  expect(await writtenOf(paying)).toEqual(AS_INTENDED);
  await stopping.close();
  expect(await writtenOf(paying)).toEqual(AS_TOLD);
});

test('the books agree after all of this', async () => {
  await expectBooksAgree(world, merchant);
});

// After the books: what this carrier takes is in none of the sandbox's.
test('a final result that could not be written leaves the acceptance to be written by itself', async () => {
  const carrier = await openWaveringCarrier();
  const third = await openSecond(world, manualClock(0), world.databaseUrl, { env: { MTN_MOMO_BASE_URL: carrier.url } });
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  expect((await submitAt(third.url, paying, numberEnding('42'))).status).toBe(200);
  const attempt = await attemptOf(world, paying);
  carrier.say(attempt.reference, 'SUCCESSFUL');
  const { deps } = third.gateway;
  const commit = () => Promise.reject(new StoreUnavailable());
  const inquired = inquireAttempt({ ...deps, store: { ...deps.store, commit } }, attempt);
  await expect(inquired).rejects.toThrow(StoreUnavailable);
  expect(await writtenOf(paying)).toEqual(AS_INTENDED);
  await world.clock.advance(1_000);
  await until(async () => ((await writtenOf(paying)) as typeof AS_TOLD).attempt === 'waiting' || undefined);
  expect(await writtenOf(paying)).toEqual(AS_TOLD);
  await inquireAttempt(deps, attempt);
  expect(await statusOf(world, paying)).toBe('approved');
  await third.close();
  await carrier.close();
});
