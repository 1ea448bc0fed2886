// Every test card and every documented date, over real HTTP; and what may be typed into the card fields.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CardClient, cardClient, type Json, transactionPath } from '../testing/cardnet-client.ts';
import { type RunningSandbox, startSandbox } from '../testing/start-sandbox.ts';
import { readCard } from './card-input.ts';
import { isLuhn, show, testCards } from './cards.ts';

let running: RunningSandbox;
let cards: CardClient;
const now = Date.UTC(2026, 10, 20);

beforeAll(async () => {
  running = await startSandbox();
  cards = cardClient(running);
});
afterAll(() => running.close());

describe('cards', () => {
  test.each([
    ['5123450000000008', 'SUCCESS', 'APPROVED', '02'],
    ['5111111111111118', 'FAILURE', 'DECLINED', '02'],
    ['2223000000000007', 'SUCCESS', 'APPROVED', '02'],
    ['5200000000000007', 'FAILURE', 'INSUFFICIENT_FUNDS', '02'],
    ['5200000000000015', 'FAILURE', 'EXPIRED_CARD', '02'],
    ['4111111111111111', 'SUCCESS', 'APPROVED', '05'],
  ])('%s: no challenge, then %s %s, ECI %s', async (number, result, gatewayCode, eci) => {
    const { opened, paid } = await cards.payWith({ number });
    expect(paid).toMatchObject({ status: 201, json: { result, response: { gatewayCode } } });
    expect(paid.json.authentication).toMatchObject({
      '3ds': { acsEci: eci, authenticationToken: expect.any(String), transactionId: expect.any(String) },
      '3ds2': { protocolVersion: '2.2.0', transactionStatus: 'Y' },
    });
    expect(await cards.book(opened.order)).toHaveLength(result === 'SUCCESS' ? 1 : 0);
  });

  test.each([
    ['01/39', 'SUCCESS', 'APPROVED'],
    ['05/39', 'FAILURE', 'DECLINED'],
    ['04/27', 'FAILURE', 'EXPIRED_CARD'],
    ['08/28', 'UNKNOWN', 'TIMED_OUT'],
    ['01/37', 'FAILURE', 'ACQUIRER_SYSTEM_ERROR'],
    ['02/37', 'FAILURE', 'UNSPECIFIED_FAILURE'],
    ['05/37', 'UNKNOWN', 'UNKNOWN'],
    ['12/31', 'SUCCESS', 'APPROVED'],
  ])('any other number has the outcome of its expiry: %s is %s %s', async (expiry, result, gatewayCode) => {
    const { opened, paid } = await cards.payWith({ number: '5555555555554444', expiry });
    expect(paid.json).toMatchObject({ result, response: { gatewayCode } });
    expect(await cards.book(opened.order)).toHaveLength(result === 'SUCCESS' ? 1 : 0);
    const read = await cards.ask('GET', transactionPath(opened.order, 'pay-1'));
    expect(read.json).toEqual(paid.json);
  });

  test.each(['5123450000000008', '5111111111111118'])('%s has its own outcome, whatever its expiry', async (number) => {
    const { paid } = await cards.payWith({ number, expiry: number.startsWith('5111') ? '01/39' : '05/39' });
    expect(paid.json.response.gatewayCode).toBe(number.startsWith('5111') ? 'DECLINED' : 'APPROVED');
  });

  test.each([
    ['100', 'MATCH'],
    ['101', 'NOT_PROCESSED'],
    ['102', 'NO_MATCH'],
    ['123', 'MATCH'],
  ])('security code %s: %s', async (securityCode, gatewayCode) => {
    const { paid } = await cards.payWith({ number: '5123450000000008', securityCode });
    expect(paid.json.response.cardSecurityCode.gatewayCode).toBe(gatewayCode);
  });

  test('a card without 3-D Secure may proceed, and is paid whether or not the payment names the authentication', async () => {
    const opened = await cards.open();
    await cards.fill(opened.session, { number: '2223000000000023' });
    const begun = await cards.initiate(opened);
    expect(begun.json).toMatchObject({
      response: { gatewayRecommendation: 'PROCEED' },
      transaction: { authenticationStatus: 'AUTHENTICATION_NOT_SUPPORTED' },
      order: { status: 'AUTHENTICATION_NOT_NEEDED' },
    });
    expect((await cards.authenticate(opened)).status).toBe(400);
    expect((await cards.pay(opened)).json).toMatchObject({ result: 'SUCCESS' });
    const other = await cards.open();
    await cards.fill(other.session, { number: '2223000000000023' });
    expect((await cards.pay(other, { authentication: undefined })).json).toMatchObject({ result: 'SUCCESS' });
  });

  test('a card whose authentication is rejected may not proceed, and is not paid', async () => {
    const { opened, paid } = await cards.payWith({ number: '4012000033330026' });
    expect(paid).toMatchObject({ status: 400, json: { error: { field: 'authentication.transactionId' } } });
    const read = await cards.ask('GET', transactionPath(opened.order, 'auth-1'));
    expect(read.json).toMatchObject({
      result: 'FAILURE',
      response: { gatewayRecommendation: 'DO_NOT_PROCEED' },
      transaction: { authenticationStatus: 'AUTHENTICATION_REJECTED' },
      order: { status: 'AUTHENTICATION_UNSUCCESSFUL' },
    });
    expect(await cards.book(opened.order)).toEqual([]);
  });

  test('0119 is paid after its challenge, and the connection ends without an answer', async () => {
    const opened = await cards.open();
    await cards.fill(opened.session, { number: '4000000000000119' });
    await cards.initiate(opened);
    expect((await cards.authenticate(opened)).json).toMatchObject({ result: 'PENDING' });
    await cards.control(`/challenges/${opened.order}`, { result: 'pass' });
    await expect(cards.pay(opened)).rejects.toThrow();
    const read = await cards.ask('GET', transactionPath(opened.order, 'pay-1'));
    expect(read.json).toMatchObject({ result: 'SUCCESS', order: { status: 'CAPTURED' } });
    // The same request again gets the same result, and does nothing.
    expect((await cards.pay(opened)).json).toEqual(read.json);
    expect(await cards.book(opened.order)).toMatchObject([{ kind: 'debit', times: 1 }]);
  });
});

