// The network's wire format: credentials, sessions, refusals, and idempotency (Mastercard Gateway, REST JSON).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CardClient,
  cardAuthorization,
  cardBase,
  cardClient,
  transactionPath,
} from '../testing/cardnet-client.ts';
import { type RunningSandbox, startSandbox } from '../testing/start-sandbox.ts';

let running: RunningSandbox;
let cards: CardClient;
const card = { number: '5123450000000008' };

beforeAll(async () => {
  running = await startSandbox();
  cards = cardClient(running);
});
afterAll(() => running.close());

describe('credentials', () => {
  test.each([
    ['none', cardBase, {}],
    ['a wrong password', cardBase, { authorization: `Basic ${btoa('merchant.TESTMBONGO:other')}` }],
    ["another merchant's path", cardBase.replace('TESTMBONGO', 'TESTOTHER'), { authorization: cardAuthorization }],
  ])('%s: 401 in its own shape', async (_name, base, headers: Record<string, string>) => {
    const answer = await running.call('POST', `${base}/session`, {}, headers);
    expect([answer.status, answer.json]).toEqual([
      401,
      { error: { cause: 'INVALID_REQUEST', explanation: 'Invalid credentials.' }, result: 'ERROR' },
    ]);
  });
  test.each(['56', '101', 'latest'])('version %s is not served', async (version) => {
    const path = `${cardBase.replace('/100/', `/${version}/`)}/session`;
    const answer = await running.call('POST', path, {}, { authorization: cardAuthorization });
    expect(answer).toMatchObject({ status: 400, json: { error: { validationType: 'UNSUPPORTED' } } });
  });
});

describe('sessions', () => {
  test('a new one is 201 with its API key and version', async () => {
    const created = await cards.ask('POST', '/session', { session: { authenticationLimit: 25 } });
    expect(created).toMatchObject({ status: 201, json: { merchant: 'TESTMBONGO', result: 'SUCCESS' } });
    expect(created.json.session).toEqual({
      id: expect.stringMatching(/^SESSION0002\w{20}$/),
      aes256Key: expect.stringMatching(/^[\w+/]{43}=$/),
      authenticationLimit: 25,
      updateStatus: 'NO_UPDATE',
      version: expect.stringMatching(/^[0-9a-f]{10}$/),
    });
  });

  test('every update gives a new version; the card is masked, its expiry and code crossed out', async () => {
    const opened = await cards.open();
    const before = (await cards.ask('GET', `/session/${opened.session}`)).json;
    expect(before).toMatchObject({
      order: { id: opened.order, amount: '12.50', currency: 'USD', reference: opened.order },
      session: { updateStatus: 'SUCCESS' },
      version: '100',
    });
    expect(before.sourceOfFunds).toBeUndefined();
    expect((await cards.fill(opened.session, card)).json).toEqual({ session_id: opened.session, status: 'ok' });
    const after = await cards.ask('GET', `/session/${opened.session}`);
    expect(after.json.session.version).not.toBe(before.session.version);
    expect(after.json.order).toEqual(before.order);
    expect(after.json.sourceOfFunds).toEqual({
      type: 'CARD',
      provided: {
        card: {
          brand: 'MASTERCARD',
          expiry: { month: 'xx', year: 'xx' },
          fundingMethod: 'CREDIT',
          number: '512345xxxxxx0008',
          scheme: 'MASTERCARD',
          securityCode: 'xxx',
        },
      },
    });
    expect(after.text).not.toMatch(/5123450000000008|"39"/);
  });

  test('a browser may change it only as often as its limit allows', async () => {
    const created = await cards.ask('POST', '/session', { session: { authenticationLimit: 2 } });
    const { id } = created.json.session;
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await cards.fill(id, card)).status);
    expect(statuses).toEqual([200, 200, 409]);
  });

  test.each([
    ['an amount that is none', { order: { amount: 'ten', currency: 'USD' } }, 'order.amount'],
    ['too many digits', { order: { amount: '1.005', currency: 'USD' } }, 'order.amount'],
    ['a currency in lower case', { order: { currency: 'usd' } }, 'order.currency'],
    ['too long an order id', { order: { id: 'x'.repeat(41) } }, 'order.id'],
    ['a parameter that nobody knows', { oder: {} }, 'oder'],
  ])('%s is refused, naming the field', async (_name, body, field) => {
    const { session } = await cards.open();
    const answer = await cards.ask('PUT', `/session/${session}`, body);
    expect(answer).toMatchObject({
      status: 400,
      json: { error: { cause: 'INVALID_REQUEST', field }, result: 'ERROR' },
    });
  });

  test('an unknown session, order or transaction is 404', async () => {
    const { order } = await cards.open();
    for (const path of ['/session/SESSION0002X', `/order/${order}`, transactionPath(order, 'pay-1')]) {
      const answer = await cards.ask('GET', path);
      expect(answer).toMatchObject({ status: 404, json: { error: { cause: 'INVALID_REQUEST' }, result: 'ERROR' } });
      expect(answer.json.error.explanation).toMatch(/^Unable to find (session|order|transaction)\.$/);
    }
    expect((await cards.control('/sessions/SESSION0002X', { number: card.number })).status).toBe(404);
  });

  test('malformed JSON is refused in its own shape, without repeating it', async () => {
    const answer = await fetch(`${running.url}${cardBase}/session`, {
      method: 'POST',
      headers: { authorization: cardAuthorization, 'content-type': 'application/json' },
      body: '{"number":5123450000000008',
    });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([400, expect.stringContaining('"cause":"INVALID_REQUEST"')]);
    expect(text).not.toContain('51234500');
  });
});

