/**
 * The conformance suite against the sandbox's MTN MoMo, over real HTTP, with time moved by hand.
 */

import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createSandbox, type Sandbox } from '../../../sandbox/app.ts';
import { type ManualWorld, manualWorld } from '../../../sandbox/testing/manual-world.ts';
import { makeId } from '../../domain/ids.ts';
import { formatMinor } from '../../domain/money.ts';
import { manualClock } from '../../platform/clock.ts';
import { memoryLog } from '../../platform/log.ts';
import { createOutbound } from '../../platform/outbound.ts';
import type { Outbound } from '../../platform/platform.ts';
import { CHECKS, type ConformanceWorld, type Customer, type Documented } from '../conformance.ts';
import type { CollectConnector, CollectOrder } from '../connector.ts';
import { type Reply, type ScriptedUpstream, startScriptedUpstream } from '../scripted-upstream.ts';
import type { MtnMomoConfig } from './client.ts';
import { createMtnMomo } from './connector.ts';
import { REASONS, REFUSALS_WITH_500 } from './statuses.ts';

const START = Date.UTC(2026, 10, 20, 12);
const clock = manualClock(START);
const log = memoryLog();
const door = createOutbound({ allowLoopback: true, requireHttps: false });

/** The real door with deadlines that a test can wait for; every deadline below it is the connector's own affair. */
const hurried: Outbound = {
  ...door,
  request: (request) => door.request({ ...request, timeout: Math.min(request.timeout, 400) }),
};

const credentials = {
  subscriptionKey: 'sandbox-collection',
  apiUser: '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e',
  apiKey: 'sandbox-api-key',
  targetEnvironment: 'sandbox',
};

/** Numbers whose ending decides (contract §11): 08 pays and sends no callback. */
const ENDINGS: Record<Customer, string> = {
  pays: '08',
  does_nothing: '04',
  has_no_funds: '02',
  rejects: '03',
  carrier_is_down: '06',
};

let made = 0;
function order(customer: Customer): CollectOrder {
  made += 1;
  const random = new Uint8Array(16);
  new DataView(random.buffer).setUint32(9, made);
  const attemptId = makeId('att', START, random, 7);
  return {
    attemptId,
    reference: createMtnMomo({ ...credentials, baseUrl: 'http://127.0.0.1:1' }, doors(door)).referenceFor(attemptId),
    msisdn: `+25677000${String(made % 100).padStart(2, '0')}${ENDINGS[customer]}`,
    amountMinor: 1_250n,
    currency: 'usd',
    merchantName: 'Boutique Mosala',
    customerReference: `order-${made}`,
    callbackUrl: 'http://127.0.0.1:9/callbacks/mtn-momo/unguessable',
  };
}

function doors(outbound: Outbound) {
  return { outbound, clock, log };
}

let time: ManualWorld;
let sandbox: Sandbox;
let connector: CollectConnector;
const upstreams: ScriptedUpstream[] = [];

beforeAll(async () => {
  time = manualWorld();
  sandbox = await createSandbox({ seed: 'conformance', now: time.now, schedule: time.schedule });
  await sandbox.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = sandbox.app.server.address() as AddressInfo;
  connector = createMtnMomo({ ...credentials, baseUrl: `http://127.0.0.1:${port}/mtn` }, doors(door));
});
afterEach(async () => {
  for (const upstream of upstreams.splice(0)) await upstream.close();
});
afterAll(async () => {
  await door.close();
  await sandbox.app.close();
});

const TOKEN = JSON.stringify({ access_token: 'a-token', token_type: 'access_token', expires_in: 3600 });

/** An upstream that gives tokens and answers everything else with the reply; returns the connector to it. */
async function facing(reply: Reply, config: Partial<MtnMomoConfig> = {}) {
  const upstream = await startScriptedUpstream(({ path }) =>
    path === '/collection/token/' || reply === 'refuses_connections' ? { status: 200, body: TOKEN } : reply,
  );
  const facingIt = createMtnMomo({ ...credentials, baseUrl: upstream.url, ...config }, doors(hurried));
  if (reply === 'refuses_connections') await upstream.close();
  else upstreams.push(upstream);
  return { upstream, connector: facingIt };
}

function bodyFor(ordered: CollectOrder, more: object): string {
  return JSON.stringify({
    amount: formatMinor(ordered.amountMinor, ordered.currency),
    currency: ordered.currency.toUpperCase(),
    externalId: ordered.attemptId,
    payer: { partyIdType: 'MSISDN', partyId: ordered.msisdn.slice(1) },
    ...more,
  });
}

