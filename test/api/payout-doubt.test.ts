/**
 * Payout lines and what can go wrong between their steps: processes that die or are suspended, answers that are lost, two
 * processes that want the same line, a carrier that changes its answer. Whatever happens, a line is paid once.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import type { PayoutLine } from '../../src/domain/outgoing-records.ts';
import { START_LEASE_MS } from '../../src/domain/payout.ts';
import { intendLine } from '../../src/domain/payout-outgoing.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import { newAttempt } from '../../src/usecases/attempt-intend.ts';
import { callbackUrl } from '../../src/usecases/callback-url.ts';
import { newId } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { startDue } from '../../src/usecases/payout-claim.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { openFickleCarrier } from '../support/fickle-carrier.ts';
import { bearerOf, freshKey, numberEnding } from '../support/flows.ts';
import {
  availableOf,
  commitBatch,
  creditsOf,
  expectPayoutBooksAgree,
  lineNow,
  openPayer,
  payoutHooks,
  untilLine,
} from '../support/payout-lines.ts';
import { callBack, carrierAsked } from '../support/phone-payments.ts';
import { rowsOf } from '../support/rows.ts';
import { openSecond, quiet, type Second } from '../support/second-gateway.ts';
import { until, untilLater, whileTimePasses } from '../support/waiting.ts';
import { openWire, type Wire } from '../support/wire.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let wire: Wire;
/** A gateway whose database is behind the wire. */
let behind: Second;

beforeAll(async () => {
  world = await openWorld();
  wire = await openWire(world.databaseUrl);
  behind = await openSecond(world, manualClock(0), wire.url);
});
// It then holds a token, and its statements are prepared: one commit is one answer of the database.
beforeEach(async () => {
  const payer = await openPayer(world);
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('01') }], { gateway: behind.gateway });
  await untilLine(world, line, 'completed');
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

const lastAttempt = async (line: PayoutLine): Promise<Attempt> =>
  until(async () => {
    const { attempt_id: id } = await lineNow(world, line);
    return id === null ? undefined : world.gateway.store.attempt.get(line.shard, id);
  });

const attemptsOf = async (line: PayoutLine): Promise<string[]> => {
  const rows = await rowsOf<{ status: string }>(world, 'select status from attempt where payment_id = $1 order by id', [
    line.id,
  ]);
  return rows.map(({ status }) => status);
};

test('a process that dies between the intention and the call: inquired about, not found twice, sent again, once', async () => {
  const payer = await openPayer(world);
  const msisdn = numberEnding('01');
  const [line] = await commitBatch(world, payer, [{ msisdn }], { nextStartAt: null });
  const { deps, store } = world.gateway;
  const connector = deps.connectors.payout('mtn-momo');
  if (connector === undefined) throw new Error('there is no carrier');
  const now = deps.clock.now();
  const attempt = newAttempt(
    newId(deps, 'att', line.shard),
    {
      shard: line.shard,
      merchant_id: line.merchant_id,
      purpose: 'payout',
      payment_id: line.id,
      currency: line.currency,
    },
    { amount_minor: line.amount_minor, fee_minor: 0n },
    { connector, method: 'mobile_money', carrier: 'Vodacom M-Pesa', msisdn, callLifeMs: 20_000 },
    now,
  );
  const intended = intendLine(line, attempt, { now, newId: (prefix, shard) => newId(deps, prefix, shard) });
  expect(await store.commit(intended.change)).toBe('won');
  await world.pass(19_000);
  expect((await lastAttempt(line)).inquiries).toBe(0);
  expect((await lineNow(world, line)).status).toBe('processing');
  await untilLine(world, line, 'completed');
  expect(await attemptsOf(line)).toEqual(['not_sent', 'approved']);
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  expect(await payoutHooks(world, line)).toHaveLength(1);
  await expectPayoutBooksAgree(world, payer);
});