describe('authentication and payment', () => {
  test('the answers have the network’s fields, and amounts are numbers with their digits', async () => {
    const opened = await cards.open();
    await cards.fill(opened.session, card);
    const begun = await cards.initiate(opened);
    expect(begun).toMatchObject({
      status: 201,
      json: {
        merchant: 'TESTMBONGO',
        result: 'SUCCESS',
        order: { id: opened.order, status: 'AUTHENTICATION_INITIATED', currency: 'USD' },
        response: { gatewayCode: 'AUTHENTICATION_IN_PROGRESS', gatewayRecommendation: 'PROCEED' },
        transaction: { id: 'auth-1', type: 'AUTHENTICATION', authenticationStatus: 'AUTHENTICATION_AVAILABLE' },
        authentication: {
          version: '3DS2',
          redirect: {
            customized: {
              '3DS': { methodUrl: expect.stringContaining('/acs/method'), methodPostData: expect.any(String) },
            },
            html: expect.stringContaining('threeDSMethodData'),
          },
        },
        version: '100',
      },
    });
    const payer = await cards.authenticate(opened);
    expect(payer).toMatchObject({
      status: 200,
      json: {
        result: 'SUCCESS',
        response: { gatewayCode: 'APPROVED', gatewayRecommendation: 'PROCEED' },
        order: { status: 'AUTHENTICATED', authenticationStatus: 'AUTHENTICATION_SUCCESSFUL' },
        transaction: { amount: 12.5, authenticationStatus: 'AUTHENTICATION_SUCCESSFUL' },
        authentication: { payerInteraction: 'NOT_REQUIRED', '3ds': { acsEci: '02' } },
      },
    });
    const paid = await cards.pay(opened);
    expect(paid.text).toContain('"totalCapturedAmount":12.50');
    expect(paid).toMatchObject({
      status: 201,
      json: {
        result: 'SUCCESS',
        response: { gatewayCode: 'APPROVED', acquirerCode: '00', cardSecurityCode: { gatewayCode: 'MATCH' } },
        order: { id: opened.order, status: 'CAPTURED', amount: 12.5, reference: opened.order },
        sourceOfFunds: { provided: { card: { number: '512345xxxxxx0008', scheme: 'MASTERCARD' } } },
        transaction: {
          id: 'pay-1',
          type: 'PAYMENT',
          authorizationCode: expect.stringMatching(/^\d{6}$/),
          receipt: expect.stringMatching(/^\d{12}$/),
          stan: expect.stringMatching(/^\d{6}$/),
          acquirer: { merchantId: 'TESTMBONGO' },
        },
      },
    });
    const order = await cards.ask('GET', `/order/${opened.order}`);
    expect(order.json).toMatchObject({
      id: opened.order,
      status: 'CAPTURED',
      result: 'SUCCESS',
      totalRefundedAmount: 0,
    });
    expect(order.json.transaction.map((one: { transaction: { id: string } }) => one.transaction.id)).toEqual([
      'auth-1',
      'pay-1',
    ]);
    for (const { text } of [begun, payer, paid, order]) expect(text).not.toMatch(/5123450000000008|securityCode":"1/);
  });

  test('the same request is carried out once, even when it races; another body under the same ids is refused', async () => {
    const opened = await cards.open();
    await cards.fill(opened.session, card);
    const [begun, again] = [await cards.initiate(opened), await cards.initiate(opened)];
    expect([again.status, again.text]).toEqual([200, begun.text]);
    const payer = await cards.authenticate(opened);
    expect((await cards.authenticate(opened)).text).toBe(payer.text);
    // The answer from before the end of the authentication is still given.
    expect((await cards.initiate(opened)).text).toBe(begun.text);
    const answers = await Promise.all([1, 2, 3, 4].map(() => cards.pay(opened)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    expect(await cards.book(opened.order)).toMatchObject([
      {
        carrier: 'cardnet',
        kind: 'debit',
        msisdn: '',
        amount: '12.50',
        currency: 'usd',
        times: 1,
        external_id: 'pay-1',
      },
    ]);
    const other = await cards.pay(opened, { transaction: { reference: 'other' } });
    expect(other).toMatchObject({
      status: 400,
      json: { error: { cause: 'INVALID_REQUEST', field: 'transaction.id' } },
    });
    const moved = { authentication: { redirectResponseUrl: 'http://127.0.0.1/else' } };
    expect((await cards.authenticate(opened, moved)).json.error.explanation).toMatch(/exists already/);
  });

  test('a second payment under a new transaction id charges twice, and the book shows it', async () => {
    const { opened } = await cards.payWith(card);
    expect((await cards.pay(opened, {}, 'pay-2')).json).toMatchObject({ result: 'SUCCESS' });
    expect(await cards.book(opened.order)).toMatchObject([{ kind: 'debit', times: 2 }]);
  });

  test.each<[string, object, string]>([
    ['another amount', { order: { amount: '1.00', currency: 'USD' } }, 'order.amount'],
    ['another currency', { order: { amount: '12.50', currency: 'EUR' } }, 'order.currency'],
    ['no authentication', { authentication: {} }, 'authentication.transactionId'],
    ['an unknown authentication', { authentication: { transactionId: 'x' } }, 'authentication.transactionId'],
    ['no session', { session: {} }, 'session.id'],
    ['no source of funds', { sourceOfFunds: {} }, 'sourceOfFunds.type'],
    ['an amount of nothing', { order: { amount: '0.00', currency: 'USD' } }, 'order.amount'],
    ['an operation that does not exist', { apiOperation: 'CHARGE' }, 'apiOperation'],
    ['an operation that is not served', { apiOperation: 'CAPTURE' }, 'apiOperation'],
  ])('%s than was authenticated is refused, and nothing is taken', async (_name, change, field) => {
    const opened = await cards.open();
    await cards.fill(opened.session, card);
    await cards.initiate(opened);
    await cards.authenticate(opened);
    expect(await cards.pay(opened, change)).toMatchObject({ status: 400, json: { error: { field } } });
    expect(await cards.book(opened.order)).toEqual([]);
    expect((await cards.pay(opened)).json).toMatchObject({ result: 'SUCCESS' });
  });

  test('a session without a card, of another order, or that has paid, pays nothing', async () => {
    const empty = await cards.open();
    expect((await cards.initiate(empty)).json.error.field).toBe('sourceOfFunds.provided.card.number');
    const { opened } = await cards.payWith(card);
    const other = await cards.open();
    const stolen = { ...other, session: opened.session };
    expect((await cards.initiate(stolen)).json.error).toMatchObject({
      field: 'session.id',
      explanation: 'The session belongs to another order',
    });
    await cards.ask('PUT', `/session/${opened.session}`, { order: { id: other.order } });
    expect((await cards.initiate(stolen)).json.error).toMatchObject({
      field: 'session.id',
      explanation: 'The session has paid another order',
    });
  });

  test('a card that was changed after its authentication is refused', async () => {
    const opened = await cards.open();
    await cards.fill(opened.session, card);
    await cards.initiate(opened);
    await cards.authenticate(opened);
    await cards.fill(opened.session, { number: '5555555555554444' });
    expect((await cards.pay(opened)).json.error.field).toBe('authentication.transactionId');
  });

  test('an amount that a browser changed is visible in the session', async () => {
    const opened = await cards.open();
    await cards.fill(opened.session, card);
    const { version } = (await cards.ask('GET', `/session/${opened.session}`)).json.session;
    const attack = await cards.control('/attacks', { order_id: opened.order, tamper_amount: '0.01' });
    expect(attack.json).toEqual({ order_id: opened.order, session_id: opened.session, amount: '0.01' });
    const session = (await cards.ask('GET', `/session/${opened.session}`)).json;
    expect(session.order).toMatchObject({ id: opened.order, amount: '0.01', currency: 'USD' });
    expect(session.session.version).not.toBe(version);
    expect((await cards.control('/attacks', { order_id: 'txn_x', tamper_amount: '1' })).status).toBe(404);
    expect((await cards.control('/attacks', { order_id: opened.order })).status).toBe(400);
  });
});

describe('refunds and voids', () => {
  const orderOf = async (id: string) => (await cards.ask('GET', `/order/${id}`)).json;
  const voidIt = (order: string, id: string, target = 'pay-1') =>
    cards.ask('PUT', transactionPath(order, id), {
      apiOperation: 'VOID',
      transaction: { targetTransactionId: target },
    });

  test('can be partial, up to the last cent and no further', async () => {
    const { opened } = await cards.payWith(card);
    expect(await cards.refund(opened, '5.00', 'r-1')).toMatchObject({
      status: 201,
      json: { result: 'SUCCESS', transaction: { type: 'REFUND', amount: 5 }, order: { status: 'PARTIALLY_REFUNDED' } },
    });
    expect((await cards.refund(opened, '5.00', 'r-1')).status).toBe(200);
    expect((await cards.refund(opened, '7.51', 'r-2')).json.error.field).toBe('transaction.amount');
    expect((await cards.refund(opened, '7.50', 'r-2', 'EUR')).json.error.field).toBe('transaction.currency');
    expect((await cards.refund(opened, '7.50', 'r-2')).json.order.status).toBe('REFUNDED');
    expect((await cards.refund(opened, '0.01', 'r-3')).status).toBe(400);
    expect((await voidIt(opened.order, 'v-1')).status).toBe(400);
    expect(await orderOf(opened.order)).toMatchObject({ totalCapturedAmount: 12.5, totalRefundedAmount: 12.5 });
    expect(await cards.book(opened.order)).toMatchObject([
      { kind: 'debit', amount: '12.50', times: 1 },
      { kind: 'credit', amount: '5.00', times: 1, external_id: 'r-1' },
      { kind: 'credit', amount: '7.50', times: 1, external_id: 'r-2' },
    ]);
  });

  test('a void takes the whole payment back, once', async () => {
    const { opened } = await cards.payWith(card);
    const answer = await voidIt(opened.order, 'v-1');
    expect(answer).toMatchObject({
      status: 201,
      json: { result: 'SUCCESS', transaction: { type: 'VOID_PAYMENT', amount: 12.5 }, order: { status: 'CANCELLED' } },
    });
    expect((await voidIt(opened.order, 'v-2')).status).toBe(400);
    expect((await cards.refund(opened, '1.00', 'r-1')).status).toBe(400);
    expect(await orderOf(opened.order)).toMatchObject({ status: 'CANCELLED', totalCapturedAmount: 0 });
    expect(await cards.book(opened.order)).toMatchObject([{ kind: 'debit' }, { kind: 'credit', amount: '12.50' }]);
  });

  test('a payment whose outcome is unknown can be voided, and then took nothing', async () => {
    const { opened } = await cards.payWith({ number: '5555555555554444', expiry: '08/28' });
    expect(await orderOf(opened.order)).toMatchObject({ status: 'INITIATED', totalCapturedAmount: 0 });
    expect((await voidIt(opened.order, 'v-1')).json.order.status).toBe('CANCELLED');
    expect(await cards.book(opened.order)).toEqual([]);
  });

  test('a declined payment, an authentication and an unknown order cannot be refunded', async () => {
    const { opened } = await cards.payWith({ number: '5111111111111118' });
    expect(await orderOf(opened.order)).toMatchObject({ status: 'FAILED' });
    expect((await voidIt(opened.order, 'v-1')).status).toBe(400);
    expect((await voidIt(opened.order, 'v-1', 'auth-1')).status).toBe(400);
    expect((await cards.refund(opened, '1.00', 'r-1')).status).toBe(400);
    expect((await cards.refund({ ...opened, order: 'txn_unknown' }, '1.00', 'r-1')).status).toBe(404);
  });
});

describe('faults', () => {
  const setFaults = (plan: object) => running.call('POST', '/control/faults', { upstream: 'cardnet', ...plan });
  const clear = () => running.call('DELETE', '/control/faults');

  test.each([
    [{ refuse_rate: 1 }, 503, 'SERVER_BUSY'],
    [{ error_rate: 1 }, 500, 'SERVER_FAILED'],
  ])('%j: %i in its own shape, and nothing is taken', async (plan, status, cause) => {
    const { opened } = await cards.payWith({ number: '5111111111111118' });
    await setFaults(plan);
    const answer = await cards.pay(opened, {}, 'pay-2');
    await clear();
    expect(answer).toMatchObject({
      status,
      json: { error: { cause, supportCode: expect.any(String) }, result: 'ERROR' },
    });
    expect((await cards.ask('GET', transactionPath(opened.order, 'pay-2'))).status).toBe(404);
  });

  test('a payment whose answer is lost is taken all the same', async () => {
    const opened = await cards.open();
    await cards.fill(opened.session, card);
    await cards.initiate(opened);
    await cards.authenticate(opened);
    await setFaults({ answer_lost_rate: 1 });
    await expect(cards.pay(opened)).rejects.toThrow();
    await clear();
    expect((await cards.ask('GET', transactionPath(opened.order, 'pay-1'))).json).toMatchObject({ result: 'SUCCESS' });
    expect(await cards.book(opened.order)).toMatchObject([{ times: 1 }]);
  });
});
