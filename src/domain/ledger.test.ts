/** The law of a payment's transfers: all that was paid arrives, at the right accounts, and nothing of zero is moved. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeId } from './ids.ts';
import {
  feesAccount,
  floatAccount,
  merchantAccount,
  merchantShare,
  paymentTransfers,
  suspenseAccount,
  transitAccount,
  walletAccount,
} from './ledger.ts';
import type { Payment } from './records.ts';
import { paid, SHARD } from './testing/refund-world.ts';

const source = transitAccount(SHARD, 'mtn-momo', 'usd');
const ids = [makeId('trf', 1, new Uint8Array(16), SHARD), makeId('trf', 2, new Uint8Array(16), SHARD)] as const;

/** A payment whose fee comes on top, or is taken out of the amount and is never above it. */
const payments = fc
  .record({
    fee_covered_by: fc.constantFrom('buyer' as const, 'merchant' as const),
    delivery_behaviour: fc.constantFrom('direct_delivery' as const, 'delayed_delivery' as const),
    amount_minor: fc.bigInt({ min: 1n, max: 3n }),
    fee_minor: fc.bigInt({ min: 0n, max: 3n }),
  })
  .filter(({ fee_covered_by, amount_minor, fee_minor }) => fee_covered_by === 'buyer' || fee_minor <= amount_minor)
  .map((row): Payment => {
    const onTop = row.fee_covered_by === 'buyer' ? row.fee_minor : 0n;
    return { ...paid, ...row, total_minor: row.amount_minor + onTop };
  });

test('all that was paid arrives: the fee with us, the rest with the merchant, available only without delivery', () => {
  fc.assert(
    fc.property(payments, (payment) => {
      const transfers = paymentTransfers(payment, source, ids, 5);
      const balance = payment.delivery_behaviour === 'direct_delivery' ? 'available' : 'held';
      const arrived = transfers.map(({ credit, amount_minor, cause }) => [cause, credit.id, amount_minor]);
      const due = [
        ['payment', `${payment.merchant_id}:${balance}:usd`, payment.total_minor - payment.fee_minor],
        ['fee', 'fees:usd', payment.fee_minor],
      ];
      // The store refuses to move nothing.
      expect(arrived).toEqual(due.filter(([, , amount]) => amount !== 0n));
      expect(transfers.map(({ debit }) => debit)).toEqual(transfers.map(() => source));
      expect(merchantShare(payment)).toBe(payment.total_minor - payment.fee_minor);
    }),
  );
});

test('what we owe never goes below zero; what is owed to us, or waits for a person, may', () => {
  const owed = [
    ...(['available', 'reserved', 'held'] as const).map((what) => merchantAccount(paid.merchant_id, what, 'usd')),
    walletAccount('5707070000000425'),
  ];
  expect(owed.map(({ floored }) => floored)).toEqual([true, true, true, true]);
  const ours = [source, feesAccount(SHARD, 'usd'), floatAccount(SHARD, 'usd'), suspenseAccount(SHARD, 'usd')];
  expect(ours.map(({ floored }) => floored)).toEqual([false, false, false, false]);
});