test('two processes that want the same lines: each line is sent by one of them', async () => {
  const payer = await openPayer(world, 10_000_00n);
  const numbers = Array.from({ length: 100 }, () => numberEnding('01'));
  const payees = numbers.map((msisdn) => ({ msisdn, amount: '1.00' }));
  const second = await openSecond(world, manualClock(0));
  const lines = await commitBatch(world, payer, payees, { nextStartAt: world.clock.now() });
  const both = [world.gateway, second.gateway];
  const found = await Promise.all(both.map(({ deps, dispatcher }) => startDue(deps, dispatcher)));
  expect(found.reduce((sum, one) => sum + one, 0)).toBe(100);
  // The same lines, once more, from two memories.
  for (const line of lines) for (const { dispatcher } of both) dispatcher.offer({ ...line, next_start_at: Infinity });
  await Promise.all(both.map(({ dispatcher }) => dispatcher.idle()));
  await untilLater(world, async () =>
    (await Promise.all(lines.map((line) => lineNow(world, line)))).every(({ status }) => status === 'completed')
      ? true
      : undefined,
  );
  for (const msisdn of numbers) expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  const made = await rowsOf<{ count: number }>(world, `select count(*)::int from attempt where merchant_id = $1`, [
    payer.merchant.id,
  ]);
  expect(made).toEqual([{ count: 100 }]);
  await expectPayoutBooksAgree(world, payer);
  await second.close();
});

test.each([
  ['phone', async () => ({ msisdn: numberEnding('01') })],
  ['wallet', async () => ({ wallet: (await world.wallet({ balance: 0n })).number })],
])('a line to a %s that another process has leased since we did is left to that process', async (_name, payee) => {
  const payer = await openPayer(world);
  const now = world.clock.now();
  const [line] = await commitBatch(world, payer, [await payee()], { nextStartAt: now });
  const { deps, store } = world.gateway;
  const leased = async (until: number): Promise<PayoutLine> => {
    const due = await store.payoutLine.leaseDue(now, until, 100, []);
    const found = due.find(({ id }) => id === line.id);
    if (found === undefined) throw new Error('the line is not due');
    return found;
  };
  const ours = await leased(now);
  const theirs = await leased(now + START_LEASE_MS);
  await startLine(deps, ours, payer.merchant);
  expect(await lineNow(world, line)).toEqual(theirs);
  await startLine(deps, theirs, payer.merchant);
  expect(await untilLine(world, line, 'completed')).toMatchObject({ tries: 1 });
  await expectPayoutBooksAgree(world, payer);
});

/** A line that the gateway behind the wire starts, suspended after its attempt is written and before that is acknowledged. */
async function startAsleep(msisdn: string) {
  const payer = await openPayer(world);
  const { deps, dispatcher } = behind.gateway;
  const [line] = await commitBatch(world, payer, [{ msisdn }], { nextStartAt: world.clock.now() });
  wire.hold('commit');
  const started = startDue(deps, dispatcher);
  await wire.kept();
  expect(await lastAttempt(line)).toMatchObject({ status: 'intended', created_at: world.clock.now() });
  return { payer, line, started };
}

test('an intention whose commit is not acknowledged: it continues, and the carrier is called once', async () => {
  const msisdn = numberEnding('01');
  const { payer, line, started } = await startAsleep(msisdn);
  wire.cut();
  wire.release();
  await whileTimePasses(world, started, 1);
  await untilLine(world, line, 'completed');
  expect(await attemptsOf(line)).toEqual(['approved']);
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  await expectPayoutBooksAgree(world, payer);
});

test('an intention in doubt, closed meanwhile by a process whose clock is fast, is not sent: its line is, once', async () => {
  const msisdn = numberEnding('01');
  const { payer, line, started } = await startAsleep(msisdn);
  const { deps } = world.gateway;
  for (const aheadMs of [30_000, 120_000]) {
    const clock = { ...deps.clock, now: () => deps.clock.now() + aheadMs };
    await inquireAttempt({ ...deps, clock }, await lastAttempt(line), 'due');
  }
  expect(await attemptsOf(line)).toEqual(['not_sent']);
  wire.cut();
  wire.release();
  await whileTimePasses(
    world,
    started.then(() => behind.gateway.dispatcher.idle()),
    1,
  );
  expect(creditsOf(world, msisdn)).toEqual([]);
  await untilLine(world, line, 'completed');
  expect(await attemptsOf(line)).toEqual(['not_sent', 'approved']);
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  await expectPayoutBooksAgree(world, payer);
});

test('a process that is suspended after its intention sends nothing; the line is sent under another attempt', async () => {
  const msisdn = numberEnding('01');
  const { payer, line, started } = await startAsleep(msisdn);
  await world.clock.advance(5_001);
  wire.release();
  await whileTimePasses(
    world,
    started.then(() => behind.gateway.dispatcher.idle()),
    1,
  );
  expect(await lineNow(world, line)).toMatchObject({ status: 'pending', reason: 'not_sent' });
  expect(creditsOf(world, msisdn)).toEqual([]);
  await untilLine(world, line, 'completed');
  expect(await attemptsOf(line)).toEqual(['not_sent', 'approved']);
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  await expectPayoutBooksAgree(world, payer);
});

