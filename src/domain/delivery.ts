/**
 * Delayed delivery: an approved payment's money is held, until the merchant or an operator releases it (contract §4).
 *
 * Invariant: held money is released once. The payment remembers when; a second release writes nothing. What refunds have
 * taken of it is not released.
 */

import { type Change, revise, type Transfer } from './change.ts';
import { merchantAccount } from './ledger.ts';
import type { Refund } from './outgoing-records.ts';
import { refuseState } from './payment.ts';
import type { Payment } from './records.ts';
import { heldShare } from './refund-order.ts';
import { Refusal } from './refusal.ts';

/** Held money that is the merchant's from now on, or has been. */
export interface Released {
  readonly payment: Payment;
  /** What the merchant receives, in minor units. */
  readonly amountMinor: bigint;
  /** When it was first released. */
  readonly releasedAt: number;
}

/**
 * What a release writes; no change when it has been released before. `refunds` are the payment's, read after it;
 * `transferId` is a fresh one.
 *
 * @throws Refusal 1205 for what was delivered directly, or is not approved.
 */
export function releaseDelivery(
  payment: Payment,
  refunds: readonly Pick<Refund, 'from_held_minor'>[],
  transferId: string,
  now: number,
): { readonly change?: Change; readonly answer: Released } {
  const amountMinor = heldShare(payment, refunds);
  if (payment.released_at !== null) return { answer: { payment, amountMinor, releasedAt: payment.released_at } };
  if (payment.status !== 'approved') throw refuseState(payment, 'transaction_id');
  if (payment.delivery_behaviour !== 'delayed_delivery') {
    const details = [{ field: 'transaction_id', code: 'NOT_DELAYED' }] as const;
    throw new Refusal(1205, { transactionId: payment.id, words: { state: payment.status }, details });
  }
  const { shard, id, merchant_id, currency } = payment;
  const { update, after } = revise('payment', payment, { released_at: now });
  const transfer: Transfer = {
    shard,
    id: transferId,
    debit: merchantAccount(merchant_id, 'held', currency),
    credit: merchantAccount(merchant_id, 'available', currency),
    amount_minor: amountMinor,
    currency,
    cause: 'release',
    cause_id: id,
    at: now,
  };
  return {
    change: {
      updates: [update],
      // A fee or refunds may have used up all of it.
      transfers: amountMinor > 0n ? [transfer] : [],
    },
    answer: { payment: after, amountMinor, releasedAt: now },
  };
}
