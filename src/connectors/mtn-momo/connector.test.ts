/**
 * Collections: the conformance suite against the sandbox's MTN MoMo, over real HTTP, with time moved by hand.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Outbound } from '../../platform/platform.ts';
import type { CarrierOrder, CollectConnector } from '../connector.ts';
import { conformanceChecks } from '../testing/conformance.ts';
import type { AskedOrder, ConformanceWorld, Course } from '../testing/conformance-world.ts';
import type { Reply } from '../testing/scripted-upstream.ts';
import { ENDINGS } from '../testing/simulator.ts';
import type { MtnMomoConfig } from './client.ts';
import { createMtnMomo } from './connector.ts';
import { COLLECTION } from './products.ts';
import { bodyFor, type CarrierForTests, CREDENTIALS, startCarrier, TOKEN } from './testing/carrier.ts';

const credentials = CREDENTIALS.collection;
let carrier: CarrierForTests;
let connector: CollectConnector;

beforeAll(async () => {
  carrier = await startCarrier(COLLECTION);
  connector = createMtnMomo({ ...credentials, baseUrl: carrier.url }, carrier.doors);
});
afterEach(() => carrier.closeScripted());
afterAll(() => carrier.close());

function order(course: Course): AskedOrder {
  return carrier.order(ENDINGS[course]);
}

/** An upstream that issues tokens and gives every other request this reply, and the connector to it. */
async function facing(reply: Reply, config: Partial<MtnMomoConfig> = {}) {
  const upstream = await carrier.replying(reply);
  return {
    upstream,
    connector: createMtnMomo({ ...credentials, baseUrl: upstream.url, ...config }, carrier.doorsTo(reply)),
  };
}

describe('conformance', () => {
  const world = (): ConformanceWorld<AskedOrder> => ({
    ...carrier.conformance,
    connector,
    order,
    refused: () => [
      { order: carrier.order('02'), reason: 'insufficient_funds' },
      { order: carrier.order('03'), reason: 'customer_rejected' },
    ],
    connectTo: (url, doors) => createMtnMomo({ ...credentials, baseUrl: url }, doors),
  });
  test.each(conformanceChecks<AskedOrder>())('$name', ({ run }) => run(world()));
});

describe('a request to pay', () => {
  const accepting = { status: 202, body: '' };
  const sentTo = async (ordered: CarrierOrder, config: Partial<MtnMomoConfig> = {}) => {
    const { upstream, connector: asking } = await facing(accepting, config);
    expect(await asking.start(ordered)).toEqual({ kind: 'waiting', providerReference: null });
    const arrived = upstream.arrived.at(-1);
    if (arrived === undefined) throw new Error('nothing arrived');
    return { headers: arrived.headers, body: JSON.parse(arrived.body) as unknown };
  };

  test('has MTN’s form', async () => {
    const ordered = order('completes');
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
    const { body } = await sentTo({ ...order('completes'), currency: 'ugx', amountMinor: 5_000n });
    expect(body).toMatchObject({ amount: '5000', currency: 'UGX' });
  });

  test('carries notes without what MTN refuses, and never more than 160', async () => {
    const { body } = await sentTo({
      ...order('completes'),
      merchantName: "\u0000Mama's\r\n\u202eshop ",
      customerReference: `${'x'.repeat(159)}\u{1f600}y`,
    });
    expect(body).toMatchObject({ payeeNote: 'Mama s shop', payerMessage: 'x'.repeat(159) });
    const { body: second } = await sentTo({
      ...order('completes'),
      merchantName: 'Été & Fils',
      customerReference: 'a_b/#7',
    });
    expect(second).toMatchObject({ payeeNote: 'Ete Fils', payerMessage: 'a-b- 7' });
  });

  test('never carries an empty note, which MTN answers with 500', async () => {
    const nameless = { ...order('completes'), merchantName: '’“”', customerReference: '###' };
    const { body } = await sentTo(nameless);
    const plain = nameless.attemptId.replace('_', '-');
    expect(body).toMatchObject({ payeeNote: plain, payerMessage: plain });
  });

  test('names the callback only where MTN accepts one', async () => {
    const market = { targetEnvironment: 'mtnuganda' };
    const http = await sentTo(order('completes'), market);
    expect(http.headers).not.toHaveProperty('x-callback-url');
    const https = await sentTo({ ...order('completes'), callbackUrl: 'https://pay.example/c/x?y=1' }, market);
    expect(https.headers).toMatchObject({ 'x-callback-url': 'https://pay.example/c/x?y=1' });
    const other = await sentTo(order('completes'), { ...market, callbackHost: 'https://callbacks.example/' });
    expect(other.headers).toMatchObject({
      'x-callback-url': 'https://callbacks.example/upstream/carrier/unguessable',
    });
  });
});

test('a 404 that is not in MTN’s own words does not prove that nothing was taken', async () => {
  const { connector: asking } = await facing({
    status: 404,
    body: '{"statusCode":404,"message":"Resource not found"}',
  });
  expect((await asking.inquire(order('completes'))).kind).toBe('unknown');
});

