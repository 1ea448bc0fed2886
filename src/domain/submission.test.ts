/** Whether a session may pay a payment now, and by which method. */
import { describe, expect, test } from 'vitest';
import { methodId } from './method.ts';
import { requireInTime } from './payment.ts';
import type { Merchant, Payment, PaymentMethod, Session } from './records.ts';
import { Refusal } from './refusal.ts';
import {
  chooseMeans,
  isChoosable,
  type Means,
  methodColumns,
  refuseNotMine,
  requireMine,
  requireSubmittable,
  SubmitUnderWay,
  unknownMethod,
} from './submission.ts';
import { payment as collected, session as minted } from './testing/settlement-world.ts';

const NOW = 10;
const payment: Payment = { ...collected, status: 'pending', method: 'none', attempt_id: null, submitted_at: null };
const session: Session = { ...minted, submitting_payment_id: null, expires_at: NOW + 1 };
const other = `${payment.id}2`;
const merchant: Merchant = {
  shard: payment.shard,
  id: payment.merchant_id,
  version: 1,
  name: 'Boutique Kivu',
  status: 'ALLOWED',
  settings: {},
  created_at: 1,
};

/** What the check answers: the refusal's code, the payment that holds the session, or nothing. */
function outcomeOf(check: () => void): number | string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    if (error instanceof SubmitUnderWay) return error.paymentId;
    throw error;
  }
}

describe('a submit of a payment', () => {
  test.each<[string, Partial<Session>, Partial<Payment>, number | string | undefined]>([
    ['that is pending on an open session may go ahead', {}, {}, undefined],
    ['on a session that has paid is refused as such', { status: 'CONSUMED' }, {}, 1001],
    ['on a session whose time is over is refused as such', { expires_at: NOW }, {}, 1005],
    ['waits for another one that holds the session', { submitting_payment_id: other }, {}, other],
    ['waits for the one that has begun since the session was read', {}, { status: 'processing' }, payment.id],
    ['that has expired is refused by its state', {}, { status: 'expired' }, 1205],
    ['whose card was declined is refused by its state', {}, { status: 'declined' }, 1205],
    [
      'that its customer gave up at the issuer is refused by its state',
      {},
      { status: 'cancelled', reason: 'authentication_cancelled' },
      1205,
    ],
    ['that ended with another one’s payment', {}, { status: 'cancelled', reason: 'sibling_paid' }, 1001],
    ['that has paid, as an older session row does not yet say', {}, { status: 'approved' }, 1001],
    [
      'that has paid, while an older session row still says that it is held',
      { submitting_payment_id: payment.id },
      { status: 'approved' },
      1001,
    ],
    ['that waits at the carrier', {}, { status: 'pending_mobile_money_verification' }, 1001],
  ])('%s', (_, ofSession, ofPayment, expected) => {
    const check = (): void => requireSubmittable({ ...session, ...ofSession }, { ...payment, ...ofPayment }, NOW);
    expect(outcomeOf(check)).toBe(expected);
  });

  test.each<[string, Partial<Session>, Partial<Payment>, string | undefined, number?]>([
    ['the one that consumed it', { status: 'CONSUMED', submitting_payment_id: other }, {}, other],
    ['this one, whoever held the session before', { submitting_payment_id: other }, { status: 'approved' }, payment.id],
    [
      'the one that was submitted before its time was over',
      { expires_at: NOW, submitting_payment_id: other },
      {},
      other,
      1005,
    ],
    ['none where another one has paid since', {}, { status: 'cancelled', reason: 'sibling_paid' }, undefined],
  ])('on a session that has paid is told which payment to read: %s', (_, ofSession, ofPayment, named, code = 1001) => {
    const check = (): void => requireSubmittable({ ...session, ...ofSession }, { ...payment, ...ofPayment }, NOW);
    expect(check).toThrow(expect.objectContaining({ code }));
    try {
      check();
    } catch (error) {
      expect(error instanceof Refusal && error.more.transactionId).toBe(named);
    }
  });

  test('of another merchant, of another session and of nobody are refused alike', () => {
    expect(requireMine(payment, session)).toBe(payment);
    for (const foreign of [undefined, { ...payment, merchant_id: 'mch_2' }, { ...payment, session_id: 'ses_2' }]) {
      expect(outcomeOf(() => requireMine(foreign, session))).toBe(1204);
    }
  });

  test('of another session says so within one merchant; that another merchant has such a payment is told to nobody', () => {
    const { transactionId, details } = refuseNotMine({ ...payment, session_id: 'ses_2' }, session).more;
    expect([transactionId, details?.[0]?.code]).toEqual([payment.id, 'OTHER_SESSION']);
    for (const foreign of [undefined, { ...payment, merchant_id: 'mch_2' }]) {
      expect(refuseNotMine(foreign, session).more).toEqual({});
    }
  });
});

