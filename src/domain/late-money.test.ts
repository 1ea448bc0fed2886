import { expect, test } from 'vitest';
import { bookedColumns, bookLate, lateMoneyOf, lateTargetsOf, whyNotKept } from './late-money.ts';
import { PAYMENT } from './payment.ts';
import { attempt, payment } from './testing/settlement-world.ts';

test('a merchant may keep late money only of what has ended unpaid', () => {
  const states = Object.keys(PAYMENT.table) as (keyof typeof PAYMENT.table)[];
  const kept = states.filter((status) => whyNotKept({ status }) === undefined);
  expect(kept.toSorted()).toEqual(['cancelled', 'declined', 'expired', 'failed']);
  const paid = states.filter((status) => whyNotKept({ status }) === 'paid');
  expect(paid.toSorted()).toEqual(['approved', 'refunded']);
});

test.each(['payment', 'payout', 'refund'] as const)(
  'late money of a %s is in the account to which it was booked',
  (purpose) => {
    expect(lateMoneyOf({ purpose, reason: 'late_success' })).toBe('waits');
    expect(lateMoneyOf({ purpose, reason: null })).toBeUndefined();
    for (const to of lateTargetsOf(purpose)) expect(lateMoneyOf({ purpose, ...bookedColumns(to) })).toBe(to);
  },
);

test.each([1024n, 1025n, 1026n])(
  'of %s that came late for 1000 and a fee of 25, all is booked at once available, or nothing',
  (amount_minor) => {
    const late = { ...attempt, status: 'approved' as const, amount_minor };
    // Its fee is that of the attempt, and a delivery is not waited for.
    const expired = { ...payment, status: 'expired', fee_minor: 0n, delivery_behaviour: 'delayed_delivery' } as const;
    const book = () => bookLate(late, expired, 'merchant', { ids: ['trf_1', 'trf_2'], now: 5 }, []);
    if (amount_minor !== 1025n) return expect(book).toThrow('another amount');
    expect(book().change.transfers).toMatchObject([
      { cause: 'late_payment', credit: { id: `${payment.merchant_id}:available:usd` }, amount_minor: 1000n },
      { cause: 'late_fee', credit: { id: 'fees:usd' }, amount_minor: 25n },
    ]);
  },
);
