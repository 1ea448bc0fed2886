/**
 * Between the write and the call, and between the call and the write: a process that was suspended, a database that became
 * unreachable, an answer that comes after the result.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Attempt } from '../../src/domain/records.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { expectRefusal } from '../support/envelope.ts';
import { openFickleCarrier } from '../support/fickle-carrier.ts';
import {
  answerPrompt,
  collect,
  debitsOf,
  freshKey,
  hooksAbout,
  numberEnding,
  type Paying,
  payByPhone,
  phoneState,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf, callBack, carrierAsked, onlyHook } from '../support/phone-payments.ts';
import { openSecond, quiet, type Second, submitAt } from '../support/second-gateway.ts';
import { until, whileTimePasses } from '../support/waiting.ts';
import { openWire, type Wire } from '../support/wire.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;
let wire: Wire;
/** A gateway whose database is behind the wire. */
let behind: Second;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
  wire = await openWire(world.databaseUrl);
  behind = await openSecond(world, manualClock(0), wire.url);
});
// It then holds a token, and its statements are prepared: one commit is one answer of the database.
beforeEach(async () => {
  expect((await submitAt(behind.url, await collectQuietly(), numberEnding('42'))).status).toBe(200);
  await quiet(world, behind);
});
afterEach(() => {
  world.sandbox.faults.clear();
  wire.refuse = false;
  wire.release();
});
afterAll(async () => {
  await behind.close();
  await wire.close();
  await world.close();
});

/** A payment without a webhook: only its submit commits anything behind the wire. */
const collectQuietly = () => collect(world, merchant, { body: { notify_url: undefined } });

/** A submit at the gateway behind the wire, suspended after its attempt is written and before that is acknowledged. */
async function submitAsleep(msisdn: string) {
  const paying = await collectQuietly();
  wire.hold('commit');
  const submitted = submitAt(behind.url, paying, msisdn);
  await wire.kept();
  expect(await attemptOf(world, paying)).toMatchObject({ status: 'intended', created_at: world.clock.now() });
  return { paying, submitted };
}

test('five seconds after an attempt was written its carrier is still called', async () => {
  const msisdn = numberEnding('01');
  const { paying, submitted } = await submitAsleep(msisdn);
  await world.clock.advance(5_000);
  wire.release();
  const answer = await submitted;
  expect(JSON.parse(answer.text), answer.text).toMatchObject({ status: 'pending_mobile_money_verification' });
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});

test('after that it is no longer called: 1404, and the customer can pay again', async () => {
  const msisdn = numberEnding('01');
  const { paying, submitted } = await submitAsleep(msisdn);
  await world.clock.advance(5_001);
  wire.release();
  const answer = await submitted;
  expect([answer.status, JSON.parse(answer.text)], answer.text).toMatchObject([
    502,
    { error_code: '1404', retryable: true, transaction_id: paying.transaction_id },
  ]);
  expect((await phoneState(world, msisdn)).prompts).toEqual([]);
  expect(await statusOf(world, paying)).toBe('pending');
  const other = numberEnding('01');
  expect((await payByPhone(world, paying, other)).json).toMatchObject({ status: 'pending_mobile_money_verification' });
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, msisdn)).toEqual([]);
  expect(debitsOf(world, other)).toMatchObject([{ times: 1 }]);
});

test('an attempt that was written, but not acknowledged by the database, continues: its carrier is called, once', async () => {
  const msisdn = numberEnding('01');
  const { paying, submitted } = await submitAsleep(msisdn);
  wire.cut();
  wire.release();
  const answer = await whileTimePasses(world, submitted, 1);
  expect(JSON.parse(answer.text), answer.text).toMatchObject({ status: 'pending_mobile_money_verification' });
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});

test('if the acknowledgement is lost and five seconds have passed, nothing is sent: 1404, and it can be paid again', async () => {
  const msisdn = numberEnding('01');
  const { paying, submitted } = await submitAsleep(msisdn);
  await world.clock.advance(5_001);
  wire.cut();
  wire.release();
  const answer = await whileTimePasses(world, submitted, 1);
  expect([answer.status, JSON.parse(answer.text)], answer.text).toMatchObject([502, { error_code: '1404' }]);
  expect((await phoneState(world, msisdn)).prompts).toEqual([]);
  expect(await statusOf(world, paying)).toBe('pending');
});

const CARRIER_MS = 100;

