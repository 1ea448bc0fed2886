import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CURRENCIES } from './currency.ts';
import { makeId } from './ids.ts';
import { formatMinor } from './money.ts';
import { type BatchStatus, batchStatus, nextLookBackAt, sumOfCounts } from './payout.ts';
import {
  approvalFor,
  batchOf,
  costOfLines,
  hasMore,
  linesOf,
  type PayoutOrder,
  reserved,
  totalMost,
  totalsOf,
} from './payout-order.ts';
import type { Merchant, MerchantSettings } from './records.ts';

const NOW = Date.UTC(2026, 10, 20);
const id = (prefix: 'mch' | 'batch' | 'txn' | 'trf', n = 0): string =>
  makeId(prefix, NOW, new Uint8Array(16).fill(n), 3);

function merchantWith(settings: MerchantSettings = {}): Merchant {
  return { shard: 3, id: id('mch'), version: 1, name: 'Boutique Kivu', status: 'ALLOWED', settings, created_at: NOW };
}

const order = (amounts: readonly bigint[], more: Partial<PayoutOrder> = {}): PayoutOrder => ({
  customer_reference: 'salaries',
  currency: 'usd',
  receipt_mode: 'wallet',
  sending_type: 'immediate',
  notify_url: 'https://shop.example/hook',
  note: null,
  language: 'en',
  lines: amounts.map((amountMinor, n) => ({
    msisdn: null,
    wallet_number: `57070000000000${n}`,
    connector: null,
    carrier: null,
    amount: formatMinor(amountMinor, 'usd'),
    amountMinor,
  })),
  dates: null,
  frequency: null,
  retry_of: null,
  ...more,
});

const place = { shard: 3, id: id('batch'), credentialId: 'key_of_the_backend', firstRunAt: null, now: NOW };
const dated = { sending_type: 'scheduled', dates: ['2027-01-01', '2027-02-01'] } as const;

test.each(CURRENCIES)('a payout in %s pays at most a million in total', (currency) => {
  expect(formatMinor(totalMost(currency), currency)).toMatch(/^1000000(\.00)?$/);
});

describe('a batch', () => {
  test('that is paid at once has no further occurrences; one with dates has', () => {
    const now = batchOf(merchantWith(), order([100n]), place);
    expect([hasMore(now), now.next_run_at, now.occurrences]).toEqual([false, null, 1]);
    const later = batchOf(merchantWith(), order([100n], dated), { ...place, firstRunAt: NOW + 1 });
    expect([hasMore(later), later.next_run_at, later.occurrences]).toEqual([true, NOW + 1, 2]);
    expect(hasMore({ ...later, next_occurrence: 2 })).toBe(true);
    expect(hasMore({ ...later, next_occurrence: 3 })).toBe(false);
    expect(hasMore({ ...later, cancelled_at: NOW })).toBe(false);
    expect(hasMore({ ...later, approval: 'rejected' })).toBe(false);
  });

  test('waits for an operator from the threshold on, not counting fees, and has no date until then', () => {
    const merchant = merchantWith({
      payout_approval_from: { usd: '1000' },
      fees: [{ method: 'payout_wallet', currency: 'usd', rate_ppm: 0, fixed_minor: '500' }],
    });
    expect(approvalFor(merchant, 999n, 'usd')).toBe('none');
    expect(approvalFor(merchant, 10_000n, 'cdf')).toBe('none');
    expect(batchOf(merchant, order([999n]), place).approval).toBe('none');
    const batch = batchOf(merchant, order([400n, 600n], dated), { ...place, firstRunAt: NOW });
    expect([batch.approval, batch.next_run_at, batch.next_occurrence]).toEqual(['waiting', null, 1]);
    expect(batchOf(merchant, order([1_000n]), place)).toMatchObject({ approval: 'waiting', next_occurrence: 1 });
  });

  test('runs at the merchant’s hour and in its time zone', () => {
    expect(batchOf(merchantWith(), order([1n]), place)).toMatchObject({ run_hour: 6, time_zone: 'UTC' });
    const merchant = merchantWith({ payout_hour: 0, payout_time_zone: 'Africa/Goma' });
    expect(batchOf(merchant, order([1n]), place)).toMatchObject({ run_hour: 0, time_zone: 'Africa/Goma' });
  });
});

test('whatever is ordered, the lines add up to the batch, and the reserved amount is what they cost', () => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 10n ** 9n }), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(amounts, fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: 1, max: 2 }), (each, rate, run) => {
      const fees = [{ method: 'payout_wallet', currency: 'usd', rate_ppm: rate, fixed_minor: '3' }] as const;
      const batch = batchOf(merchantWith({ fees }), order(each, dated), place);
      const ids = each.map((_, n) => id('txn', n));
      const lines = linesOf(batch, run, ids, NOW);
      const totals = totalsOf(batch.beneficiaries);
      expect(totals.amount_minor).toBe(each.reduce((sum, amount) => sum + amount, 0n));
      expect(costOfLines(lines)).toBe(totals.amount_minor + totals.fee_minor);
      expect(lines.map((line) => [line.id, line.position, line.scheduled_date])).toEqual(
        ids.map((one, position) => [one, position, dated.dates[run - 1]]),
      );
      const counts = { pending: lines.length, processing: 0, completed: 0, failed: 0 };
      expect(batchStatus(counts, hasMore(batch))).toBe('pending');
      const put = reserved(lines, ids, NOW);
      expect(put.transfers.reduce((sum, { amount_minor: minor }) => sum + minor, 0n)).toBe(costOfLines(lines));
      expect(put.lines.every((line) => line.reserved_at === NOW && (line.next_start_at ?? 0) > NOW)).toBe(true);
    }),
  );
});

test.each<[BatchStatus, number, number, number, number, boolean]>([
  ['pending', 2, 0, 0, 0, true],
  ['processing', 0, 2, 0, 0, false],
  ['processing', 1, 0, 1, 0, false],
  ['processing', 1, 0, 0, 1, false],
  ['processing', 0, 1, 0, 1, false],
  ['processing', 0, 0, 2, 0, true],
  ['completed', 0, 0, 2, 0, false],
  ['partial_success', 0, 0, 1, 1, false],
  ['failed', 0, 0, 0, 2, false],
])('a batch is %s with %i pending, %i processing, %i completed and %i failed lines; more to come: %s', (...row) => {
  const [status, pending, processing, completed, failed, more] = row;
  expect(batchStatus({ pending, processing, completed, failed }, more)).toBe(status);
});

test('the counts of occurrences are added up each for itself', () => {
  const one = { pending: 1, processing: 10, completed: 100, failed: 1_000 };
  expect(sumOfCounts([one, one])).toEqual({ pending: 2, processing: 20, completed: 200, failed: 2_000 });
});

test.each([
  [20_000, 0, 30_000],
  [20_000, null, 29_500],
  [1_000, 0, 6_000],
  [10_000_000, 0, 10_300_000],
])(
  'at %i an order that was sent at %o is looked at again at %i: the longer it takes, the later',
  (now, started, next) => {
    expect(nextLookBackAt({ started_at: started, created_at: 1_000 }, now)).toBe(next);
  },
);
