/**
 * Cancels a batch: no further occurrence runs, waiting lines are called off, lines in flight run to their end.
 *
 * Invariant: no line is called off that a carrier may have taken. The cancellation is committed before any line is ended, and a
 * round ends the remaining lines even if this process dies; lines that a carrier has turned away are inquired about first.
 */

import type { PayoutBatch } from '../domain/outgoing-records.ts';
import { cancelBatch } from '../domain/payout-batch.ts';
import { hasMore } from '../domain/payout-order.ts';
import { dueAtOnce, readAfter } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { type Attribution, requireAttribution } from './operator-input.ts';
import { callOffWaiting } from './payout-close.ts';
import { changeBatch, logCommand, type PayoutOperatorDeps, requireBatch } from './payout-operate.ts';

/**
 * Cancels a batch; cancelling it again answers the same. `notTaken`: the operator has verified with the carriers that they took
 * none of the lines that they turned away, for example because a carrier is no longer connected. @throws OperatorError when
 * there is no such batch, nothing of it is open, or another operator cancels it at the same moment: then nothing is done with
 * `notTaken` either, and the command may be given again.
 */
export async function cancelPayout(
  deps: PayoutOperatorDeps,
  batchId: string,
  { notTaken = false, ...given }: Attribution & { readonly notTaken?: boolean | undefined },
): Promise<PayoutBatch> {
  const attribution = requireAttribution(given);
  const found = await requireBatch(deps, batchId);
  const isCancelled = found.cancelled_at !== null;
  if (!isCancelled) {
    await changeBatch(deps, batchId, async ({ batch }, { now }) => {
      await requireCancellable(deps, batch);
      return cancelBatch(batch, now);
    });
    logCommand(deps, 'payout_cancelled', found, attribution);
  }
  if (notTaken) logCommand(deps, 'payout_not_taken', found, attribution);
  const callOff = async (): Promise<PayoutBatch> => {
    // Takes back the lines that another process has leased to send again: its change then loses.
    await deps.store.payoutBatch.recallTried(found.shard, found.id, deps.clock.now());
    await callOffWaiting(deps, found, notTaken ? 'all' : 'untried', (change) => dueAtOnce(change, deps.clock.now()));
    return requireBatch(deps, batchId);
  };
  return isCancelled ? callOff() : readAfter(deps, callOff, 'give it again for the lines that still wait');
}

/** Refuses a batch that has nothing left to cancel. */
export async function requireCancellable(deps: Pick<PayoutOperatorDeps, 'store'>, batch: PayoutBatch): Promise<void> {
  const { shard, id } = batch;
  if (batch.cancelled_at !== null) throw new OperatorError(`${id} has already been cancelled`);
  if (batch.approval === 'rejected') throw new OperatorError(`${id} has been rejected: nothing of it is paid`);
  if (hasMore(batch)) return;
  const counts = await deps.store.payoutBatch.counts(shard, id);
  // Lines in flight run to their end, except those that the carrier turns out not to have taken.
  if (counts.some(({ pending, processing }) => pending + processing > 0)) return;
  throw new OperatorError(`nothing of ${id} is open any more: there is nothing to cancel`);
}
