import { expect, test } from 'vitest';
import { lateMoneyOf, whyNotKept } from './late-money.ts';
import { PAYMENT } from './payment.ts';

test('a merchant keeps late money of what has ended unpaid, and of nothing else', () => {
  const states = Object.keys(PAYMENT.table) as (keyof typeof PAYMENT.table)[];
  const kept = states.filter((status) => whyNotKept({ status }) === undefined);
  expect(kept.toSorted()).toEqual(['cancelled', 'declined', 'expired', 'failed']);
  const paid = states.filter((status) => whyNotKept({ status }) === 'paid');
  expect(paid.toSorted()).toEqual(['approved', 'refunded']);
});

test('only a payment has late money that can be booked', () => {
  const reason = 'late_success';
  expect(lateMoneyOf({ purpose: 'payment', reason })).toBe('waits');
  expect(lateMoneyOf({ purpose: 'payout', reason })).toBeUndefined();
  expect(lateMoneyOf({ purpose: 'refund', reason })).toBeUndefined();
  expect(lateMoneyOf({ purpose: 'payment', reason: null })).toBeUndefined();
});
