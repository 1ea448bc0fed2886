import { describe, expect, test } from 'vitest';
import { readAuthentication, readForm, readInitiation } from './authentication.ts';

const ordered = {
  operation: 'PAY',
  orderId: 'txn_1',
  transactionId: 'att_1-3ds',
  amountMinor: 1_250n,
  currency: 'usd',
} as const;

const answered = (body: object, status = 200) => ({ kind: 'answered', status, body }) as const;

/** An answer about what was ordered, with that status of authentication and recommendation. */
function bodyOf(status: string, gatewayRecommendation?: string) {
  return {
    order: { id: 'txn_1', amount: 12.5, currency: 'USD' },
    transaction: { id: 'att_1-3ds', amount: 12.5, currency: 'USD', authenticationStatus: status },
    response: { gatewayRecommendation },
  };
}

const kindOf = (body: object, status = 200) => readAuthentication(answered(body, status), ordered).answer.kind;

describe('what the issuer said counts only with the network’s recommendation', () => {
  test.each([
    'AUTHENTICATION_SUCCESSFUL',
    'AUTHENTICATION_ATTEMPTED',
    'AUTHENTICATION_EXEMPT',
    'AUTHENTICATION_NOT_SUPPORTED',
    'AUTHENTICATION_NOT_IN_EFFECT',
    'AUTHENTICATION_UNAVAILABLE',
  ])('%s', (status) => {
    expect(kindOf(bodyOf(status, 'PROCEED'))).toBe('authenticated');
    expect([kindOf(bodyOf(status)), kindOf(bodyOf(status, 'WAIT'))]).toEqual(['unknown', 'unknown']);
  });

  test.each(['DO_NOT_PROCEED', 'RESUBMIT_WITH_ALTERNATIVE_PAYMENT_DETAILS'])('%s ends the attempt', (stop) => {
    for (const status of ['AUTHENTICATION_SUCCESSFUL', 'AUTHENTICATION_PENDING', 'AUTHENTICATION_UNAVAILABLE'])
      expect(kindOf(bodyOf(status, stop))).toBe('rejected');
  });

  test.each(['AUTHENTICATION_FAILED', 'AUTHENTICATION_REJECTED'])('%s ends it whatever is recommended', (status) => {
    expect([kindOf(bodyOf(status)), kindOf(bodyOf(status, 'PROCEED'))]).toEqual(['rejected', 'rejected']);
  });

  test('a customer can be authenticated only if the network recommends to go on', () => {
    const begun = (recommendation?: string) =>
      readInitiation(answered(bodyOf('AUTHENTICATION_AVAILABLE', recommendation)), 'txn_1');
    expect(begun('PROCEED')).toBe('available');
    expect(begun()).toMatchObject({ answer: { kind: 'unknown' } });
    expect(begun('DO_NOT_PROCEED')).toMatchObject({ answer: { kind: 'rejected' } });
  });
});

describe('an answer about something else authenticates nobody', () => {
  const right = bodyOf('AUTHENTICATION_SUCCESSFUL', 'PROCEED');
  test.each([
    ['order.id', { ...right, order: { ...right.order, id: 'txn_2' } }],
    ['transaction.id', { ...right, transaction: { ...right.transaction, id: 'att_1' } }],
    ['transaction.amount', { ...right, transaction: { ...right.transaction, amount: 1 } }],
    ['transaction.currency', { ...right, transaction: { ...right.transaction, currency: 'CDF' } }],
  ])('another %s', (what, body) => {
    const mismatch = { answer: { kind: 'unknown' }, alarm: { kind: 'mismatch', what } };
    expect(readAuthentication(answered(body), ordered)).toMatchObject(mismatch);
  });

  test('another order, as it begins', () => {
    const alarm = { kind: 'mismatch', what: 'order.id' };
    const body = bodyOf('AUTHENTICATION_AVAILABLE', 'PROCEED');
    expect(readInitiation(answered(body), 'txn_2')).toMatchObject({ answer: { kind: 'unknown' }, alarm });
    expect(readInitiation(answered({ ...body, order: {} }), 'txn_2')).toBe('available');
  });

  test('and so does one beside a status that is none', () => {
    for (const status of [302, 404, 500]) expect(kindOf(right, status)).toBe('unknown');
  });
});

describe('a form', () => {
  const order = {
    attemptId: 'att_1',
    orderId: 'txn_1',
    sessionId: 'SESSION1',
    amountMinor: 1_250n,
    currency: 'usd',
  } as const;
  const filled = {
    session: { id: 'SESSION1' },
    order: { id: 'txn_1', amount: '12.50', currency: 'USD' },
    sourceOfFunds: { provided: { card: {} } },
  };
  const answerOf = (body: object, status = 200) => readForm(answered(body, status), order)?.answer;

  test('is usable only as it was bound: this session, order, amount and currency, with a card', () => {
    expect(answerOf(filled)).toBeUndefined();
    expect(answerOf({ ...filled, session: { id: 'SESSION2' } })).toMatchObject({ kind: 'not_sent' });
    for (const other of [{ id: 'txn_2' }, { amount: '0.01' }, { currency: 'CDF' }])
      expect(answerOf({ ...filled, order: { ...filled.order, ...other } })).toEqual({
        kind: 'unusable',
        fault: 'changed',
      });
    expect(answerOf({ ...filled, sourceOfFunds: {} })).toEqual({ kind: 'unusable', fault: 'no_card' });
  });

  test('that has paid is told from a request that is wrong otherwise', () => {
    const refused = (field: string, explanation: string) =>
      readAuthentication(
        answered({ result: 'ERROR', error: { cause: 'INVALID_REQUEST', field, explanation } }, 400),
        ordered,
      );
    const used = { kind: 'unusable', fault: 'used' };
    expect(refused('session.id', 'The session has been used to pay.').answer).toEqual(used);
    expect(refused('session.id', 'Not a session.').answer.kind).toBe('not_sent');
    expect(refused('order.reference', 'The reference was used before.').answer.kind).toBe('not_sent');
    expect(refused('sourceOfFunds.provided.card.number', 'is missing').answer).toMatchObject({ fault: 'no_card' });
  });
});
