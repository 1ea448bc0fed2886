/**
 * Making a refund: how much may be given back, where the money is taken from, and how it is returned.
 *
 * Invariant: refunds that are completed and open together never exceed the payment's amount. What is still held for the payment
 * is taken first, the merchant's available balance only for the rest.
 */

import { type AccountRef, type Change, type DecisionContext, revise, type Transfer } from './change.ts';
import { merchantAccount, merchantShare, walletAccount } from './ledger.ts';
import { formatMinor, parseAmount } from './money.ts';
import { isTakenAfterAll } from './outgoing.ts';
import type { Refund } from './outgoing-records.ts';
import { START_LEASE_MS } from './payout.ts';
import type { Payment } from './records.ts';
import { giveBack, transferOf } from './refund.ts';
import { Refusal, type RefusalDetail, refuseField } from './refusal.ts';

/** What a merchant asks for. */
export interface RefundCommand {
  /** Absent: all that is left. */
  readonly amount: string | undefined;
  /** The merchant's words. */
  readonly note: string | null;
}

/** How the money goes back: by the method that paid, to whoever paid. */
export type RefundRoute =
  | { readonly kind: 'wallet'; readonly number: string }
  | {
      readonly kind: 'upstream';
      /** As `Refund.connector`. */
      readonly connector: string;
      /** As customers know it. */
      readonly carrier: string;
      /** The phone that paid (E.164); null for cards. */
      readonly msisdn: string | null;
    }
  /** A person does it: no connected upstream can. */
  | { readonly kind: 'by_hand' };

/** The rows that a new refund is decided on. */
export interface RefundSources {
  readonly payment: Payment;
  /** The payment's refunds so far, read after it. */
  readonly earlier: readonly Refund[];
  /** What the merchant has available in the currency. */
  readonly availableMinor: bigint;
}

/** What a new refund writes, and the refund and its payment as they will be. */
export interface RefundMade {
  readonly change: Change;
  readonly refund: Refund;
  readonly payment: Payment;
}

/** Whether money of the payment may still be held for its merchant. */
function mayBeHeld(payment: Pick<Payment, 'delivery_behaviour' | 'released_at'>): boolean {
  return payment.delivery_behaviour === 'delayed_delivery' && payment.released_at === null;
}

/** What is still held of a delayed payment's share, or was held until its release: the share less what refunds took. */
export function heldShare(payment: Payment, refunds: readonly Pick<Refund, 'from_held_minor'>[]): bigint {
  return refunds.reduce((left, { from_held_minor }) => left - from_held_minor, merchantShare(payment));
}

/**
 * What a new refund writes. A wallet of ours is credited at once; otherwise the money is reserved. `routeBack` finds how the money
 * goes back, and is called only if the payment has been paid.
 *
 * @throws Refusal 1205 when the payment is not approved, 1101 when the amount is not valid in its currency, 1202 when it exceeds
 *   what is left, or the payment has had its maximum of refunds, 1201 when the merchant's money does not cover it.
 */
export function makeRefund(
  { payment, earlier, availableMinor }: RefundSources,
  command: RefundCommand,
  routeBack: () => RefundRoute,
  context: DecisionContext,
): RefundMade {
  requireRefundable(payment);
  const route = routeBack();
  const asked = requireRest(payment, earlier, command.amount);
  requireFew(payment, earlier);
  const heldMinor = mayBeHeld(payment) ? heldShare(payment, earlier) : 0n;
  const from_held_minor = heldMinor < asked.minor ? heldMinor : asked.minor;
  requireFunds(payment, asked.minor - from_held_minor, availableMinor);
  const refund = newRefund(payment, { ...asked, from_held_minor, note: command.note }, route, context);
  const take = (credit: AccountRef, cause: 'refund' | 'refund_reserved'): Transfer[] =>
    (['held', 'available'] as const).flatMap((what) => {
      const amount = what === 'held' ? from_held_minor : asked.minor - from_held_minor;
      const debit = merchantAccount(payment.merchant_id, what, payment.currency);
      return amount > 0n ? [transferOf(refund, { debit, credit, amount_minor: amount, cause }, context)] : [];
    });
  if (route.kind === 'wallet') {
    const given = giveBack(payment, refund, payment.refunding_minor, context);
    const transfers = take(walletAccount(route.number), 'refund');
    const inserts = [{ table: 'refund', row: refund } as const, ...given.inserts];
    return { refund, payment: given.payment, change: { updates: given.updates, inserts, transfers } };
  }
  const { update, after } = revise('payment', payment, { refunding_minor: payment.refunding_minor + asked.minor });
  const reserved = merchantAccount(payment.merchant_id, 'reserved', payment.currency);
  return {
    refund,
    payment: after,
    change: {
      updates: [update],
      inserts: [{ table: 'refund', row: refund }],
      transfers: take(reserved, 'refund_reserved'),
    },
  };
}