/** A submit at the gateway behind the wire whose carrier has been called, and answers when that much time has passed. */
async function submitAsking(msisdn: string, headers: Readonly<Record<string, string>>) {
  const paying = await collectQuietly();
  world.sandbox.faults.set('mtn', { delay_ms: CARRIER_MS });
  const asked = carrierAsked(world);
  const submitted = submitAt(behind.url, paying, msisdn, headers);
  await asked;
  return { paying, submitted };
}

/** Expects the carrier's answer in the attempt without an inquiry; the customer is asked and debited once. */
async function expectWritten(paying: Paying, msisdn: string, submitted: ReturnType<typeof submitAt>): Promise<void> {
  // Small steps, so that the database is back long before an inquiry is due.
  const answer = await whileTimePasses(world, submitted, 1);
  expect(JSON.parse(answer.text), answer.text).toMatchObject({ status: 'pending_mobile_money_verification' });
  const written = async (): Promise<Attempt | undefined> => {
    await world.clock.advance(1);
    const attempt = await attemptOf(world, paying);
    return attempt.status === 'intended' ? undefined : attempt;
  };
  expect(await until(written, 100_000)).toMatchObject({ status: 'waiting', inquiries: 0 });
  expect((await phoneState(world, msisdn)).prompts).toHaveLength(1);
  world.sandbox.faults.clear();
  expect(await answerPrompt(world, msisdn, 'approve')).toBe(200);
  await untilStatus(world, paying, 'approved');
  expect(debitsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
}

// With a key, the carrier's answer is written before it is told; without one it may be told first.
describe.each([
  ['with a key', freshKey],
  ['without', () => ({})],
] as const)('%s', (name, headers) => {
  test('the carrier’s answer is written once, even if the database’s acknowledgement is lost', async () => {
    const msisdn = numberEnding('42');
    const { paying, submitted } = await submitAsking(msisdn, headers());
    wire.hold('commit');
    await world.clock.advance(CARRIER_MS);
    await whileTimePasses(world, wire.kept(), 1);
    wire.cut();
    wire.release();
    await expectWritten(paying, msisdn, submitted);
  });

  test('the carrier’s answer from while the database was unreachable is written once it is back', async () => {
    const msisdn = numberEnding('42');
    const { paying, submitted } = await submitAsking(msisdn, headers());
    const troubles = timesUnreachable();
    wire.refuse = true;
    wire.cut();
    await world.clock.advance(CARRIER_MS);
    const isNoticed = async (): Promise<true | undefined> => {
      await world.gateway.store.ping();
      return timesUnreachable() > troubles || undefined;
    };
    if (name === 'without') {
      // It has been told, and is written when a second has passed.
      await submitted;
      await world.clock.advance(1_000);
    }
    await until(isNoticed, 100_000);
    wire.refuse = false;
    const isBack = (): Promise<true | undefined> =>
      behind.gateway.store.ping().then(
        () => true as const,
        () => undefined,
      );
    await until(isBack, 100_000);
    await expectWritten(paying, msisdn, submitted);
  });
});

/** How often a gateway has failed to connect to its database. */
function timesUnreachable(): number {
  return world.log.lines.filter((line) => line.includes('the database cannot be reached')).length;
}

test('a “not sent” that comes after the result: the submit is never 1404, and reports what was settled', async () => {
  const carrier = await openFickleCarrier();
  const other = await openWorld({ env: { MTN_MOMO_BASE_URL: carrier.url } });
  try {
    const shop = await other.merchant();
    const paying = await collect(other, shop);
    const key = { 'idempotency-key': 'late' };
    const msisdn = numberEnding('42');
    const held = carrier.holdNext();
    const submitting = payByPhone(other, paying, msisdn, key);
    await held.asked;
    carrier.say('SUCCESSFUL');
    expect(await callBack(carrier.callbackUrl(), {})).toBe(200);
    expect(await statusOf(other, paying)).toBe('approved');
    held.answer({ status: 503, body: '{"code":"SERVICE_UNAVAILABLE"}' });
    const submitted = await submitting;
    expect(submitted.status, submitted.text).toBe(200);
    expect(submitted.json).toMatchObject({ success: true, status: 'processing' });
    expect((await payByPhone(other, paying, msisdn, key)).text).toBe(submitted.text);
    expectRefusal(await payByPhone(other, paying, msisdn), 401, '1001', 'SESSION_CONSUMED');
    await onlyHook(other, paying);
    expect(hooksAbout(other, paying.transaction_id).map(({ body }) => body.status)).toEqual(['approved']);
    expect((await other.gateway.store.account.get(shop.merchant.shard, 'transit:mtn-momo:usd'))?.balance).toBe(-12_50n);
  } finally {
    await other.close();
    await carrier.close();
  }
});

test('the books balance after all of this', async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