function documented(ordered: CollectOrder): Documented[] {
  const inquiry = (name: string, more: object, kind: Documented['means']['kind'], reason?: string): Documented => ({
    name,
    to: 'inquire',
    status: 200,
    body: bodyFor(ordered, more),
    means: reason === undefined ? { kind } : { kind, reason },
  });
  const start = (status: number, code: string, kind: Documented['means']['kind']): Documented => ({
    name: `${status} ${code}`,
    to: 'start',
    status,
    body: code === '' ? '' : JSON.stringify({ code, message: 'in their words' }),
    means: { kind },
  });
  return [
    inquiry('PENDING', { status: 'PENDING' }, 'waiting'),
    inquiry('CREATED', { status: 'CREATED' }, 'waiting'),
    inquiry('SUCCESSFUL', { status: 'SUCCESSFUL', financialTransactionId: '23503452' }, 'approved'),
    inquiry('REJECTED', { status: 'REJECTED' }, 'declined', 'customer_rejected'),
    inquiry('TIMEOUT', { status: 'TIMEOUT' }, 'unknown'),
    inquiry('a status to come', { status: 'REVERSED' }, 'unknown'),
    inquiry('FAILED alone', { status: 'FAILED' }, 'declined', 'carrier_failed'),
    inquiry('FAILED, unfamiliar', { status: 'FAILED', reason: 'MOON_IS_FULL' }, 'declined', 'carrier_failed'),
    ...Object.entries(REASONS).flatMap(([code, reason]) => [
      inquiry(`FAILED ${code}`, { status: 'FAILED', reason: code }, 'declined', reason),
      inquiry(`FAILED {${code}}`, { status: 'FAILED', reason: { code, message: '' } }, 'declined', reason),
    ]),
    start(202, '', 'waiting'),
    start(409, 'RESOURCE_ALREADY_EXIST', 'waiting'),
    start(400, 'BAD_REQUEST', 'not_sent'),
    start(401, '', 'not_sent'),
    start(403, 'FORBIDDEN_IP', 'not_sent'),
    start(404, 'RESOURCE_NOT_FOUND', 'not_sent'),
    start(429, '', 'not_sent'),
    start(503, 'SERVICE_UNAVAILABLE', 'not_sent'),
    ...[...REFUSALS_WITH_500].map((code) => start(500, code, 'not_sent')),
    start(500, 'INTERNAL_PROCESSING_ERROR', 'unknown'),
    start(500, '', 'unknown'),
    start(502, '', 'unknown'),
    start(504, '', 'unknown'),
    start(200, '', 'unknown'),
    start(302, '', 'unknown'),
  ];
}

const world: ConformanceWorld = {
  get connector() {
    return connector;
  },
  order,
  timesDebited: async (reference) => sandbox.book.find('mtn', reference)?.times ?? 0,
  untilDecided: async () => time.advance(2_000),
  loseAnswers: async (lose) => sandbox.faults.set('mtn', { answer_lost_rate: lose ? 1 : 0 }),
  // The simulator's hour passes; the connector's clock stands still, so that it still believes in its token.
  expireTokens: async () => time.advance(3_600_001),
  forgedCallbacks: (ordered) => [
    bodyFor(ordered, { status: 'SUCCESSFUL', financialTransactionId: '1' }),
    bodyFor(ordered, { status: 'FAILED', reason: 'EXPIRED' }),
    '{"status":{"toString":1}}',
    '[]',
    'null',
    '',
    `{"status":"${'S'.repeat(1_000_000)}"}`,
  ],
  facing: async (upstream) => (await facing(upstream)).connector,
  documented,
};

describe('conformance', () => {
  test.each(CHECKS)('$name', ({ run }) => run(world));
});

