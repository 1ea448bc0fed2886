/**
 * A refund on its way out: what starting it writes, and what its attempt's outcome writes.
 *
 * Invariant: its money is reserved before anything is sent, and moves as the attempt's outcome says in the change that records
 * that outcome.
 */

import { type Change, type DecisionContext, guard, guardedUpdate, type Update } from './change.ts';
import { takenFromSuspense } from './late-money.ts';
import { suspenseAccount, transitAccount } from './ledger.ts';
import {
  isNotPaid,
  type LateColumns,
  lateColumns,
  NOTHING_REMEMBERED,
  type Outgoing,
  onward,
  type Remembered,
} from './outgoing.ts';
import { nextStartAt } from './payout.ts';
import type { Attempt } from './records.ts';
import { isRefundOver, type MovedRefund, moveRefund, type RefundColumns, type RefundRows } from './refund.ts';

/** A refund as the order that its attempts pay. */
export function refundOrder(rows: RefundRows, known: Remembered = NOTHING_REMEMBERED): Outgoing {
  const { refund } = rows;
  return {
    status: refund.status,
    isItsOwn: (attempt) => refund.attempt_id === attempt.id && !isRefundOver(refund.status),
    waits: refund.status === 'pending',
    noteLate: (attempt, hasMoved) => noteLate(rows, lateColumns(rows.refund, attempt, known, hasMoved)),
    move: (fact, reason, attempt, context) => {
      if (isNotPaid(fact) && refund.late_attempt_id !== null) return goOnWithLate(rows, known, context);
      const target = transitAccount(refund.shard, attempt.connector, refund.currency);
      const columns: RefundColumns =
        fact === 'attempt_not_taken'
          ? { next_start_at: nextStartAt(refund.tries, context.now) }
          : { attempt_id: attempt.id, provider_reference: attempt.provider_reference };
      return moveRefund(rows, { fact, reason, columns, target }, context)?.change;
    },
  };
}

/** The refund's attempt has not paid, but another one was accepted: the refund now waits for that one, or was paid by it. */
function goOnWithLate(rows: RefundRows, known: Remembered, context: DecisionContext): Change | undefined {
  const { refund } = rows;
  const next = onward(refund, known);
  if (next.kind === 'waits') return { updates: [guardedUpdate('refund', refund, next.row)] };
  // The other attempt's money was booked to suspense when its success became known.
  const target = suspenseAccount(refund.shard, refund.currency);
  const moved = moveRefund(
    rows,
    { fact: 'upstream_paid', reason: null, columns: { attempt_id: next.by.id }, target },
    context,
  );
  return moved && { ...moved.change, updates: [...moved.change.updates, ...takenFromSuspense(next.by)] };
}

/** Only the payment's version changes, so that a concurrent new refund of it is decided again and takes this into account. */
function noteLate({ refund, payment }: RefundRows, row: LateColumns): Update[] {
  if (row === undefined) return [];
  return [guardedUpdate('refund', refund, row), guard('payment', payment)];
}

/** Opens an attempt at a refund. */
export function intendRefund(
  rows: RefundRows,
  attempt: Attempt,
  context: DecisionContext,
): MovedRefund & { readonly change: Change } {
  const { refund } = rows;
  const columns = {
    attempt_id: attempt.id,
    tries: refund.tries + 1,
    started_at: refund.started_at ?? context.now,
  };
  const target = transitAccount(refund.shard, attempt.connector, refund.currency);
  const moved = moveRefund(rows, { fact: 'attempt_intended', reason: null, columns, target }, context);
  if (moved === undefined) throw new Error(`refund ${refund.id} has been started`);
  return { ...moved, change: { ...moved.change, inserts: [{ table: 'attempt', row: attempt }] } };
}
