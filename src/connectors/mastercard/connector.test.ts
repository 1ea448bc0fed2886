/**
 * The card connector against the sandbox's card network, over real HTTP, and against one that misbehaves.
 *
 * Invariant: a check speaks the words of the contract; cards are typed at the network's own controls.
 */

import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../../sandbox/app.ts';
import { type ManualWorld, manualWorld } from '../../../sandbox/testing/manual-world.ts';
import { makeId, type Prefix } from '../../domain/ids.ts';
import { memoryLog } from '../../platform/log.ts';
import { createOutbound } from '../../platform/outbound.ts';
import type { Outbound } from '../../platform/platform.ts';
import { MISBEHAVIOURS } from '../conformance.ts';
import type { Answer, CardBrowser, CardConnector, CardOrder } from '../connector.ts';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from '../scripted-upstream.ts';
import { createMastercard } from './connector.ts';
import { CAUSES, GATEWAY_CODES } from './statuses.ts';

const log = memoryLog();
const door = createOutbound({ allowLoopback: true, requireHttps: false });

/** The real door with deadlines that a test can wait for. */
const hurried: Outbound = {
  ...door,
  request: (request) => door.request({ ...request, timeout: Math.min(request.timeout, 400) }),
};

const credentials = { merchantId: 'TESTMBONGO', apiPassword: 'sandbox-cardnet-password', apiVersion: 100 };
const browser: CardBrowser = {
  accept: 'text/html',
  userAgent: 'Mozilla/5.0 (test)\u0007',
  language: 'fr-CD,fr;q=0.9',
  address: '192.0.2.7',
  returnUrl: 'http://127.0.0.1:9/api/v1/payments/card/3ds-callback?t=1',
};

let time: ManualWorld;
let sandbox: Sandbox;
let url: string;
let connector: CardConnector;
const upstreams: ScriptedUpstream[] = [];

beforeAll(async () => {
  time = manualWorld();
  sandbox = await createSandbox({ seed: 'conformance', now: time.now, schedule: time.schedule });
  await sandbox.app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(sandbox.app.server.address() as AddressInfo).port}`;
  connector = connectorAt(`${url}/cardnet`, door);
});
afterEach(async () => {
  sandbox.faults.clear();
  for (const upstream of upstreams.splice(0)) await upstream.close();
});
afterAll(async () => {
  await door.close();
  await sandbox.app.close();
  // Nothing that was typed or sent stands in the log.
  const lines = JSON.stringify(log.lines);
  for (const secret of ['5123450000000008', '4508750015741019', 'sandbox-cardnet-password', 'tok_approved']) {
    expect(lines).not.toContain(secret);
  }
});

function connectorAt(baseUrl: string, outbound: Outbound): CardConnector {
  return createMastercard({ ...credentials, baseUrl, formUrl: 'http://localhost:1/cardnet' }, { outbound, log });
}

let made = 0;
function id(prefix: Prefix): string {
  made += 1;
  const random = new Uint8Array(16);
  new DataView(random.buffer).setUint32(9, made);
  return makeId(prefix, Date.UTC(2026, 10, 20), random, 7);
}

const CARDS = {
  pays: '5123450000000008',
  challenge: '4508750015741019',
  declined: '5111111111111118',
  lost: '4000000000000119',
  not_enrolled: '2223000000000023',
  rejected: '4012000033330026',
  no_funds: '5200000000000007',
  expired: '5200000000000015',
  by_expiry: '2223000000000007',
} as const;

/** An order whose form is open, and empty. */
async function opened(): Promise<CardOrder> {
  const orderId = id('txn');
  const order = { orderId, amountMinor: 1_250n, currency: 'usd' } as const;
  const form = await connector.openForm(order);
  if (form.kind !== 'opened') throw new Error(form.reason);
  return { ...order, attemptId: id('att'), sessionId: form.sessionId, customerReference: 'order-1' };
}

/** An order whose form holds that card. */
async function filled(card: keyof typeof CARDS, expiry = '01/39'): Promise<CardOrder> {
  const order = await opened();
  const [expiry_month, expiry_year] = expiry.split('/');
  const body = { number: CARDS[card], expiry_month, expiry_year, security_code: '100' };
  expect(await control(`sessions/${order.sessionId}`, body)).toBe(200);
  return order;
}

async function control(path: string, body: object): Promise<number> {
  const answer = await fetch(`${url}/control/cardnet/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.status;
}

