/**
 * Disbursements: the conformance suite of payouts against the sandbox's MTN MoMo, over real HTTP, with time moved by hand.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { PayoutConnector, PayoutRequest } from '../connector.ts';
import type { AskedPayout, ConformanceWorld } from '../testing/conformance-world.ts';
import { moverOf, PAYOUT_CHECKS } from '../testing/payout-conformance.ts';
import type { Reply } from '../testing/scripted-upstream.ts';
import { ENDINGS } from '../testing/simulator.ts';
import { createMtnMomo, createMtnMomoDisbursement } from './connector.ts';
import { DISBURSEMENT } from './products.ts';
import { bodyFor, type CarrierForTests, CREDENTIALS, startCarrier } from './testing/carrier.ts';

const credentials = CREDENTIALS.disbursement;
let carrier: CarrierForTests;
let connector: PayoutConnector;

beforeAll(async () => {
  carrier = await startCarrier(DISBURSEMENT);
  connector = createMtnMomoDisbursement({ ...credentials, baseUrl: carrier.url }, carrier.doors);
});
afterEach(() => carrier.closeScripted());
afterAll(() => carrier.close());

function payout(ending = '08'): AskedPayout {
  return carrier.order(ending);
}

async function facing(reply: Reply) {
  const upstream = await carrier.replying(reply);
  return {
    upstream,
    connector: createMtnMomoDisbursement({ ...credentials, baseUrl: upstream.url }, carrier.doorsTo(reply)),
  };
}

const timesPaid = (reference: string) => carrier.sandbox.book.find('mtn', reference, 'transfer')?.times ?? 0;

describe('conformance', () => {
  const world = (): ConformanceWorld<AskedPayout> => ({
    ...carrier.conformance,
    connector: moverOf(connector),
    order: (course) => payout(ENDINGS[course]),
    refused: () => [
      { order: payout('02'), reason: 'payee_unknown' },
      { order: payout('03'), reason: 'payee_blocked' },
    ],
    connectTo: (url, doors) => moverOf(createMtnMomoDisbursement({ ...credentials, baseUrl: url }, doors)),
  });
  test.each(PAYOUT_CHECKS)('$name', ({ run }) => run(world()));
});

describe('a transfer', () => {
  const sent = async (order: PayoutRequest) => {
    const { upstream, connector: asking } = await facing({ status: 202, body: '' });
    expect(await asking.payOut(order)).toEqual({ kind: 'waiting', providerReference: null });
    const arrived = upstream.arrived.at(-1);
    if (arrived === undefined) throw new Error('nothing arrived');
    return { arrived, body: JSON.parse(arrived.body) as unknown };
  };

  test('has MTN’s form', async () => {
    const order = payout();
    const { arrived, body } = await sent(order);
    expect([arrived.method, arrived.path]).toEqual(['POST', '/disbursement/v1_0/transfer']);
    expect(arrived.headers).toMatchObject({
      authorization: 'Bearer a-token',
      'ocp-apim-subscription-key': 'sandbox-disbursement',
      'x-reference-id': order.reference,
      'x-target-environment': 'sandbox',
      'x-callback-url': order.callbackUrl,
    });
    expect(body).toEqual({
      amount: '12.50',
      currency: 'USD',
      externalId: order.attemptId,
      payee: { partyIdType: 'MSISDN', partyId: order.msisdn.slice(1) },
      payerMessage: order.customerReference,
      payeeNote: 'Boutique Mosala',
    });
  });

  test('tells the receiver who pays and the payer’s note, without what MTN refuses', async () => {
    const { body } = await sent({ ...payout(), note: `May's wages\r\n${'x'.repeat(200)}` });
    expect(body).toMatchObject({ payeeNote: `Boutique Mosala May s wages ${'x'.repeat(132)}` });
  });

  test('has a reference and a book entry of its own', async () => {
    const order = payout();
    await connector.payOut(order);
    carrier.conformance.untilDecided();
    expect(carrier.sandbox.book.lines({ reference: order.reference })).toMatchObject([
      { kind: 'credit', carrier: 'mtn', amount: '12.50', currency: 'usd', external_id: order.attemptId, times: 1 },
    ]);
  });
});

test('the token of one product is not accepted for the other', async () => {
  const asking = createMtnMomoDisbursement({ ...CREDENTIALS.collection, baseUrl: carrier.url }, carrier.doors);
  const refused = { kind: 'not_sent', reason: 'token_refused', lasting: 'operator_needed' };
  expect(await asking.payOut(payout())).toEqual(refused);
  const taking = createMtnMomo({ ...credentials, baseUrl: carrier.url }, carrier.doors);
  expect(await taking.start(payout())).toEqual(refused);
});

describe('a failure that we have to fix', () => {
  const alarms = () => carrier.log.lines.filter((line) => JSON.stringify(line).includes('mtn_momo_operator_needed'));

  test.each(['NOT_ENOUGH_FUNDS', 'PAYER_LIMIT_REACHED', 'INTERNAL_PROCESSING_ERROR', 'SENDER_ACCOUNT_NOT_ACTIVE'])(
    '%s fails the transfer as the carrier’s failure, and calls the operator',
    async (reason) => {
      const order = payout();
      const before = alarms().length;
      const body = bodyFor(DISBURSEMENT, order, { status: 'FAILED', reason });
      const { connector: asking } = await facing({ status: 200, body });
      expect(await asking.inquire(order)).toMatchObject({ kind: 'declined', reason: 'carrier_failed' });
      expect(alarms()).toHaveLength(before + 1);
      expect(JSON.stringify(alarms().at(-1))).toContain(reason);
    },
  );

  test.each([
    [400, 'BAD_REQUEST', { kind: 'declined', reason: 'carrier_failed' }],
    [500, 'INVALID_CURRENCY', { kind: 'declined', reason: 'carrier_failed' }],
    [500, 'NOT_ALLOWED', { kind: 'not_sent' }],
    [400, 'NOT_ALLOWED_TARGET_ENVIRONMENT', { kind: 'not_sent' }],
    [403, 'FORBIDDEN_IP', { kind: 'not_sent' }],
    [404, '', { kind: 'not_sent' }],
  ])('a start that is answered %i %s calls the operator', async (status, code, answer) => {
    const before = alarms().length;
    const { connector: asking } = await facing({ status, body: JSON.stringify({ code, message: '' }) });
    expect(await asking.payOut(payout())).toMatchObject(answer);
    expect(alarms()).toHaveLength(before + 1);
  });

  test.each([400, 404, 500])(
    'a receiver who is unknown at once (%i) fails the transfer, and calls nobody',
    async (status) => {
      const before = alarms().length;
      const { connector: asking } = await facing({ status, body: '{"code":"PAYEE_NOT_FOUND","message":""}' });
      expect(await asking.payOut(payout())).toMatchObject({ kind: 'declined', reason: 'payee_unknown' });
      expect(alarms()).toHaveLength(before);
    },
  );

  test.each([
    ['PAYEE_NOT_FOUND', 'payee_unknown'],
    ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'payee_blocked'],
    ['PAYEE_LIMIT_REACHED', 'limit_reached'],
  ])('%s is the receiver’s failure, and calls nobody', async (said, reason) => {
    const order = payout();
    const before = alarms().length;
    const body = bodyFor(DISBURSEMENT, order, { status: 'FAILED', reason: said });
    const { connector: asking } = await facing({ status: 200, body });
    expect(await asking.inquire(order)).toMatchObject({ kind: 'declined', reason });
    expect(alarms()).toHaveLength(before);
  });
});

test('a request whose HTTP answer never comes is unknown, found by inquiry, and paid once', async () => {
  const order = payout('05');
  const hurried = createMtnMomoDisbursement({ ...credentials, baseUrl: carrier.url }, carrier.doorsTo('endless'));
  expect((await hurried.payOut(order)).kind).toBe('unknown');
  carrier.conformance.untilDecided();
  expect((await connector.inquire(order)).kind).toBe('approved');
  expect((await connector.payOut(order)).kind).toBe('waiting');
  expect(timesPaid(order.reference)).toBe(1);
});

test('none of this has logged a secret, a token or a number', () => {
  const logged = carrier.log.lines.join('\n');
  expect(logged).toContain('mtn_momo_token_refused');
  for (const secret of ['sandbox-collection', 'sandbox-disbursement', 'api-key', 'a-token', '25677000']) {
    expect(logged).not.toContain(secret);
  }
});