/** A call to pay, whose commit takes effect and is not acknowledged. */
async function sendInDoubt(payer: MerchantCreated, msisdn: string, headers: Readonly<Record<string, string>>) {
  const post = (to: string, key: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${behind.url}/api/v1/internal/payouts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearerOf(payer)}`, 'content-type': 'application/json', ...key },
      body: JSON.stringify({
        customer_reference: 'salaries',
        currency: 'usd',
        receipt_mode: 'mobile_money',
        notify_url: world.receiver.url,
        beneficiaries: [{ phone_number: to, amount: '10.00' }],
      }),
    });
  // A call before it prepares what it needs.
  const before = await post(numberEnding('01'), Object.keys(headers).length > 0 ? freshKey() : {});
  const { beneficiaries } = (await before.json()) as { beneficiaries: [{ transaction_id: string }] };
  const id = beneficiaries[0].transaction_id;
  await untilLine(world, { shard: shardOf(id), id }, 'completed');
  await quiet(world, behind);
  wire.hold('commit');
  const calling = post(msisdn, headers);
  await wire.kept();
  wire.cut();
  wire.release();
  return { first: await calling, again: () => post(msisdn, headers) };
}

test('a call in doubt without a key must not be repeated, and says so; with a key it may be, and pays once', async () => {
  const payer = await openPayer(world);
  const unkeyed = await sendInDoubt(payer, numberEnding('01'), {});
  expect([unkeyed.first.status, unkeyed.first.headers.get('retry-after')]).toEqual([503, null]);
  expect(await unkeyed.first.json()).toMatchObject({
    error_code: '1402',
    retryable: false,
    retry_after: null,
    details: [{ field: 'Idempotency-Key', code: 'IN_DOUBT' }],
  });
  const msisdn = numberEnding('01');
  const keyed = await sendInDoubt(payer, msisdn, freshKey());
  expect(await keyed.first.json()).toMatchObject({ error_code: '1402', retryable: true, retry_after: 1 });
  const again = await keyed.again();
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  await until(async () => {
    await world.pass(1_000);
    return creditsOf(world, msisdn).length > 0 ? true : undefined;
  });
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
});

test('an answer that cannot be recorded: the carrier is inquired at', async () => {
  const payer = await openPayer(world);
  const msisdn = numberEnding('01');
  const { deps, dispatcher } = behind.gateway;
  const [line] = await commitBatch(world, payer, [{ msisdn }], { nextStartAt: world.clock.now() });
  world.sandbox.faults.set('mtn', { delay_ms: 100, lose_callback_rate: 1 });
  const asked = carrierAsked(world);
  const started = startDue(deps, dispatcher);
  await asked;
  wire.refuse = true;
  wire.cut();
  world.sandbox.faults.clear();
  await whileTimePasses(world, Promise.all([started, dispatcher.idle()]), 500);
  await untilLine(world, line, 'completed');
  expect(await attemptsOf(line)).toEqual(['approved']);
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  await expectPayoutBooksAgree(world, payer);
});

test('05 is taken, never answered, and paid: the callback is heard first, and nothing comes after it', async () => {
  // The gateway that calls uses the world's clock, so that the test need not wait.
  const second = await openSecond(world, world.clock);
  const payer = await openPayer(world);
  const msisdn = numberEnding('05');
  const [line] = await commitBatch(world, payer, [{ msisdn }], { gateway: second.gateway });
  await until(async () => ((await lineNow(world, line)).status === 'processing' ? true : undefined));
  await untilLine(world, line, 'completed');
  await whileTimePasses(world, second.gateway.dispatcher.idle(), 1_000);
  expect(await attemptsOf(line)).toEqual(['approved']);
  expect(creditsOf(world, msisdn)).toMatchObject([{ times: 1 }]);
  await expectPayoutBooksAgree(world, payer);
  await second.close();
});

test('a carrier that said it had not taken a line, and pays it before it is sent again: it is not sent again', async () => {
  const carrier = await openFickleCarrier();
  const second = await openSecond(world, manualClock(0), world.databaseUrl, {
    env: { MTN_MOMO_BASE_URL: carrier.url },
  });
  const payer = await openPayer(world, 100_00n);
  const { deps, dispatcher } = second.gateway;
  const held = carrier.holdNext();
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('01') }], { gateway: second.gateway });
  await held.asked;
  held.answer({ status: 503, body: '' });
  await dispatcher.idle();
  const waiting = await lineNow(world, line);
  expect(waiting).toMatchObject({ status: 'pending', reason: 'not_sent' });
  carrier.say('SUCCESSFUL');
  const at = new URL(callbackUrl(deps, await lastAttempt(line)));
  expect(await callBack(`${second.url}${at.pathname}`, { status: 'SUCCESSFUL' })).toBe(200);
  expect(await lineNow(world, line)).toMatchObject({ status: 'completed', attempt_id: waiting.attempt_id, tries: 1 });
  await second.gateway.courier.idle();
  await world.pass(60_000);
  expect(await attemptsOf(line)).toEqual(['approved']);
  expect(await availableOf(world, payer)).toBe(89_90n);
  expect(await payoutHooks(world, line)).toHaveLength(1);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await second.close();
  await carrier.close();
});

test('a carrier that refused a line, and paid it all the same: the answer stands, and the line is not paid again', async () => {
  const carrier = await openFickleCarrier();
  const second = await openSecond(world, manualClock(0), world.databaseUrl, {
    env: { MTN_MOMO_BASE_URL: carrier.url },
  });
  const payer = await openPayer(world, 100_00n);
  const { deps, dispatcher } = second.gateway;
  const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('01') }], { gateway: second.gateway });
  await until(async () => ((await lineNow(world, line)).status === 'processing' ? true : undefined));
  await dispatcher.idle();
  const { pathname } = new URL(callbackUrl(deps, await lastAttempt(line)));
  for (const status of ['FAILED', 'SUCCESSFUL']) {
    carrier.say(status);
    expect(await callBack(`${second.url}${pathname}`, { status })).toBe(200);
  }
  expect(await lineNow(world, line)).toMatchObject({ status: 'failed', late_attempt_id: (await lastAttempt(line)).id });
  expect(await attemptsOf(line)).toEqual(['approved']);
  const path = `/internal/payouts/${line.batch_id}/retry`;
  for (const body of [{}, { transaction_ids: [line.id] }]) {
    const refused = await world.call('POST', path, { bearer: bearerOf(payer), body });
    expect([refused.status, refused.json?.details?.[0]?.code]).toEqual([409, 'TAKEN_AFTER_ALL']);
  }
  expect(await availableOf(world, payer)).toBe(100_00n);
  await second.gateway.courier.idle();
  expect(await payoutHooks(world, line)).toHaveLength(1);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await second.close();
  await carrier.close();
});

const PAID = { paid: true, providerReference: 'REF-1', by: 'amina', why: 'statement of the carrier' };

test('an operator closes a line about which the carrier says nothing: as paid, or not', async () => {
  const payer = await openPayer(world, 100_00n);
  const [paid, unpaid] = await commitBatch(world, payer, [
    { msisdn: numberEnding('04') },
    { msisdn: numberEnding('04') },
  ]);
  if (unpaid === undefined) throw new Error('two lines were made');
  for (const line of [paid, unpaid]) {
    await untilLater(world, async () => ((await lastAttempt(line)).status === 'waiting' ? true : undefined));
  }
  const decided = await decideAttempt(world.gateway.deps, (await lastAttempt(paid)).id, PAID);
  expect(decided).toMatchObject({ attempt: { status: 'approved' }, orderStatus: 'completed' });
  const verdict = { ...PAID, paid: false, providerReference: null };
  expect(await decideAttempt(world.gateway.deps, (await lastAttempt(unpaid)).id, verdict)).toMatchObject({
    attempt: { status: 'declined' },
    orderStatus: 'failed',
  });
  expect(await lineNow(world, paid)).toMatchObject({ provider_reference: 'REF-1', reason: 'settled_by_operator' });
  expect(await lineNow(world, unpaid)).toMatchObject({ reason: 'settled_by_operator', reserved_at: null });
  expect(await availableOf(world, payer)).toBe(89_90n);
  await world.pass(0);
  for (const line of [paid, unpaid]) expect(await payoutHooks(world, line)).toHaveLength(1);
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
});
