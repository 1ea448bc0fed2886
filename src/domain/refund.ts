/**
 * A refund's life, and what moving between its states writes: to the refund, to its payment, and to the ledger.
 *
 * Invariant: the sums given back and on their way back are kept in the payment and change under its version, so that no two
 * refunds can give back more than was paid. Reserved money leaves the reserved balance in the change that makes the refund final.
 */

import {
  type AccountRef,
  type Change,
  type Columns,
  type DecisionContext,
  type Insert,
  revise,
  type Transfer,
  type Update,
} from './change.ts';
import { merchantAccount } from './ledger.ts';
import { type Machine, StateConflict, step } from './machine.ts';
import type { Refund, RefundStatus } from './outgoing-records.ts';
import { type Moved, movePayment, type PaymentColumns } from './payment.ts';
import type { Reason } from './reason.ts';
import type { Payment } from './records.ts';
import { eventInsert, refundEvent } from './webhook.ts';

const REFUND_FACTS = [
  'wallet_credited',
  'attempt_intended',
  'attempt_not_taken',
  'upstream_accepted',
  'upstream_silent',
  'upstream_paid',
  'upstream_refused',
  'executed_by_hand',
  'called_off',
] as const;
/** What can happen to a refund, as input to its state machine. */
export type RefundFact = (typeof REFUND_FACTS)[number];

/** The states of a refund. */
export const REFUND: Machine<RefundStatus, RefundFact> = {
  name: 'refund',
  initial: 'pending',
  final: ['completed', 'failed'],
  facts: REFUND_FACTS,
  table: {
    pending: {
      wallet_credited: 'completed',
      attempt_intended: 'processing',
      // An attempt that was believed not accepted was accepted after all.
      upstream_accepted: 'processing',
      upstream_paid: 'completed',
      executed_by_hand: 'completed',
      called_off: 'failed',
    },
    // A refund that was certainly not accepted waits again, its money still reserved.
    processing: {
      attempt_not_taken: 'pending',
      upstream_accepted: 'processing',
      upstream_silent: 'processing',
      upstream_paid: 'completed',
      upstream_refused: 'failed',
    },
    completed: { wallet_credited: 'completed', upstream_paid: 'completed', executed_by_hand: 'completed' },
    failed: { upstream_refused: 'failed', called_off: 'failed' },
  },
};

/** Whether a refund has ended, completed or failed. */
export function isRefundOver(status: RefundStatus): boolean {
  return REFUND.final.includes(status);
}

/** Whether a person has to give the money back, because no connected upstream can. */
export function isByHand({ method, connector }: Pick<Refund, 'method' | 'connector'>): boolean {
  return connector === null && method !== 'wallet' && method !== 'flash';
}

/** A refund and its payment: they move together. */
export interface RefundRows {
  readonly refund: Refund;
  readonly payment: Payment;
}

/** Columns that a move may set besides those that it sets by itself. */
export type RefundColumns = Partial<
  Omit<Refund, 'shard' | 'id' | 'version' | 'status' | 'reason' | 'completed_at' | 'from_held_minor'>
>;

/** A fact, and what is written with the move that it makes. */
export interface RefundStep {
  readonly fact: RefundFact;
  /** Why it failed, or why it waits. */
  readonly reason: Reason | null;
  readonly columns?: RefundColumns;
  /** The ledger account that gets the money once it is given back. */
  readonly target: AccountRef;
}

/** What moving a refund writes, and the refund and its payment as they will be. */
export interface MovedRefund extends RefundRows {
  readonly change: Required<Pick<Change, 'updates' | 'inserts' | 'transfers'>>;
}

/**
 * Moves a refund by a fact, and the payment with it when the refund is over. A repeated fact returns undefined, one that
 * contradicts the state throws `StateConflict`.
 */
export function moveRefund(rows: RefundRows, toTake: RefundStep, context: DecisionContext): MovedRefund | undefined {
  const { refund } = rows;
  const { fact, reason, columns } = toTake;
  const next = step(REFUND, refund.status, fact);
  if (next.kind === 'repeated') return undefined;
  if (next.kind === 'conflict') throw new StateConflict('refund', refund, fact);
  const row = {
    status: next.to,
    reason,
    completed_at: isRefundOver(next.to) ? context.now : null,
    ...(next.to === 'pending' ? {} : { next_start_at: null }),
    ...columns,
  };
  if (next.to === 'completed') return complete(rows, row, toTake.target, context);
  if (next.to === 'failed') return fail(rows, row, context);
  const { update, after } = revise('refund', refund, row);
  return { ...rows, refund: after, change: { updates: [update], inserts: [], transfers: [] } };
}

