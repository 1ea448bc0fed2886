/**
 * Money that left for a payout line or refund after that had already ended without it, and who bears the cost.
 *
 * Invariant: it is booked once, like all late money, and a merchant is charged at most once per order. Money that the upstream
 * returned was not paid: the order forgets the attempt, and can be sent again if none of its other attempts has paid or still
 * may.
 */

import { isOpen } from './attempt.ts';
import { guard, guardedUpdate, revise, type Transfer, type Update } from './change.ts';
import {
  type Booking,
  type BookingContext,
  bookedColumns,
  GIVEN_BACK,
  type LateTarget,
  lateMoneyOf,
} from './late-money.ts';
import { feesAccount, merchantAccount, suspenseAccount, transitAccount } from './ledger.ts';
import type { PayoutLine, Refund } from './outgoing-records.ts';
import { costOf } from './payout.ts';
import { LATE_KEPT } from './reason.ts';
import type { Attempt, Payment } from './records.ts';

/** The order that the money left for, unless that has been archived meanwhile. */
export type LateOrder =
  | { readonly kind: 'payout'; readonly line: PayoutLine }
  | { readonly kind: 'refund'; readonly refund: Refund; readonly payment: Payment };

/** What the merchant pays if it bears the cost: as if the order had been paid in time, a payout's fee included. */
export function lateCostOf(order: LateOrder): bigint {
  return order.kind === 'payout' ? costOf(order.line) : order.refund.amount_minor;
}

/** Whether the merchant bears what this attempt paid late. */
export function isBorneByMerchant({ reason }: Pick<Attempt, 'reason'>): boolean {
  return reason === LATE_KEPT;
}

/** What the decision needs besides the attempt and its order. */
export interface LateBeside {
  /** The order's other attempts. */
  readonly others: readonly Attempt[];
  /** Updates to write with the booking. */
  readonly guards: readonly Update[];
}

/** What booking late money writes; it must still wait in suspense. */
export function bookLateOut(
  attempt: Attempt,
  order: LateOrder | undefined,
  to: LateTarget,
  context: BookingContext,
  { others, guards }: LateBeside,
): Booking {
  const { update, after } = revise('attempt', attempt, bookedColumns(to));
  const orders = order === undefined ? [] : updatesOf(attempt, order, to, others);
  return {
    change: {
      updates: [update, ...orders, ...guards],
      transfers: transfersOf(attempt, order, to, context),
    },
    attempt: after,
  };
}

/**
 * The order records which attempt was paid for; for a refund the payment's version is bumped too, so that concurrent decisions
 * lose.
 */
function updatesOf(attempt: Attempt, order: LateOrder, to: LateTarget, others: readonly Attempt[]): Update[] {
  const { status, late_attempt_id: known } = order.kind === 'payout' ? order.line : order.refund;
  const isKnown = status === 'failed' && (known === null || known === attempt.id);
  const next = to === 'upstream' ? (stillPaidBy(others)?.id ?? null) : attempt.id;
  const columns = { late_attempt_id: isKnown ? next : known };
  if (order.kind === 'payout') return [guardedUpdate('payout_line', order.line, columns)];
  return [guardedUpdate('refund', order.refund, columns), guard('payment', order.payment)];
}

/** Another attempt that paid late and was not returned; failing that, one that may still pay. */
function stillPaidBy(others: readonly Attempt[]): Attempt | undefined {
  const hasPaid = (other: Attempt): boolean => other.status === 'approved' && lateMoneyOf(other) !== 'upstream';
  return others.find(hasPaid) ?? others.find(({ status }) => isOpen(status));
}

function transfersOf(
  { shard, connector, currency, amount_minor, payment_id: cause_id }: Attempt,
  order: LateOrder | undefined,
  to: LateTarget,
  { ids, now: at }: BookingContext,
): Transfer[] {
  const credit = suspenseAccount(shard, currency);
  const back = { shard, id: ids[0], credit, amount_minor, currency, cause_id, at };
  if (to === 'upstream') return [{ ...back, debit: transitAccount(shard, connector, currency), cause: GIVEN_BACK }];
  if (to === 'gateway') return [{ ...back, debit: feesAccount(shard, currency), cause: 'late_borne' }];
  if (order === undefined) throw new Error(`${cause_id} is not there to be paid for`);
  const { merchant_id, fee_minor } = order.kind === 'payout' ? order.line : { ...order.refund, fee_minor: 0n };
  const debit = merchantAccount(merchant_id, 'available', currency);
  const cost: Transfer = { ...back, debit, cause: `late_${order.kind}` };
  if (fee_minor === 0n) return [cost];
  const fee = { ...cost, id: ids[1], credit: feesAccount(shard, currency), amount_minor: fee_minor };
  return [cost, { ...fee, cause: 'late_payout_fee' }];
}