/** Refunds that one payment can have, failed ones included: each is decided on all those before. */
export const REFUNDS_OF_A_PAYMENT = 200;

function requireFew({ id }: Payment, { length }: readonly Refund[]): void {
  if (length < REFUNDS_OF_A_PAYMENT) return;
  const words = { maximum: REFUNDS_OF_A_PAYMENT };
  const details = [{ field: 'transaction_id', code: 'REFUNDS_USED', words }] as const;
  throw new Refusal(1202, { transactionId: id, details });
}

/** Only a paid payment can be refunded; if all of it has been, the refusal says so. */
function requireRefundable({ id, status }: Payment): void {
  if (status === 'approved') return;
  const words = { state: status };
  const detail: RefusalDetail =
    status === 'refunded'
      ? { field: 'transaction_id', code: 'NOTHING_LEFT' }
      : { field: 'transaction_id', code: 'NOT_PAID', words };
  throw new Refusal(1205, { transactionId: id, words, details: [detail] });
}

/** What can still be given back. */
function restOf(payment: Payment, earlier: readonly Refund[]): bigint {
  const left = leftOf(payment, earlier);
  return left > 0n ? left : 0n;
}

/**
 * What is left of a payment's amount; negative if more is on its way than was paid. A failed refund that was accepted or paid late
 * has used up its share.
 */
function leftOf({ amount_minor, refunded_minor, refunding_minor }: Payment, refunds: readonly Refund[]): bigint {
  const gone = refunds.filter(isTakenAfterAll);
  return gone.reduce((left, refund) => left - refund.amount_minor, amount_minor - refunded_minor - refunding_minor);
}

/** Whether a payment's refunds would give back more than was paid, because a failed one was accepted or paid after all. */
export function isOverRefunded(payment: Payment, refunds: readonly Refund[]): boolean {
  return leftOf(payment, refunds) < 0n;
}

function requireRest(
  payment: Payment,
  earlier: readonly Refund[],
  text: string | undefined,
): { readonly amount: string; readonly minor: bigint } {
  const { currency, amount_minor } = payment;
  const left = restOf(payment, earlier);
  const whole = left === amount_minor ? payment.amount : formatMinor(left, currency);
  const minor = text === undefined ? left : parseAmount(text, currency)?.minor;
  if (minor === undefined) throw refuseField(1101, 'amount', 'INVALID_AMOUNT');
  if (left === 0n) {
    const details = [{ field: 'transaction_id', code: 'REFUND_UNDER_WAY' }] as const;
    throw new Refusal(1202, { transactionId: payment.id, details });
  }
  if (minor > left) {
    const words = { left: formatMinor(left, currency), currency };
    throw new Refusal(1202, {
      transactionId: payment.id,
      details: [{ field: 'amount', code: 'ABOVE_REFUNDABLE', words }],
    });
  }
  return { amount: text ?? whole, minor };
}

function requireFunds({ id, currency }: Payment, neededMinor: bigint, availableMinor: bigint): void {
  if (neededMinor <= availableMinor) return;
  const words = {
    needed: formatMinor(neededMinor, currency),
    available: formatMinor(availableMinor, currency),
    currency,
  };
  throw new Refusal(1201, { transactionId: id, details: [{ field: 'amount', code: 'BALANCE_SHORT', words }] });
}

interface Asked {
  readonly amount: string;
  readonly minor: bigint;
  readonly from_held_minor: bigint;
  readonly note: string | null;
}

function newRefund(payment: Payment, asked: Asked, route: RefundRoute, { now, newId }: DecisionContext): Refund {
  if (payment.method === 'none') throw new Error(`payment ${payment.id} was approved without a method`);
  const isPaid = route.kind === 'wallet';
  return {
    shard: payment.shard,
    id: newId('rfd', payment.shard),
    version: 1,
    merchant_id: payment.merchant_id,
    payment_id: payment.id,
    status: isPaid ? 'completed' : 'pending',
    method: payment.method,
    amount: asked.amount,
    amount_minor: asked.minor,
    from_held_minor: asked.from_held_minor,
    currency: payment.currency,
    note: asked.note,
    msisdn: route.kind === 'upstream' ? route.msisdn : null,
    wallet_number: route.kind === 'wallet' ? route.number : null,
    connector: route.kind === 'upstream' ? route.connector : null,
    carrier: route.kind === 'upstream' ? route.carrier : null,
    attempt_id: null,
    late_attempt_id: null,
    provider_reference: null,
    reason: null,
    tries: isPaid ? 1 : 0,
    // Born leased: the process that commits it starts it at once.
    next_start_at: route.kind === 'upstream' ? now + START_LEASE_MS : null,
    created_at: now,
    started_at: isPaid ? now : null,
    completed_at: isPaid ? now : null,
  };
}
