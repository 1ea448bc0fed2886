/** Google Pay and Apple Pay: the token pays at collect, once, whatever is lost on the way. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LATE_WAITS } from '../../src/domain/reason.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { capturesOf } from '../support/card-payments.ts';
import { expectRefusal } from '../support/envelope.ts';
import {
  collect,
  collectWith,
  detailOf,
  type Fields,
  freshKey,
  hooksAbout,
  numberEnding,
  payByPhone,
  payFromWallet,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { attemptOf, carrierAsked, onlyHook } from '../support/phone-payments.ts';
import { rowsOf, tablesOf } from '../support/rows.ts';
import { openSecond, quiet, type Second } from '../support/second-gateway.ts';
import { until, untilLater, whileTimePasses } from '../support/waiting.ts';
import { openWire, type Wire } from '../support/wire.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await world.merchant();
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await world.close();
});

interface Paid {
  readonly answer: Answer;
  readonly token: string;
  readonly transaction_id: string;
}

function bodyOf(native: string, more: Fields = {}): Fields {
  return collectBody(world, 'google_pay', {
    native_pay_token: native,
    native_pay_token_type: 'PAYMENT_GATEWAY',
    ...more,
  });
}

function collectBy(token: string, native: string, more: Fields = {}, headers = {}): Promise<Answer> {
  return world.call('POST', '/payments/collect', { bearer: token, body: bodyOf(native, more), headers });
}

async function pay(native: string, more: Fields = {}): Promise<Paid> {
  const { token } = await mint(world, merchant, { ttl_seconds: 7_200 });
  const answer = await collectBy(token, native, more);
  expect(answer.status, answer.text).toBe(200);
  return { answer, token, transaction_id: answer.json.transaction_id };
}

/** Resolves when the network has answered, without any time passing. */
async function settled(paid: Omit<Paid, 'answer'>, wanted: string): Promise<void> {
  await until(async () => ((await statusOf(world, paid)) === wanted ? true : undefined));
}

/** Resolves when the network was called, and its answer proved nothing. */
async function unsure(paid: Paid): Promise<void> {
  await until(async () => {
    // Real work over a socket, which lets the other side run.
    expect(await statusOf(world, paid)).toBe('pending');
    return (await attemptOf(world, paid)).status === 'unknown' ? true : undefined;
  });
}

