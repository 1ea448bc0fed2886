import fc from 'fast-check';
import { expect, test } from 'vitest';
import { feeColumns, feeOf, feeRuleFor, totalOf } from './fee.ts';
import type { FeeRule } from './records.ts';

const every: FeeRule = { currency: 'usd', rate_ppm: 10_000 };
const cards: FeeRule = { currency: 'usd', method: 'card', rate_ppm: 29_000, fixed_minor: '30' };

test('a rule for the method takes precedence over the rule for every method', () => {
  expect(feeRuleFor([every, cards], 'card', 'usd')).toBe(cards);
  expect(feeRuleFor([cards, every], 'wallet', 'usd')).toBe(every);
  expect(feeRuleFor([cards, every], 'wallet', 'cdf')).toBeUndefined();
  expect(feeRuleFor(undefined, 'wallet', 'usd')).toBeUndefined();
});

test('a rule for every method is for payments: a payout has its own rule or none', () => {
  const wallets: FeeRule = { currency: 'usd', method: 'payout_wallet', rate_ppm: 5_000 };
  expect(feeRuleFor([every, cards, wallets], 'payout_wallet', 'usd')).toBe(wallets);
  expect(feeRuleFor([every, cards, wallets], 'payout_mobile_money', 'usd')).toBeUndefined();
  expect(feeRuleFor([every, cards, wallets], 'wallet', 'usd')).toBe(every);
  expect(feeRuleFor([every, cards], 'payout_wallet', 'usd')).toBeUndefined();
});

test.each([
  [cards, 10_000n, 320n],
  [{ ...every, min_minor: '50' }, 100n, 50n],
  [{ ...every, max_minor: '50' }, 1_000_000n, 50n],
  [{ ...every, min_minor: '50', max_minor: '500' }, 10_000n, 100n],
  // Half a minor unit is rounded to the even neighbour.
  [every, 50n, 0n],
  [every, 150n, 2n],
  // So is half a unit of the share and the fixed part together: 0.205 and 0.05 make 0.255.
  [{ ...every, fixed_minor: '5' }, 2050n, 26n],
  [{ ...every, fixed_minor: '5' }, 2150n, 26n],
  [{ ...every, fixed_minor: '5' }, 50n, 6n],
  [{ ...every, fixed_minor: '10' }, 2050n, 30n],
  [undefined, 150n, 0n],
])('%j on %s is %s', (rule, amount, fee) => {
  expect(feeOf(rule, amount)).toBe(fee);
});

test('a fee stays within its bounds, and grows with the amount', () => {
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 15n });
  fc.assert(
    fc.property(amounts, amounts, fc.integer({ min: 0, max: 1_000_000 }), (a, b, rate) => {
      const rule: FeeRule = { currency: 'usd', rate_ppm: rate, fixed_minor: '7', min_minor: '10', max_minor: '9999' };
      const [low, high] = a < b ? [a, b] : [b, a];
      expect(feeOf(rule, low) <= feeOf(rule, high)).toBe(true);
      expect(feeOf(rule, a) >= 10n && feeOf(rule, a) <= 9999n).toBe(true);
    }),
  );
});

test('the buyer pays the fee on top, the merchant out of the amount', () => {
  expect(totalOf(1000n, 25n, 'buyer')).toBe(1025n);
  expect(totalOf(1000n, 25n, 'merchant')).toBe(1000n);
});

test('takes from a merchant no more than the payment brings, and from a buyer all of the fee', () => {
  const fees = [{ currency: 'usd', rate_ppm: 0, fixed_minor: '30' }] as const;
  const merchant = { settings: { fees } };
  const bound = { amount_minor: 20n, currency: 'usd' } as const;
  expect(feeColumns(merchant, 'wallet', bound, 'merchant')).toEqual({ fee_minor: 20n, total_minor: 20n });
  expect(feeColumns(merchant, 'wallet', bound, 'buyer')).toEqual({ fee_minor: 30n, total_minor: 50n });
  const larger = { ...bound, amount_minor: 31n };
  expect(feeColumns(merchant, 'wallet', larger, 'merchant')).toEqual({ fee_minor: 30n, total_minor: 31n });
});