describe('device payments', () => {
  const payToken = async (paymentToken: string, walletProvider = 'GOOGLE_PAY') => {
    const order = `txn_${randomUUID().slice(0, 26)}`;
    const path = transactionPath(order, 'pay-1');
    const paid = await cards.ask('PUT', path, {
      apiOperation: 'PAY',
      order: { amount: '7.00', currency: 'USD', walletProvider },
      sourceOfFunds: { type: 'CARD', provided: { card: { devicePayment: { paymentToken } } } },
    });
    return { paid, path, order };
  };
  test.each([
    ['tok_approved', 201, { result: 'SUCCESS', response: { gatewayCode: 'APPROVED' } }],
    ['tok_declined', 201, { result: 'FAILURE', response: { gatewayCode: 'DECLINED' } }],
    ['tok_unavailable', 503, { result: 'ERROR', error: { cause: 'SERVER_BUSY' } }],
    ['tok_other', 400, { result: 'ERROR', error: { cause: 'INVALID_REQUEST' } }],
  ])('%s: %i', async (token, status, json) => {
    for (const provider of ['GOOGLE_PAY', 'APPLE_PAY']) {
      const { paid, order, path } = await payToken(token, provider);
      expect(paid).toMatchObject({ status, json });
      expect(await cards.book(order)).toHaveLength(token === 'tok_approved' ? 1 : 0);
      expect((await cards.ask('GET', path)).status).toBe(status === 201 ? 200 : 404);
      expect(paid.text).not.toContain(token);
    }
  });
  test('tok_timeout is captured although the answer says that the outcome is unknown', async () => {
    const { paid, path, order } = await payToken('tok_timeout');
    expect(paid.json).toMatchObject({ result: 'UNKNOWN', response: { gatewayCode: 'TIMED_OUT' } });
    expect(paid.json.order).toMatchObject({ status: 'INITIATED', totalCapturedAmount: 0 });
    expect((await cards.ask('GET', path)).json).toMatchObject({ result: 'SUCCESS', order: { status: 'CAPTURED' } });
    expect(await cards.book(order)).toMatchObject([{ times: 1 }]);
  });
  test('an unknown wallet is refused', async () => {
    expect((await payToken('tok_approved', 'PAYPAL')).paid.json.error.field).toBe('order.walletProvider');
  });
});