function complete(rows: RefundRows, row: Columns<'refund'>, target: AccountRef, context: DecisionContext): MovedRefund {
  const { update, after } = revise('refund', rows.refund, row);
  const { payment, updates, inserts } = giveBack(
    rows.payment,
    after,
    rows.payment.refunding_minor - after.amount_minor,
    context,
  );
  const reserved = merchantAccount(after.merchant_id, 'reserved', after.currency);
  const paid = transferOf(
    after,
    { debit: reserved, credit: target, amount_minor: after.amount_minor, cause: 'refund' },
    context,
  );
  return { refund: after, payment, change: { updates: [update, ...updates], inserts, transfers: [paid] } };
}

/**
 * What a completed refund writes to its payment: the sums, the status if it was the last one, and its event. `refunding_minor` is
 * what is still on its way back.
 */
export function giveBack(
  payment: Payment,
  refund: Refund,
  refunding_minor: bigint,
  context: DecisionContext,
): { readonly payment: Payment; readonly updates: Update[]; readonly inserts: Insert[] } {
  const { now, newId } = context;
  const refunded_minor = payment.refunded_minor + refund.amount_minor;
  const columns = { refunded_minor, refunding_minor };
  const isLast = refunded_minor === payment.amount_minor;
  const moved = isLast ? movePayment(payment, 'refunded_in_full', null, now, columns) : undefined;
  const { payment: after, update } = moved ?? keepStatus(payment, columns);
  const event = refundEvent(after, refund, newId('evt', payment.shard), now);
  return {
    payment: after,
    updates: [update],
    inserts: [...(moved === undefined ? [] : [moved.history]), eventInsert(event)],
  };
}

/** A payment that is not refunded in full keeps its status; the refund's event is counted. */
function keepStatus(payment: Payment, columns: PaymentColumns): Pick<Moved, 'payment' | 'update'> {
  const { update, after } = revise('payment', payment, { events: payment.events + 1, ...columns });
  return { payment: after, update };
}

/**
 * The money goes back to where it came from. If money that had been held was released meanwhile, it is the merchant's and becomes
 * available; otherwise it is held again, and the refund has taken none of it.
 */
function fail({ refund, payment }: RefundRows, row: Columns<'refund'>, context: DecisionContext): MovedRefund {
  const toHeld = payment.released_at === null ? refund.from_held_minor : 0n;
  const revised = revise('refund', refund, toHeld > 0n ? { ...row, from_held_minor: 0n } : row);
  const { update, after } = revise('payment', payment, {
    refunding_minor: payment.refunding_minor - refund.amount_minor,
  });
  const reserved = merchantAccount(refund.merchant_id, 'reserved', refund.currency);
  const back = (what: 'held' | 'available', amount: bigint): Transfer[] => {
    const account = merchantAccount(refund.merchant_id, what, refund.currency);
    const movement = { debit: reserved, credit: account, amount_minor: amount, cause: 'refund_returned' } as const;
    return amount > 0n ? [transferOf(refund, movement, context)] : [];
  };
  return {
    refund: revised.after,
    payment: after,
    change: {
      updates: [revised.update, update],
      inserts: [],
      transfers: [...back('held', toHeld), ...back('available', refund.amount_minor - toHeld)],
    },
  };
}

interface Movement extends Pick<Transfer, 'debit' | 'credit' | 'amount_minor'> {
  readonly cause: 'refund_reserved' | 'refund' | 'refund_returned';
}

/** A movement of a refund's money. */
export function transferOf(
  { shard, id, currency }: Pick<Refund, 'shard' | 'id' | 'currency'>,
  { debit, credit, amount_minor, cause }: Movement,
  { now, newId }: DecisionContext,
): Transfer {
  return { shard, id: newId('trf', shard), debit, credit, amount_minor, currency, cause, cause_id: id, at: now };
}