describe('the database’s answer to the collect’s commit is lost', () => {
  let wire: Wire;
  /** Another process, whose database is behind the wire. */
  let second: Second;
  beforeAll(async () => {
    wire = await openWire(world.databaseUrl);
    second = await openSecond(world, manualClock(0), wire.url);
  });
  afterAll(async () => {
    await second.close();
    await wire.close();
  });

  test.each([
    ['with an Idempotency-Key', (key: string) => ({ 'idempotency-key': key })],
    ['without one', () => ({})],
  ])('%s: the token is sent all the same, once', async (_name, headersOf) => {
    const headers = headersOf('once');
    const { token: before } = await mint(world, merchant);
    // From now on its statements are prepared: one commit is one answer of the database.
    const warm = JSON.parse((await collectSecond(before, headersOf('before'))).text);
    await settled({ token: before, transaction_id: warm.transaction_id }, 'approved');
    const { token } = await mint(world, merchant);
    await quiet(world, second);
    wire.hold('commit');
    const asked = collectSecond(token, headers);
    await wire.kept();
    // It is written, but not acknowledged.
    expectRefusal(await collectBy(token, 'tok_approved'), 401, '1001', 'SESSION_CONSUMED');
    wire.cut();
    wire.release();
    const first = await whileTimePasses(world, asked);
    expect(first.status, first.text).toBe(200);
    const { transaction_id } = JSON.parse(first.text);
    await settled({ token, transaction_id }, 'approved');
    const again = await collectBy(token, 'tok_approved', { notify_url: undefined }, headers);
    if (Object.keys(headers).length === 0) expectRefusal(again, 401, '1001', 'SESSION_CONSUMED');
    else expect(again.text).toBe(first.text);
    expect(capturesOf(world, { transaction_id })).toMatchObject([{ times: 1 }]);
  });

  test('the payment was given up before the collect learns that it was written: no token is sent', async () => {
    const { token: before } = await mint(world, merchant);
    const warm = JSON.parse((await collectSecond(before, {})).text);
    await settled({ token: before, transaction_id: warm.transaction_id }, 'approved');
    const { token } = await mint(world, merchant, { ttl_seconds: 7_200 });
    await quiet(world, second);
    const taken = world.sandbox.book.lines({}).length;
    wire.hold('commit');
    const asked = collectSecond(token, {});
    await wire.kept();
    // The other process inquires about what it finds written, and the network knows nothing of it.
    const [row] = await rowsOf<{ id: string }>(world, 'select id from payment order by id desc limit 1');
    const transaction_id = row?.id ?? '';
    await untilLater(
      world,
      async () => ((await attemptOf(world, { transaction_id })).settled_at === null ? undefined : true),
      60_000,
    );
    wire.cut();
    wire.release();
    expect((await whileTimePasses(world, asked)).status).toBe(503);
    await second.gateway.dispatcher.idle();
    expect(world.sandbox.book.lines({})).toHaveLength(taken);
  });

  test('one key at two processes at once: the one whose commit loses sends no token', async () => {
    const headers = { 'idempotency-key': 'both' };
    const { token: before } = await mint(world, merchant);
    const warm = JSON.parse((await collectSecond(before, {})).text);
    await settled({ token: before, transaction_id: warm.transaction_id }, 'approved');
    const { token } = await mint(world, merchant);
    await quiet(world, second);
    const taken = world.sandbox.book.lines({}).length;
    // Both have read that the key is new, and decided.
    const stalled = new Promise<void>((resolve) => {
      wire.judge = (line) => {
        if (line === 'commit') {
          wire.stall();
          resolve();
        }
        return 'carried';
      };
    });
    const asked = collectSecond(token, headers);
    await stalled;
    const won = await collectBy(token, 'tok_approved', { notify_url: undefined }, headers);
    await settled({ token, transaction_id: won.json.transaction_id }, 'approved');
    wire.judge = undefined;
    wire.resume();
    expect((await asked).text).toBe(won.text);
    await second.gateway.stop();
    expect(capturesOf(world, { transaction_id: won.json.transaction_id })).toMatchObject([{ times: 1 }]);
    expect(world.sandbox.book.lines({})).toHaveLength(taken + 1);
  });

  /** The collect at the other process. */
  async function collectSecond(token: string, headers: Readonly<Record<string, string>>) {
    const answer = await fetch(`${second.url}/api/v1/payments/collect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      // Without a webhook, nothing is written after the money.
      body: JSON.stringify(bodyOf('tok_approved', { notify_url: undefined })),
    });
    return { status: answer.status, text: await answer.text() };
  }
});

describe('a token pays at collect', () => {
  test('the message of a pending payment does not ask anyone to pay', async () => {
    const language = { 'accept-language': 'en' };
    const { token } = await mint(world, merchant);
    world.sandbox.faults.set('cardnet', { error_rate: 1 });
    const answer = await collectBy(token, 'tok_approved', {}, language);
    const { payment_id, transaction_id, message } = answer.json;
    expect(answer.json).toMatchObject({ status: 'pending' });
    expect(message).toBe('The payment is being processed. Please wait; there is no need to pay again.');
    const read = (path: string): Promise<Answer> => world.call('GET', path, { bearer: token, headers: language });
    expect((await read(`/payments/transaction/${transaction_id}`)).json).toMatchObject({ status: 'pending', message });
    const polled = await read(`/payments/mobile-money/status/${payment_id}`);
    expect(polled.json.message).toBe('The payment is on its way. Confirm it on your phone if you are asked to.');
  });

  test.each(['google_pay', 'apple_pay'])(
    '%s: pending at once, approved a moment later, told, taken once',
    async (method) => {
      const paid = await pay('tok_approved', { payment_method: method });
      expect(paid.answer.json).toMatchObject({ success: true, status: 'pending', amount: '12.50' });
      await settled(paid, 'approved');
      expect((await onlyHook(world, paid)).body).toMatchObject({ status: 'approved', amount: '12.50' });
      expect(capturesOf(world, paid)).toMatchObject([{ amount: '12.50', currency: 'usd', times: 1 }]);
      const detail = await detailOf(world, paid);
      expect(detail.payment_method).toBe(method);
      expect(detail.timeline.map((line: { status: string }) => line.status)).toEqual(['pending', 'approved']);
      // The collect was the submit.
      expectRefusal(await collectBy(paid.token, 'tok_approved'), 401, '1001', 'SESSION_CONSUMED');
    },
  );

  test('declined: declined, told, and nothing is taken', async () => {
    const paid = await pay('tok_declined');
    await settled(paid, 'declined');
    expect((await onlyHook(world, paid)).body.status).toBe('declined');
    expect(capturesOf(world, paid)).toEqual([]);
  });

  test.each(['tok_unavailable', 'tok_nonsense'])('%s was certainly not taken: failed, and told', async (token) => {
    const paid = await pay(token);
    await settled(paid, 'failed');
    expect((await onlyHook(world, paid)).body.status).toBe('failed');
    expect(capturesOf(world, paid)).toEqual([]);
  });

  test('the network does not know the outcome: inquired about, approved, taken once', async () => {
    const paid = await pay('tok_timeout');
    await unsure(paid);
    await untilStatus(world, paid, 'approved', 10_000);
    expect(capturesOf(world, paid)).toMatchObject([{ times: 1 }]);
    await onlyHook(world, paid);
  });

  test('the network fails and does not know the order: failed by inquiry, and nothing is taken', async () => {
    world.sandbox.faults.set('cardnet', { error_rate: 1 });
    const paid = await pay('tok_approved');
    await unsure(paid);
    world.sandbox.faults.clear();
    await untilStatus(world, paid, 'failed', 30_000);
    expect((await onlyHook(world, paid)).body.status).toBe('failed');
    expect(capturesOf(world, paid)).toEqual([]);
  });

  test('money that came after it had failed is told to whoever reads it', async () => {
    const paid = await pay('tok_timeout');
    await unsure(paid);
    world.sandbox.faults.set('cardnet', { error_rate: 1 });
    const asked = async () => ((await attemptOf(world, paid)).inquiries > 1 ? true : undefined);
    await untilLater(world, asked, 15_000);
    const { id } = await attemptOf(world, paid);
    const verdict = { paid: false, providerReference: null, by: 'amina', why: 'not on their statement' };
    expect(await decideAttempt(world.gateway.deps, id, verdict)).toMatchObject({ orderStatus: 'failed' });
    world.sandbox.faults.clear();
    const came = async () => ((await attemptOf(world, paid)).reason === LATE_WAITS ? true : undefined);
    await untilLater(world, came, 20 * 60_000);
    const { message, ...rest } = await detailOf(world, paid);
    expect(rest).toMatchObject({ status: 'failed', late_payments: [{ amount: '12.50', booked_to: null }] });
    expect(message).toContain('Do not pay again');
  });

  test('it outlives its session: a payment with an attempt never expires by time', async () => {
    world.sandbox.faults.set('cardnet', { answer_lost_rate: 1 });
    const { token } = await mint(world, merchant, { ttl_seconds: 30 });
    const answer = await collectBy(token, 'tok_approved');
    const paid = { answer, token, transaction_id: answer.json.transaction_id };
    await unsure(paid);
    await world.pass(60_000);
    world.sandbox.faults.clear();
    await untilLater(world, async () => hooksAbout(world, paid.transaction_id)[0], 5_000);
    expect((await onlyHook(world, paid)).body.status).toBe('approved');
  });
});

describe('one session pays once', () => {
  test('its other open payments end, and can no longer be submitted', async () => {
    const { token } = await mint(world, merchant);
    const sibling = await collectWith(world, token);
    const answer = await collectBy(token, 'tok_approved');
    expect(answer.status, answer.text).toBe(200);
    await settled({ token, transaction_id: answer.json.transaction_id }, 'approved');
    expect(await statusOf(world, { token, ...sibling })).toBe('cancelled');
    const wallet = await world.wallet();
    expectRefusal(await payFromWallet(world, { token, ...sibling }, wallet), 401, '1001', 'SESSION_CONSUMED');
  });

  test('of ten collects at once, one is accepted', async () => {
    const { token } = await mint(world, merchant);
    const answers = await Promise.all(Array.from({ length: 10 }, () => collectBy(token, 'tok_approved')));
    const made = answers.filter(({ status }) => status === 200);
    expect(made).toHaveLength(1);
    const [answer] = made;
    if (answer === undefined) throw new Error('none was made');
    await settled({ token, transaction_id: answer.json.transaction_id }, 'approved');
    expect(capturesOf(world, { transaction_id: answer.json.transaction_id })).toMatchObject([{ times: 1 }]);
    for (const other of answers.filter(({ status }) => status !== 200)) expectRefusal(other, 401, '1001');
  });

  test('a collect that another submit holds up is not remembered: its key pays once that submit has failed', async () => {
    // From now on the gateway holds the carrier's token: the next request is the one for money.
    expect((await payByPhone(world, await collect(world, merchant), numberEnding('42'))).status).toBe(200);
    const paying = await collect(world, merchant);
    world.sandbox.faults.set('mtn', { delay_ms: 5_000, refuse_rate: 1 });
    const asked = carrierAsked(world);
    const submitting = payByPhone(world, paying, numberEnding('01'));
    await asked;
    const key = freshKey();
    const held = await collectBy(paying.token, 'tok_approved', {}, key);
    expectRefusal(held, 409, '1203', 'IN_PROGRESS');
    expect(held.json).toMatchObject({ retryable: true, retry_after: 5, transaction_id: paying.transaction_id });
    expectRefusal(await whileTimePasses(world, submitting, 500), 502, '1404');
    const paid = await collectBy(paying.token, 'tok_approved', {}, key);
    expect(paid.status, paid.text).toBe(200);
    const { transaction_id } = paid.json;
    await settled({ token: paying.token, transaction_id }, 'approved');
    expect((await collectBy(paying.token, 'tok_approved', {}, key)).text).toBe(paid.text);
    expect(capturesOf(world, { transaction_id })).toMatchObject([{ times: 1 }]);
    expect(await statusOf(world, paying)).toBe('cancelled');
  });

  test('the same key sends the token once', async () => {
    const { token } = await mint(world, merchant);
    const headers = { 'idempotency-key': 'native-once' };
    const [first, second] = await Promise.all([
      collectBy(token, 'tok_approved', {}, headers),
      collectBy(token, 'tok_approved', {}, headers),
    ]);
    expect(second.text).toBe(first.text);
    expectRefusal(await collectBy(token, 'tok_declined', {}, headers), 409, '1203', 'IDEMPOTENCY_BODY');
    await settled({ token, transaction_id: first.json.transaction_id }, 'approved');
    expect(capturesOf(world, { transaction_id: first.json.transaction_id })).toMatchObject([{ times: 1 }]);
  });
});

describe('the token', () => {
  test('is not sent for an amount with more digits than the network takes (1202): the session may pay otherwise', async () => {
    const { token } = await mint(world, merchant, { amount: '1000000000000.00' });
    const refused = await collectBy(token, 'tok_approved');
    expectRefusal(refused, 402, '1202', 'AMOUNT_ABOVE_MAXIMUM');
    expect(refused.json.details[0].message).toContain('999999999999.99');
    await collectWith(world, token);
  });

  test('and its type are required, and reported together', async () => {
    const { token } = await mint(world, merchant);
    const bare = await world.call('POST', '/payments/collect', {
      bearer: token,
      body: collectBody(world, 'apple_pay'),
    });
    expectRefusal(bare, 400, '1109', 'REQUIRED');
    expect(bare.json.details.map(({ field }: { field: string }) => field)).toEqual([
      'native_pay_token',
      'native_pay_token_type',
    ]);
    expectRefusal(await collectBy(token, ''), 400, '1109', 'REQUIRED');
    expectRefusal(await collectBy(token, 'x'.repeat(65_537)), 400, '1110', 'TOO_LONG');
    expectRefusal(await collectBy(token, 'x', { native_pay_token_type: 'y'.repeat(65) }), 400, '1110', 'TOO_LONG');
  });

  test('appears in no log line, no row and no answer', async () => {
    const secret = 'token-that-nobody-may-ever-see-again';
    const paid = await pay(secret);
    await settled(paid, 'failed');
    expect(paid.answer.text).not.toContain(secret);
    expect(JSON.stringify(world.log.lines)).not.toContain(secret);
    const rows = await everything();
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

/** Every row of every table, as text. */
async function everything(): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const name of await tablesOf(world))
    found.push(...(await rowsOf(world, `select t::text as row from ${name} t`)));
  return found;
}