describe('what is typed', () => {
  const good = { cardNumber: '5123 4500 0000 0008', expiryMonth: '1', expiryYear: '39', securityCode: '100' };
  test.each<[string, object, object]>([
    ['nothing', { cardNumber: '', expiryMonth: '', expiryYear: '', securityCode: '' }, { cardNumber: 'missing' }],
    ['a wrong check digit', { cardNumber: '5123450000000009' }, { cardNumber: 'invalid' }],
    ['letters', { cardNumber: '5123x' }, { cardNumber: 'invalid' }],
    ['a thirteenth month', { expiryMonth: '13' }, { expiryMonth: 'invalid' }],
    ['a year of another century', { expiryYear: '1939' }, { expiryYear: 'invalid' }],
    ['last month', { expiryMonth: 10, expiryYear: 26 }, { expiryYear: 'invalid' }],
    ['too short a code', { securityCode: '10' }, { securityCode: 'invalid' }],
    ['too long a code', { securityCode: '10000' }, { securityCode: 'invalid' }],
    ['a number as a name', { nameOnCard: '5123 4500 0000 0008' }, { nameOnCard: 'invalid' }],
  ])('%s is refused, naming the field', (_name, change, errors) => {
    const read = readCard({ ...good, ...change }, now);
    expect(read).toMatchObject({ kind: 'errors', errors });
  });

  test.each<[string, object]>([
    ['month and year as numbers', { expiryMonth: 5, expiryYear: 39 }],
    ['with a nought and a century', { expiryMonth: '05', expiryYear: '2039' }],
    ['a year as a whole number', { expiryMonth: '5', expiryYear: 2039 }],
    ['this month', { expiryMonth: 11, expiryYear: 26 }],
    ['a code of four digits', { securityCode: '1000' }],
    ['a code of three digits on an American Express card', { cardNumber: '378282246310005' }],
    ['a documented date, long past', { expiryMonth: 4, expiryYear: 27 }],
  ])('%s is accepted', (name, change) => {
    const at = name.includes('long past') ? Date.UTC(2060, 0, 1) : now;
    expect(readCard({ ...good, ...change }, at).kind).toBe('card');
  });

  test('the masked form shows ten digits at most, and every test card number is valid', () => {
    for (const { number } of testCards) {
      expect(isLuhn(number)).toBe(true);
      const shown = show({ number, month: 1, year: 39 }).number;
      expect(shown).toMatch(/^\d{6}x{6}\d{4}$/);
    }
  });

  test('one wrong digit is always detected', () => {
    const digits = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 13, maxLength: 19 });
    fc.assert(
      fc.property(digits, fc.nat(), fc.integer({ min: 1, max: 9 }), (number, where, shift) => {
        const at = where % number.length;
        const changed = number.with(at, ((number[at] ?? 0) + shift) % 10);
        expect(isLuhn(number.join('')) && isLuhn(changed.join(''))).toBe(false);
      }),
    );
  });

  test.each([
    [{ number: '5123450000000009' }, '1106', 'INVALID_CARD_NUMBER'],
    [{ expiry_month: '13' }, '1107', 'INVALID_CARD_EXPIRY'],
    [{ expiry_year: '20', security_code: '1' }, '1107', 'INVALID_CARD_EXPIRY'],
    [{ security_code: '12345' }, '1108', 'INVALID_CARD_CVV'],
    [{ name_on_card: 'a'.repeat(101) }, '1110', 'INVALID_FIELD_FORMAT'],
  ])('%j is %s for programs', async (wrong, error_code, error_name) => {
    const { session } = await cards.open();
    const right = { number: '5123450000000008', expiry_month: '1', expiry_year: '39', security_code: '100' };
    const bad = await cards.control(`/sessions/${session}`, { ...right, ...wrong });
    expect(bad).toMatchObject({ status: 400, json: { error: 'fields_in_error', error_code, error_name } });
  });

  test('an answer never repeats what was typed', async () => {
    const opened = await cards.open();
    const bad = await cards.control(`/sessions/${opened.session}`, { number: '5123450000000009', expiry_month: '77' });
    expect(bad).toMatchObject({
      status: 400,
      json: {
        error: 'fields_in_error',
        fields: { number: 'invalid', expiry_month: 'invalid', expiry_year: 'missing', security_code: 'missing' },
      },
    });
    expect(bad.text).not.toMatch(/51234500|"77"/);
    const session: Json = (await cards.ask('GET', `/session/${opened.session}`)).json;
    expect(session.sourceOfFunds).toBeUndefined();
  });
});