function inquiryOf({ orderId, attemptId, amountMinor, currency }: CardOrder) {
  return { orderId, attemptId, amountMinor, currency, reference: connector.referenceFor(attemptId) };
}

function timesDebited({ orderId }: Pick<CardOrder, 'orderId'>): number {
  const lines = sandbox.book.lines({}).filter(({ reference, kind }) => reference === orderId && kind === 'debit');
  return lines.reduce((sum, { times }) => sum + times, 0);
}

/** Authenticated, however that went, and asked for the money. */
async function paid(card: keyof typeof CARDS, expiry?: string): Promise<{ order: CardOrder; answer: Answer }> {
  const order = await filled(card, expiry);
  const said = await connector.authenticate(order, browser);
  if (said.kind === 'challenge') expect(await control(`challenges/${order.orderId}`, { result: 'pass' })).toBe(200);
  return { order, answer: await connector.pay(order) };
}

describe('a reference', () => {
  test('belongs to one attempt, and leads back to it', () => {
    const attempt = id('att');
    expect(connector.referenceFor(attempt)).toBe(connector.referenceFor(attempt));
    expect(connector.referenceFor(attempt)).not.toBe(connector.referenceFor(id('att')));
    expect(connector.referenceFor(attempt).length).toBeLessThanOrEqual(40);
    for (const reference of [connector.referenceFor(attempt), `${attempt}-3ds`]) {
      expect(connector.attemptOf(reference)).toBe(attempt);
    }
    for (const other of ['', '-3ds', 'x', id('txn'), `${attempt}-3ds-3ds`]) {
      expect(connector.attemptOf(other)).toBeUndefined();
    }
  });
});

