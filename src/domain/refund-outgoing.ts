/**
 * A refund on its way out: what starting it writes, and what its attempt's outcome writes.
 *
 * Invariant: its money has been put aside before anything leaves, and goes where its attempt's outcome says in the change
 * that writes it.
 */

import type { Change, Update } from './change.ts';
import { suspenseAccount, transitAccount } from './ledger.ts';
import type { Outgoing } from './outgoing.ts';
import { nextStartAt } from './payout.ts';
import type { Attempt } from './records.ts';
import {
  isRefundOver,
  type MovedRefund,
  moveRefund,
  type RefundColumns,
  type RefundContext,
  type RefundRows,
} from './refund.ts';

/** A refund as what its attempts pay. */
export function refundOrder(rows: RefundRows): Outgoing {
  const { refund } = rows;
  return {
    status: refund.status,
    isItsOwn: (attempt) => refund.attempt_id === attempt.id && !isRefundOver(refund.status),
    waits: refund.status === 'pending',
    notePaid: (attempt) => notePaid(rows, attempt),
    move: (fact, reason, attempt, context) => {
      const isNotPaid = fact === 'upstream_refused' || fact === 'attempt_not_taken';
      if (isNotPaid && refund.late_attempt_id !== null) return endByLate(rows, refund.late_attempt_id, context);
      const target = transitAccount(refund.shard, attempt.connector, refund.currency);
      const columns: RefundColumns =
        fact === 'attempt_not_taken'
          ? { next_start_at: nextStartAt(refund.tries, context.now) }
          : { attempt_id: attempt.id, provider_reference: attempt.provider_reference };
      return moveRefund(rows, { fact, reason, columns, target }, context)?.change;
    },
  };
}

/** This attempt has not paid it, and an earlier one has: that one's money was booked aside when it was heard of. */
function endByLate(rows: RefundRows, attempt_id: string, context: RefundContext): Change | undefined {
  const { shard, currency } = rows.refund;
  const target = suspenseAccount(shard, currency);
  return moveRefund(rows, { fact: 'upstream_paid', reason: null, columns: { attempt_id }, target }, context)?.change;
}

/** Of the payment nothing changes but its version: a refund that is being made of it is decided again, and sees this. */
function notePaid({ refund, payment }: RefundRows, { id: late_attempt_id, provider_reference }: Attempt): Update[] {
  if (refund.status === 'completed' || refund.late_attempt_id !== null) return [];
  const row = isRefundOver(refund.status) ? { late_attempt_id } : { late_attempt_id, provider_reference };
  const { shard, id, version } = refund;
  const { id: payment_id, version: paymentVersion, refunding_minor } = payment;
  return [
    { table: 'refund', shard, id, version, row },
    { table: 'payment', shard, id: payment_id, version: paymentVersion, row: { refunding_minor } },
  ];
}

/** Opens an attempt at a refund. */
export function intendRefund(
  rows: RefundRows,
  attempt: Attempt,
  context: RefundContext,
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
