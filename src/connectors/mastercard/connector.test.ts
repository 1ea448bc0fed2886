/**
 * The card connector against the sandbox's card network, over real HTTP, and against one that misbehaves.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Outbound } from '../../platform/platform.ts';
import { MISBEHAVIOURS } from '../testing/scripted-upstream.ts';
import { createMastercard } from './connector.ts';
import { accountOf } from './reference.ts';
import { CAUSES, GATEWAY_CODES, TAKEN } from './statuses.ts';
import { BROWSER, type CardWorld, CREDENTIALS, id, openCardWorld } from './testing/card-world.ts';

let world: CardWorld;

beforeAll(async () => {
  world = await openCardWorld();
});
afterEach(() => world.clear());
afterAll(async () => {
  await world.close();
  // Nothing that was entered or sent appears in the log.
  const lines = JSON.stringify(world.log.lines);
  for (const secret of ['5123450000000008', '4508750015741019', 'sandbox-cardnet-password', 'tok_approved']) {
    expect(lines).not.toContain(secret);
  }
});

describe('a reference', () => {
  test('belongs to one attempt, and leads back to it', () => {
    const attempt = id('att');
    expect(world.connector.referenceFor(attempt)).toBe(world.connector.referenceFor(attempt));
    expect(world.connector.referenceFor(attempt)).not.toBe(world.connector.referenceFor(id('att')));
    expect(world.connector.referenceFor(attempt).length).toBeLessThanOrEqual(40);
    for (const reference of [world.connector.referenceFor(attempt), `${attempt}-3ds`]) {
      expect(world.connector.attemptOf(reference)).toBe(attempt);
    }
    for (const other of ['', '-3ds', 'x', id('txn'), `${attempt}-3ds-3ds`]) {
      expect(world.connector.attemptOf(other)).toBeUndefined();
    }
  });

  test('is within one merchant id at one host, whatever its port and path', () => {
    expect(world.connector.account).toMatch(/^[0-9a-f]{16}$/);
    const at = { baseUrl: 'https://cards.example/a', merchantId: 'ONE' };
    expect(accountOf({ ...at, baseUrl: 'https://cards.example:8443/b' })).toBe(accountOf(at));
    for (const other of [{ merchantId: 'TWO' }, { baseUrl: 'https://other.example/a' }])
      expect(accountOf({ ...at, ...other })).not.toBe(accountOf(at));
  });
});

describe('the customer is known', () => {
  test('without a challenge: authenticated, paid once, and found again', async () => {
    const order = await world.filled('pays');
    expect(await world.connector.authenticate(order, BROWSER)).toEqual({
      kind: 'authenticated',
      status: 'AUTHENTICATION_SUCCESSFUL',
      eci: '02',
    });
    expect(world.timesDebited(order)).toBe(0);
    const answer = await world.connector.pay(order);
    expect(answer).toMatchObject({ kind: 'approved', providerReference: expect.stringMatching(/\d/) });
    expect(await world.connector.inquire(world.inquiryOf(order))).toEqual(answer);
    expect(await world.connector.orderStatus(order.orderId)).toEqual({ status: 'CAPTURED', isTaken: true });
    expect(world.timesDebited(order)).toBe(1);
  });

  test('a card without 3-D Secure is authenticated as the network recommends', async () => {
    const { order, answer } = await world.paid('not_enrolled');
    expect(answer.kind).toBe('approved');
    expect(world.timesDebited(order)).toBe(1);
  });

  test('by a challenge: the issuer’s form as data, pending, then authenticated', async () => {
    const order = await world.filled('challenge');
    const said = await world.connector.authenticate(order, BROWSER);
    if (said.kind !== 'challenge') throw new Error(said.kind);
    expect(said.status).toBe('AUTHENTICATION_PENDING');
    expect(said.challenge?.action).toMatch(/^http:\/\/localhost:\d+\/cardnet\/acs\//);
    expect(said.challenge?.fields.map(({ name }) => name)).toEqual(['creq']);
    expect(await world.connector.authentication(order)).toMatchObject({ kind: 'challenge' });
    expect(await world.control(`challenges/${order.orderId}`, { result: 'pass' })).toBe(200);
    expect(await world.connector.authentication(order)).toMatchObject({ kind: 'authenticated', eci: '05' });
    expect((await world.connector.pay(order)).kind).toBe('approved');
    expect(world.timesDebited(order)).toBe(1);
  });

  test('or not: a failed, a timed-out and a rejected authentication', async () => {
    const failed = await world.filled('challenge');
    await world.connector.authenticate(failed, BROWSER);
    await world.control(`challenges/${failed.orderId}`, { result: 'fail' });
    expect(await world.connector.authentication(failed)).toMatchObject({
      kind: 'rejected',
      reason: 'authentication_failed',
    });
    const late = await world.filled('challenge');
    await world.connector.authenticate(late, BROWSER);
    world.time.advance(601_000);
    expect(await world.connector.authentication(late)).toMatchObject({ kind: 'rejected', reason: 'challenge_expired' });
    const rejected = await world.connector.authenticate(await world.filled('rejected'), BROWSER);
    expect(rejected).toMatchObject({ kind: 'rejected', reason: 'authentication_failed' });
    // A request for the money all the same gets none.
    expect((await world.connector.pay(failed)).kind).toBe('not_sent');
    expect(world.timesDebited(failed)).toBe(0);
  });
});

describe('the form', () => {
  test('is shown from an origin of its own', () => {
    expect(world.connector.form.origin).toBe('http://localhost:1');
    expect(world.connector.form.scriptUrl).toContain('/form/version/100/merchant/TESTMBONGO/session.js');
  });

  test('is opened only if the network has bound it to the order', async () => {
    const answer = (sessionId: string, status = 200) =>
      ({ kind: 'answered', status, headers: {}, body: JSON.stringify({ session: { id: sessionId } }) }) as const;
    const opening = async (...answers: ReturnType<typeof answer>[]) => {
      const request: Outbound['request'] = async () => answers.shift() ?? answer('', 500);
      const config = { ...CREDENTIALS, baseUrl: 'http://localhost:1', formUrl: 'http://localhost:1' };
      const outbound: Outbound = { request, refuses: () => undefined, close: async () => undefined };
      const connector = createMastercard(config, { log: world.log, outbound });
      return (await connector.openForm({ orderId: id('txn'), amountMinor: 1_250n, currency: 'usd' })).kind;
    };
    expect(await opening(answer('S1', 201), answer('S1'))).toBe('opened');
    for (const [created, bound] of [
      [answer('S1', 500), answer('S1')],
      [answer('S1'), answer('S1', 400)],
      [answer('S1'), answer('S2')],
    ] as const) {
      expect(await opening(created, bound)).toBe('not_opened');
    }
  });

  test('without a card, with another amount, or of another order cannot be used', async () => {
    const empty = await world.opened();
    expect(await world.connector.authenticate(empty, BROWSER)).toEqual({ kind: 'unusable', fault: 'no_card' });
    const changed = await world.filled('pays');
    await world.control('attacks', { order_id: changed.orderId, tamper_amount: '0.01' });
    expect(await world.connector.authenticate(changed, BROWSER)).toEqual({ kind: 'unusable', fault: 'changed' });
    const other = { ...(await world.opened()), sessionId: (await world.filled('pays')).sessionId };
    expect(await world.connector.authenticate(other, BROWSER)).toEqual({ kind: 'unusable', fault: 'changed' });
    const unknown = { ...empty, sessionId: 'SESSION0002NOTHING' };
    expect(await world.connector.authenticate(unknown, BROWSER)).toEqual({ kind: 'unusable', fault: 'ended' });
  });

  test('ends a quarter of an hour after it was opened, and cannot be used then', async () => {
    const order = await world.filled('pays');
    world.time.advance(15 * 60_000);
    expect(await world.connector.authenticate(order, BROWSER)).toEqual({ kind: 'unusable', fault: 'ended' });
    expect(await world.control(`sessions/${order.sessionId}`, {})).toBe(404);
  });

  test.each([
    [400, 'Form Session not found or expired.'],
    [404, 'Unable to find session.'],
  ])('has ended if the network says so with %i: %s', async (status, explanation) => {
    const body = JSON.stringify({ error: { cause: 'INVALID_REQUEST', explanation }, result: 'ERROR' });
    const connector = await world.facing({ status, body });
    const ended = await connector.authenticate(await world.opened(), BROWSER);
    expect(ended).toEqual({ kind: 'unusable', fault: 'ended' });
  });

  test('is not taken to have ended if the network refuses our credentials, or another server answers', async () => {
    const order = await world.opened();
    const refusal = { error: { cause: 'INVALID_REQUEST', explanation: 'Invalid credentials.' }, result: 'ERROR' };
    for (const [status, body] of [
      [401, JSON.stringify(refusal)],
      [404, '<html>'],
      [404, '{}'],
      [400, JSON.stringify({ ...refusal, error: { cause: 'INVALID_REQUEST', explanation: 'Missing privilege.' } })],
    ] as const) {
      const reply = { status, body };
      expect((await (await world.facing(reply)).authenticate(order, BROWSER)).kind).toBe('not_sent');
    }
  });

  test('tampered with between authentication and PAY is refused by the network’s own amount', async () => {
    const order = await world.filled('pays');
    await world.connector.authenticate(order, BROWSER);
    const more = { ...order, amountMinor: 999_900n };
    expect((await world.connector.pay(more)).kind).toBe('not_sent');
    expect(world.timesDebited(order)).toBe(0);
  });
});

describe('PAY', () => {
  test('twice under one attempt moves money once, even at the same moment', async () => {
    const { order } = await world.paid('pays');
    expect((await world.connector.pay(order)).kind).toBe('approved');
    const racing = await world.filled('pays');
    await world.connector.authenticate(racing, BROWSER);
    await Promise.all([world.connector.pay(racing), world.connector.pay(racing)]);
    expect([world.timesDebited(order), world.timesDebited(racing)]).toEqual([1, 1]);
  });

  test('with a lost answer is unknown, and found by inquiry', async () => {
    const { order, answer } = await world.paid('lost');
    expect(answer.kind).toBe('unknown');
    expect((await world.connector.inquire(world.inquiryOf(order))).kind).toBe('approved');
    expect(world.timesDebited(order)).toBe(1);
  });

  test('to a network that is down was certainly not taken', async () => {
    const order = await world.filled('pays');
    await world.connector.authenticate(order, BROWSER);
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    expect((await world.connector.pay(order)).kind).toBe('not_sent');
    world.sandbox.faults.clear();
    expect(await world.connector.inquire(world.inquiryOf(order))).toEqual({ kind: 'not_found' });
    expect(world.timesDebited(order)).toBe(0);
  });

  test.each([
    ['declined', 'card_declined'],
    ['no_funds', 'card_funds'],
    ['expired', 'card_expired'],
  ] as const)('%s is a final no: %s', async (card, reason) => {
    const { order, answer } = await world.paid(card);
    expect(answer).toMatchObject({ kind: 'declined', reason });
    expect(await world.connector.inquire(world.inquiryOf(order))).toEqual(answer);
    expect(world.timesDebited(order)).toBe(0);
  });

  test.each([
    ['01/39', 'approved'],
    ['05/39', 'declined'],
    ['04/27', 'declined'],
    ['08/28', 'unknown'],
    ['01/37', 'unknown'],
    ['02/37', 'unknown'],
    ['05/37', 'unknown'],
  ])('a card that expires %s, as the network documents: %s', async (expiry, kind) => {
    expect((await world.paid('by_expiry', expiry)).answer.kind).toBe(kind);
  });

  test.each([
    ['tok_approved', 'approved', 1],
    ['tok_declined', 'declined', 0],
    ['tok_unavailable', 'not_sent', 0],
    ['tok_timeout', 'unknown', 1],
    ['nonsense', 'not_sent', 0],
  ] as const)('by the token %s: %s', async (token, kind, times) => {
    const order = { ...(await world.opened()), wallet: 'apple_pay', token } as const;
    expect((await world.connector.payByToken(order)).kind).toBe(kind);
    expect(world.timesDebited(order)).toBe(times);
    if (times === 1) expect((await world.connector.inquire(world.inquiryOf(order))).kind).toBe('approved');
  });
});

describe('an answer', () => {
  test('about something other than what was ordered is not trusted', async () => {
    const { order } = await world.paid('pays');
    const others = [
      { ...order, amountMinor: order.amountMinor + 1n },
      { ...order, currency: 'cdf' as const },
    ];
    for (const other of others) {
      expect((await world.connector.inquire(world.inquiryOf(other))).kind).toBe('unknown');
      expect((await world.connector.authentication(other)).kind).toBe('unknown');
    }
  });

  test('that the network does not know a reference counts only in its own words', async () => {
    const order = await world.opened();
    expect(await world.connector.inquire(world.inquiryOf(order))).toEqual({ kind: 'not_found' });
    const error = (explanation: string) => ({ error: { cause: 'INVALID_REQUEST', explanation }, result: 'ERROR' });
    const own = await world.facing({ status: 400, body: JSON.stringify(error('Unable to find transaction [x]')) });
    expect(await own.inquire(world.inquiryOf(order))).toEqual({ kind: 'not_found' });
    for (const body of [error('No such path'), { message: 'no route' }, 'not json']) {
      const other = await world.facing({ status: 404, body: JSON.stringify(body) });
      expect((await other.inquire(world.inquiryOf(order))).kind).toBe('unknown');
    }
  });

  test('is read for every gateway code and cause of the tables, and unfamiliar codes are unknown', async () => {
    const order = await world.opened();
    const bodyOf = (gatewayCode: string, result: string) =>
      JSON.stringify({
        order: { id: order.orderId, amount: 12.5, currency: 'USD' },
        transaction: { id: order.attemptId, amount: 12.5, currency: 'USD', receipt: '1' },
        response: { gatewayCode },
        result,
      });
    for (const [code, meaning] of Object.entries(GATEWAY_CODES)) {
      const result = meaning === 'approved' ? 'SUCCESS' : meaning === 'unknown' ? 'UNKNOWN' : 'FAILURE';
      const answer = await (await world.facing({ status: 201, body: bodyOf(code, result) })).pay(order);
      expect(answer.kind, code).toBe(meaning === 'approved' || meaning === 'unknown' ? meaning : 'declined');
      if (answer.kind === 'declined') expect(answer.reason).toBe(meaning);
      if (meaning === 'unknown') continue;
      // A code together with a result that does not belong to it means nothing.
      const odd = await world.facing({ status: 200, body: bodyOf(code, result === 'SUCCESS' ? 'FAILURE' : 'SUCCESS') });
      expect((await odd.pay(order)).kind, code).toBe('unknown');
    }
    for (const [cause, kind] of Object.entries(CAUSES)) {
      const body = JSON.stringify({ error: { cause, explanation: 'x' }, result: 'ERROR' });
      expect((await (await world.facing({ status: 500, body })).pay(order)).kind, cause).toBe(kind);
      expect((await (await world.facing({ status: 500, body })).inquire(world.inquiryOf(order))).kind, cause).toBe(
        'unknown',
      );
    }
    expect((await (await world.facing({ status: 200, body: bodyOf('MARVELLOUS', 'SUCCESS') })).pay(order)).kind).toBe(
      'unknown',
    );
  });

  test('about an order is in the network’s own terms, and says whether money was taken for it', async () => {
    const stands = async (status: unknown) =>
      (await world.facing({ status: 200, body: JSON.stringify({ status }) })).orderStatus(id('txn'));
    for (const status of TAKEN) expect(await stands(status)).toEqual({ status, isTaken: true });
    for (const status of [
      'INITIATED',
      'AUTHENTICATED',
      'AUTHENTICATION_UNSUCCESSFUL',
      'FAILED',
      'CANCELLED',
      'NEW_WORD',
    ]) {
      expect(await stands(status)).toEqual({ status, isTaken: false });
    }
    for (const none of [undefined, 7, 'no term']) expect(await stands(none)).toBeUndefined();
    expect(await (await world.facing({ status: 404, body: '{"status":"CAPTURED"}' })).orderStatus(id('txn'))).toBe(
      undefined,
    );
  });

  test.each([
    [{ kind: 'paid', refunded: 'nothing' }, 'CAPTURED'],
    [{ kind: 'paid', refunded: 'part' }, 'PARTIALLY_REFUNDED'],
    [{ kind: 'paid', refunded: 'all' }, 'REFUNDED'],
    [{ kind: 'declined', reason: 'card_declined' }, 'FAILED'],
    [{ kind: 'declined', reason: 'card_funds' }, 'FAILED'],
    [{ kind: 'declined', reason: 'card_expired' }, 'FAILED'],
    [{ kind: 'declined', reason: 'authentication_failed' }, 'AUTHENTICATION_UNSUCCESSFUL'],
    [{ kind: 'declined', reason: 'challenge_expired' }, 'AUTHENTICATION_UNSUCCESSFUL'],
    [{ kind: 'declined', reason: null }, 'AUTHENTICATION_UNSUCCESSFUL'],
  ] as const)('for a payment that ended so (%j) is %s, without an inquiry', (end, status) => {
    expect(world.connector.statusForEnd(end)).toBe(status);
  });

  test.each(MISBEHAVIOURS)(
    'from an upstream that misbehaves (%s) becomes one of our own, and nothing is thrown',
    async (reply) => {
      const order = await world.opened();
      const bad = await world.facing(reply);
      expect((await bad.pay(order)).kind).toBe(reply === 'refuses_connections' ? 'not_sent' : 'unknown');
      expect((await bad.inquire(world.inquiryOf(order))).kind).toBe('unknown');
      expect((await bad.openForm(order)).kind).toBe('not_opened');
      expect(['not_sent', 'unknown']).toContain((await bad.authenticate(order, BROWSER)).kind);
      expect(['not_sent', 'unknown']).toContain((await bad.authentication(order)).kind);
      expect(await bad.orderStatus(order.orderId)).toBeUndefined();
    },
  );
});
