import { expect, test } from 'vitest';
import { bookedColumns, lateMoneyOf, lateTargetsOf, whyNotKept } from './late-money.ts';
import { PAYMENT } from './payment.ts';

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