describe('the method of a submit', () => {
  const wallet = `wallet (${methodId(merchant.id, 'wallet')})`;
  const phone: Means = { method: 'mobile_money', msisdn: '+243810000042' };
  const refusalOf = (of: Partial<Payment>, means: Means, offered: Parameters<typeof chooseMeans>[3]) => {
    try {
      return chooseMeans({ ...payment, ...of }, merchant, means, offered);
    } catch (error) {
      if (error instanceof Refusal) return [error.code, error.more.details?.[0]];
      throw error;
    }
  };

  test('is the one that was collected, if one was, and one that the merchant offers', () => {
    expect(refusalOf({}, phone, ['wallet', 'mobile_money'])).toBe(phone);
    expect(refusalOf({ method: 'mobile_money' }, phone, ['mobile_money'])).toBe(phone);
    const mismatch = { field: 'payment_method_id', code: 'METHOD_MISMATCH', words: { options: wallet } };
    expect(refusalOf({ method: 'wallet' }, phone, ['wallet', 'mobile_money'])).toMatchObject([1103, mismatch]);
    expect(refusalOf({}, phone, ['wallet'])).toMatchObject([1103, { field: 'payment_method_id' }]);
  });

  test('is none of those that pay at the collect: the refusal does not name them', () => {
    const unknown = { code: 'UNKNOWN_PAYMENT_METHOD', words: { options: wallet } };
    expect(refusalOf({}, { method: undefined }, ['wallet', 'google_pay'])).toMatchObject([1103, unknown]);
    const tried: Means = { method: 'google_pay' };
    expect(refusalOf({}, tried, ['wallet', 'google_pay'])).toMatchObject([1103, { words: { options: 'wallet' } }]);
    // Beside other faults, before it is known what can be offered.
    expect(unknownMethod(merchant, ['wallet', 'google_pay'])).toMatchObject(unknown);
  });
});

test('a method that cannot carry a payment with its fee on top is refused, and is not one to choose', () => {
  const settings: Merchant['settings'] = { fees: [{ currency: payment.currency, rate_ppm: 1 }] };
  const asking = { ...merchant, settings };
  // Card networks take twelve digits before the decimal point.
  const large = { ...payment, amount_minor: 10n ** 14n - 1n };
  const by = (method: PaymentMethod) => outcomeOf(() => methodColumns(large, asking, method));
  expect([by('card'), by('mobile_money')]).toEqual([1202, undefined]);
  const canChoose = (method: PaymentMethod) => isChoosable(large, asking, method, NOW);
  expect([canChoose('card'), canChoose('mobile_money')]).toEqual([false, true]);
});

test('a payment’s time is over at its end, and not a millisecond before', () => {
  const at = (now: number) => [
    isChoosable(payment, merchant, 'wallet', now),
    outcomeOf(() => requireInTime(payment, now)),
  ];
  expect(at(payment.expires_at - 1)).toEqual([true, undefined]);
  expect(at(payment.expires_at)).toEqual([false, 1205]);
});