describe('a request to pay', () => {
  const accepting = { status: 202, body: '' };
  const sentTo = async (ordered: CollectOrder, config: Partial<MtnMomoConfig> = {}) => {
    const { upstream, connector: asking } = await facing(accepting, config);
    expect(await asking.start(ordered)).toEqual({ kind: 'waiting', providerReference: null });
    const arrived = upstream.arrived.at(-1);
    if (arrived === undefined) throw new Error('nothing arrived');
    return { headers: arrived.headers, body: JSON.parse(arrived.body) as unknown };
  };

  test('is in their form', async () => {
    const ordered = order('pays');
    const { headers, body } = await sentTo(ordered);
    expect(headers).toMatchObject({
      authorization: 'Bearer a-token',
      'ocp-apim-subscription-key': 'sandbox-collection',
      'x-reference-id': ordered.reference,
      'x-target-environment': 'sandbox',
      'x-callback-url': ordered.callbackUrl,
      'content-type': 'application/json',
    });
    expect(body).toEqual({
      amount: '12.50',
      currency: 'USD',
      externalId: ordered.attemptId,
      payer: { partyIdType: 'MSISDN', partyId: ordered.msisdn.slice(1) },
      payerMessage: ordered.customerReference,
      payeeNote: 'Boutique Mosala',
    });
  });

  test('writes amounts with the digits that the currency has', async () => {
    const { body } = await sentTo({ ...order('pays'), currency: 'ugx', amountMinor: 5_000n });
    expect(body).toMatchObject({ amount: '5000', currency: 'UGX' });
  });

  test('carries notes without what MTN refuses, and never more than 160', async () => {
    const { body } = await sentTo({
      ...order('pays'),
      merchantName: "\u0000Mama's\r\n\u202eshop ",
      customerReference: `${'x'.repeat(159)}\u{1f600}y`,
    });
    expect(body).toMatchObject({ payeeNote: 'Mama s shop', payerMessage: 'x'.repeat(159) });
  });

  test('names the callback only where MTN takes it', async () => {
    const market = { targetEnvironment: 'mtnuganda' };
    const http = await sentTo(order('pays'), market);
    expect(http.headers).not.toHaveProperty('x-callback-url');
    const https = await sentTo({ ...order('pays'), callbackUrl: 'https://pay.example/c/x?y=1' }, market);
    expect(https.headers).toMatchObject({ 'x-callback-url': 'https://pay.example/c/x?y=1' });
    const other = await sentTo(order('pays'), { ...market, callbackHost: 'https://callbacks.example/' });
    expect(other.headers).toMatchObject({
      'x-callback-url': 'https://callbacks.example/callbacks/mtn-momo/unguessable',
    });
  });
});

test('a 404 that is not their own word does not prove that nothing was taken', async () => {
  const { connector: asking } = await facing({
    status: 404,
    body: '{"statusCode":404,"message":"Resource not found"}',
  });
  expect((await asking.inquire(order('pays'))).kind).toBe('unknown');
});

test('an answer about another amount raises an alarm', async () => {
  const ordered = order('pays');
  const { connector: asking } = await facing({
    status: 200,
    body: bodyFor(ordered, { amount: '1', status: 'SUCCESSFUL' }),
  });
  expect(await asking.inquire(ordered)).toEqual({ kind: 'unknown', reason: 'another amount than ordered' });
  expect(log.lines.join()).toContain('mtn_momo_answer_mismatch');
  expect((await asking.inquire({ reference: ordered.reference })).kind).toBe('approved');
});

test('without a token nothing is sent, and nothing is known', async () => {
  const upstream = await startScriptedUpstream(() => ({ status: 401, body: '{"error":"login_failed"}' }));
  upstreams.push(upstream);
  const asking = createMtnMomo({ ...credentials, baseUrl: upstream.url }, doors(door));
  expect(await asking.start(order('pays'))).toEqual({ kind: 'not_sent', reason: 'no_token' });
  expect(await asking.inquire(order('pays'))).toEqual({ kind: 'unknown', reason: 'no_token' });
  expect(upstream.arrived.map(({ path }) => path)).toEqual(['/collection/token/', '/collection/token/']);
});

test('a token that is refused again and again is renewed once a call', async () => {
  let tokens = 0;
  const upstream = await startScriptedUpstream(({ path }) => {
    if (path !== '/collection/token/') return { status: 401, body: '' };
    tokens += 1;
    return { status: 200, body: JSON.stringify({ access_token: `token-${tokens}`, expires_in: '3600' }) };
  });
  upstreams.push(upstream);
  const asking = createMtnMomo({ ...credentials, baseUrl: upstream.url }, doors(door));
  const ordered = order('pays');
  expect((await asking.start(ordered)).kind).toBe('not_sent');
  const asked = upstream.arrived.filter(({ path }) => path === '/collection/v1_0/requesttopay');
  expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  expect(asked.map(({ headers }) => headers['x-reference-id'])).toEqual([ordered.reference, ordered.reference]);
});

test('no secret, token or number has been logged by any of this', () => {
  const logged = log.lines.join('\n');
  expect(logged).toContain('mtn_momo_token_refused');
  for (const secret of ['sandbox-collection', 'sandbox-api-key', 'a-token', 'token-1', '25677000']) {
    expect(logged).not.toContain(secret);
  }
});