test('an answer about another amount raises an alarm', async () => {
  const ordered = order('completes');
  const { connector: asking } = await facing({
    status: 200,
    body: bodyFor(COLLECTION, ordered, { amount: '1', status: 'SUCCESSFUL' }),
  });
  expect(await asking.inquire(ordered)).toEqual({ kind: 'unknown', reason: 'another amount than ordered' });
  expect(carrier.log.lines.join()).toContain('mtn_momo_answer_mismatch');
});

test.each([400, 401, 403, 404])(
  'without a token (%i) nothing is sent, and an inquiry learns nothing',
  async (status) => {
    const upstream = await carrier.scripted(() => ({ status, body: '{"error":"login_failed"}' }));
    const asking = createMtnMomo({ ...credentials, baseUrl: upstream.url }, carrier.doors);
    const refused = { kind: 'not_sent', reason: 'token_refused', lasting: 'operator_needed' };
    expect(await asking.start(order('completes'))).toEqual(refused);
    expect(await asking.inquire(order('completes'))).toEqual({ kind: 'unknown', reason: 'token_refused' });
    expect(upstream.arrived.map(({ path }) => path)).toEqual(['/collection/token/', '/collection/token/']);
  },
);

test.each([429, 500, 503])('a token that cannot be had just now (%i) may be had later', async (status) => {
  let tokens = 0;
  const upstream = await carrier.scripted(({ path }) => {
    if (path !== '/collection/token/') return { status: 202, body: '' };
    tokens += 1;
    return tokens === 2
      ? { status, body: '' }
      : tokens === 1
        ? { status: 401, body: '' }
        : { status: 200, body: TOKEN };
  });
  const asking = createMtnMomo({ ...credentials, baseUrl: upstream.url }, carrier.doors);
  expect(await asking.start(order('completes'))).toMatchObject({ lasting: 'operator_needed' });
  expect(await asking.start(order('completes'))).toEqual({ kind: 'not_sent', reason: 'no_token' });
  expect((await asking.start(order('completes'))).kind).toBe('waiting');
});

test('a token that is refused again and again is renewed once per call', async () => {
  let tokens = 0;
  const upstream = await carrier.scripted(({ path }) => {
    if (path !== '/collection/token/') return { status: 401, body: '' };
    tokens += 1;
    return { status: 200, body: JSON.stringify({ access_token: `token-${tokens}`, expires_in: '3600' }) };
  });
  const asking = createMtnMomo({ ...credentials, baseUrl: upstream.url }, carrier.doors);
  const ordered = order('completes');
  expect(await asking.start(ordered)).toMatchObject({ kind: 'not_sent', lasting: 'operator_needed' });
  const asked = upstream.arrived.filter(({ path }) => path === '/collection/v1_0/requesttopay');
  expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-2']);
  expect(asked.map(({ headers }) => headers['x-reference-id'])).toEqual([ordered.reference, ordered.reference]);
});

test('a clock that is set back while the token is fetched gives the call no more time', async () => {
  const upstream = await carrier.scripted(({ path }) => {
    if (path !== '/collection/token/') return 'endless';
    carrier.clock.setBack(3_600_000);
    return { status: 200, body: JSON.stringify({ access_token: 'a-token', expires_in: 3_600 }) };
  });
  const timeouts: number[] = [];
  const outbound: Outbound = {
    ...carrier.doors.outbound,
    request: (request) => {
      timeouts.push(request.timeout);
      return carrier.doorsTo('endless').outbound.request(request);
    },
  };
  const asking = createMtnMomo({ ...credentials, baseUrl: upstream.url }, { ...carrier.doors, outbound });
  expect((await asking.inquire(order('completes'))).kind).toBe('unknown');
  expect(timeouts).toEqual([5_000, 5_000]);
});

test.each(['first', 'second'])('an order whose time has gone into its %s token is not sent any more', async (late) => {
  let now = 0;
  let tokens = 0;
  let sent = 0;
  const answered = (status: number, body: string) => ({ kind: 'answered', status, headers: {}, body }) as const;
  const request: Outbound['request'] = async ({ url }) => {
    if (!url.endsWith(carrier.tokenPath)) {
      sent += 1;
      return answered(401, '');
    }
    tokens += 1;
    if (tokens === (late === 'first' ? 1 : 2)) now += 10_000;
    return answered(200, JSON.stringify({ access_token: `token-${tokens}`, expires_in: 3_600 }));
  };
  const { doors, clock } = carrier;
  const late10s = { ...doors, clock: { ...clock, now: () => now }, outbound: { ...doors.outbound, request } };
  const asking = createMtnMomo({ ...credentials, baseUrl: carrier.url }, late10s);
  expect(await asking.start(order('completes'))).toEqual({ kind: 'not_sent', reason: 'out_of_time' });
  expect(sent).toBe(late === 'first' ? 0 : 1);
});

test('none of this has logged a secret, a token or a number', () => {
  const logged = carrier.log.lines.join('\n');
  expect(logged).toContain('mtn_momo_token_refused');
  for (const secret of ['sandbox-collection', 'sandbox-api-key', 'a-token', 'token-1', '25677000']) {
    expect(logged).not.toContain(secret);
  }
});
