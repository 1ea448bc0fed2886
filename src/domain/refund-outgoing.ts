/**
 * A refund on its way out: what starting it writes, and what its attempt's outcome writes.
 *
 * Invariant: its money has been put aside before anything leaves, and goes where its attempt's outcome says in the change
 * that writes it.
 */

import type { Change } from './change.ts';
import { transitAccount } from './ledger.ts';
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
    move: (fact, reason, attempt, context) => {
      const target = transitAccount(refund.shard, attempt.connector, refund.currency);
      const columns: RefundColumns =
        fact === 'attempt_not_taken'
          ? { next_start_at: nextStartAt(refund.tries, context.now) }
          : { provider_reference: attempt.provider_reference };
      return moveRefund(rows, { fact, reason, columns, target }, context)?.change;
    },
  };
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