describe('the customer is known', () => {
  test('without a challenge: authenticated, paid once, and found again', async () => {
    const order = await filled('pays');
    expect(await connector.authenticate(order, browser)).toEqual({
      kind: 'authenticated',
      status: 'AUTHENTICATION_SUCCESSFUL',
      eci: '02',
    });
    expect(timesDebited(order)).toBe(0);
    const answer = await connector.pay(order);
    expect(answer).toMatchObject({ kind: 'approved', providerReference: expect.stringMatching(/\d/) });
    expect(await connector.inquire(inquiryOf(order))).toEqual(answer);
    expect(await connector.orderStatus(order.orderId)).toBe('CAPTURED');
    expect(timesDebited(order)).toBe(1);
  });

  test('a card without 3-D Secure is authenticated as the network recommends', async () => {
    const { order, answer } = await paid('not_enrolled');
    expect(answer.kind).toBe('approved');
    expect(timesDebited(order)).toBe(1);
  });

  test('by a challenge: the issuer’s form as data, pending, then authenticated', async () => {
    const order = await filled('challenge');
    const said = await connector.authenticate(order, browser);
    if (said.kind !== 'challenge') throw new Error(said.kind);
    expect(said.status).toBe('AUTHENTICATION_PENDING');
    expect(said.challenge?.action).toMatch(/^http:\/\/localhost:\d+\/cardnet\/acs\//);
    expect(said.challenge?.fields.map(({ name }) => name)).toEqual(['creq']);
    expect(await connector.authentication(order)).toMatchObject({ kind: 'challenge' });
    expect(await control(`challenges/${order.orderId}`, { result: 'pass' })).toBe(200);
    expect(await connector.authentication(order)).toMatchObject({ kind: 'authenticated', eci: '05' });
    expect((await connector.pay(order)).kind).toBe('approved');
    expect(timesDebited(order)).toBe(1);
  });

  test('or not: a failed, a timed out and a rejected authentication', async () => {
    const failed = await filled('challenge');
    await connector.authenticate(failed, browser);
    await control(`challenges/${failed.orderId}`, { result: 'fail' });
    expect(await connector.authentication(failed)).toMatchObject({ kind: 'rejected', reason: 'authentication_failed' });
    const late = await filled('challenge');
    await connector.authenticate(late, browser);
    time.advance(601_000);
    expect(await connector.authentication(late)).toMatchObject({ kind: 'rejected', reason: 'challenge_expired' });
    const rejected = await connector.authenticate(await filled('rejected'), browser);
    expect(rejected).toMatchObject({ kind: 'rejected', reason: 'authentication_failed' });
    // Whoever asks for the money all the same gets none.
    expect((await connector.pay(failed)).kind).toBe('not_sent');
    expect(timesDebited(failed)).toBe(0);
  });
});

describe('the form', () => {
  test('is shown from an origin of its own', () => {
    expect(connector.form.origin).toBe('http://localhost:1');
    expect(connector.form.scriptUrl).toContain('/form/version/100/merchant/TESTMBONGO/session.js');
  });

  test('without a card, with another amount, or of another order cannot be used', async () => {
    const empty = await opened();
    expect(await connector.authenticate(empty, browser)).toEqual({ kind: 'unusable', fault: 'no_card' });
    const changed = await filled('pays');
    await control('attacks', { order_id: changed.orderId, tamper_amount: '0.01' });
    expect(await connector.authenticate(changed, browser)).toEqual({ kind: 'unusable', fault: 'changed' });
    const other = { ...(await opened()), sessionId: (await filled('pays')).sessionId };
    expect(await connector.authenticate(other, browser)).toEqual({ kind: 'unusable', fault: 'changed' });
    const unknown = { ...empty, sessionId: 'SESSION0002NOTHING' };
    expect((await connector.authenticate(unknown, browser)).kind).toBe('not_sent');
  });

  test('tampered with between authentication and PAY is refused by the network’s own amount', async () => {
    const order = await filled('pays');
    await connector.authenticate(order, browser);
    const more = { ...order, amountMinor: 999_900n };
    expect((await connector.pay(more)).kind).toBe('not_sent');
    expect(timesDebited(order)).toBe(0);
  });
});

describe('PAY', () => {
  test('twice under one attempt moves money once, also at the same moment', async () => {
    const { order } = await paid('pays');
    expect((await connector.pay(order)).kind).toBe('approved');
    const racing = await filled('pays');
    await connector.authenticate(racing, browser);
    await Promise.all([connector.pay(racing), connector.pay(racing)]);
    expect([timesDebited(order), timesDebited(racing)]).toEqual([1, 1]);
  });

  test('whose answer is lost is unknown, and found by inquiry', async () => {
    const { order, answer } = await paid('lost');
    expect(answer.kind).toBe('unknown');
    expect((await connector.inquire(inquiryOf(order))).kind).toBe('approved');
    expect(timesDebited(order)).toBe(1);
  });

  test('to a network that is down was certainly not taken', async () => {
    const order = await filled('pays');
    await connector.authenticate(order, browser);
    sandbox.faults.set('cardnet', { refuse_rate: 1 });
    expect((await connector.pay(order)).kind).toBe('not_sent');
    sandbox.faults.clear();
    expect(await connector.inquire(inquiryOf(order))).toEqual({ kind: 'not_found' });
    expect(timesDebited(order)).toBe(0);
  });

  test.each([
    ['declined', 'card_declined'],
    ['no_funds', 'card_funds'],
    ['expired', 'card_expired'],
  ] as const)('%s is a final no: %s', async (card, reason) => {
    const { order, answer } = await paid(card);
    expect(answer).toMatchObject({ kind: 'declined', reason });
    expect(await connector.inquire(inquiryOf(order))).toEqual(answer);
    expect(timesDebited(order)).toBe(0);
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
    expect((await paid('by_expiry', expiry)).answer.kind).toBe(kind);
  });

  test.each([
    ['tok_approved', 'approved', 1],
    ['tok_declined', 'declined', 0],
    ['tok_unavailable', 'not_sent', 0],
    ['tok_timeout', 'unknown', 1],
    ['nonsense', 'not_sent', 0],
  ] as const)('by the token %s: %s', async (token, kind, times) => {
    const order = { ...(await opened()), wallet: 'apple_pay', token } as const;
    expect((await connector.payByToken(order)).kind).toBe(kind);
    expect(timesDebited(order)).toBe(times);
    if (times === 1) expect((await connector.inquire(inquiryOf(order))).kind).toBe('approved');
  });
});

describe('giving back', () => {
  test('in parts, never more than was paid, and once an attempt', async () => {
    const { order } = await paid('pays');
    const part = { ...order, paidBy: order.attemptId, attemptId: id('att'), amountMinor: 1_000n };
    expect((await connector.refund(part)).kind).toBe('approved');
    expect((await connector.refund(part)).kind).toBe('approved');
    expect(await connector.orderStatus(order.orderId)).toBe('PARTIALLY_REFUNDED');
    expect((await connector.refund({ ...part, attemptId: id('att') })).kind).toBe('not_sent');
    expect((await connector.refund({ ...part, attemptId: id('att'), amountMinor: 250n })).kind).toBe('approved');
    expect(await connector.orderStatus(order.orderId)).toBe('REFUNDED');
  });

  test('a void takes the whole order back', async () => {
    const { order } = await paid('pays');
    expect((await connector.void({ ...order, paidBy: order.attemptId, attemptId: id('att') })).kind).toBe('approved');
    expect(await connector.orderStatus(order.orderId)).toBe('CANCELLED');
  });
});

describe('an answer', () => {
  test('about something else than was ordered is not believed', async () => {
    const { order } = await paid('pays');
    const others = [
      { ...order, amountMinor: order.amountMinor + 1n },
      { ...order, currency: 'cdf' as const },
    ];
    for (const other of others) {
      expect((await connector.inquire(inquiryOf(other))).kind).toBe('unknown');
      expect((await connector.authentication(other)).kind).toBe('unknown');
    }
    expect((await connector.inquire({ reference: order.attemptId })).kind).toBe('unknown');
  });

  test('that the network never heard of a reference counts only in its own words', async () => {
    const order = await opened();
    expect(await connector.inquire(inquiryOf(order))).toEqual({ kind: 'not_found' });
    const error = (explanation: string) => ({ error: { cause: 'INVALID_REQUEST', explanation }, result: 'ERROR' });
    const own = await facing({ status: 400, body: JSON.stringify(error('Unable to find transaction [x]')) });
    expect(await own.inquire(inquiryOf(order))).toEqual({ kind: 'not_found' });
    for (const body of [error('No such path'), { message: 'no route' }, 'not json']) {
      const other = await facing({ status: 404, body: JSON.stringify(body) });
      expect((await other.inquire(inquiryOf(order))).kind).toBe('unknown');
    }
  });

  test('is read for every gateway code and cause of the tables, and unfamiliar words are unknown', async () => {
    const order = await opened();
    const bodyOf = (gatewayCode: string, result: string) =>
      JSON.stringify({
        order: { id: order.orderId, amount: 12.5, currency: 'USD' },
        transaction: { id: order.attemptId, amount: 12.5, currency: 'USD', receipt: '1' },
        response: { gatewayCode },
        result,
      });
    for (const [code, meaning] of Object.entries(GATEWAY_CODES)) {
      const result = meaning === 'approved' ? 'SUCCESS' : meaning === 'unknown' ? 'UNKNOWN' : 'FAILURE';
      const answer = await (await facing({ status: 201, body: bodyOf(code, result) })).pay(order);
      expect(answer.kind, code).toBe(meaning === 'approved' || meaning === 'unknown' ? meaning : 'declined');
      if (answer.kind === 'declined') expect(answer.reason).toBe(meaning);
      if (meaning === 'unknown') continue;
      // A code beside a result that does not belong to it says nothing.
      const odd = await facing({ status: 200, body: bodyOf(code, result === 'SUCCESS' ? 'FAILURE' : 'SUCCESS') });
      expect((await odd.pay(order)).kind, code).toBe('unknown');
    }
    for (const [cause, kind] of Object.entries(CAUSES)) {
      const body = JSON.stringify({ error: { cause, explanation: 'x' }, result: 'ERROR' });
      expect((await (await facing({ status: 500, body })).pay(order)).kind, cause).toBe(kind);
      expect((await (await facing({ status: 500, body })).inquire(inquiryOf(order))).kind, cause).toBe('unknown');
    }
    expect((await (await facing({ status: 200, body: bodyOf('MARVELLOUS', 'SUCCESS') })).pay(order)).kind).toBe(
      'unknown',
    );
  });

  test.each(MISBEHAVIOURS)(
    'of an upstream that misbehaves (%s) is one of ours, and nothing is thrown',
    async (reply) => {
      const order = await opened();
      const bad = await facing(reply);
      expect((await bad.pay(order)).kind).toBe(reply === 'refuses_connections' ? 'not_sent' : 'unknown');
      expect((await bad.inquire(inquiryOf(order))).kind).toBe('unknown');
      expect((await bad.openForm(order)).kind).toBe('not_opened');
      expect(['not_sent', 'unknown']).toContain((await bad.authenticate(order, browser)).kind);
      expect(['not_sent', 'unknown']).toContain((await bad.authentication(order)).kind);
      expect(await bad.orderStatus(order.orderId)).toBeUndefined();
    },
  );
});

/** The connector, wired to an upstream that answers everything alike. */
async function facing(reply: Reply): Promise<CardConnector> {
  const upstream = await startScriptedUpstream(() => (reply === 'refuses_connections' ? 'cuts' : reply));
  if (reply === 'refuses_connections') await upstream.close();
  else upstreams.push(upstream);
  return connectorAt(upstream.url, hurried);
}
