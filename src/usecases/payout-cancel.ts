/**
 * Cancels a batch: no further occurrence runs, what waits is called off, what is under way goes on to its end.
 *
 * Invariant: no line is called off that a carrier may have taken. The word stands before its lines are ended, and a round
 * ends what is left of them, whatever becomes of this process; what a carrier has turned away it asks about first.
 */

import type { PayoutBatch } from '../domain/outgoing-records.ts';
import { cancel } from '../domain/payout-batch.ts';
import { hasMore } from '../domain/payout-order.ts';
import { dueAtOnce, OperatorError, requireSay, type Say } from './operator.ts';
import { callOffWaiting } from './payout-close.ts';
import { changeBatch, type PayoutOperatorDeps, requireBatch, tell } from './payout-operate.ts';

/**
 * Cancelled again it answers as it did. `notTaken`: somebody has seen at the carriers that they took nothing of what they turned
 * away, for example because one of them is connected no more. @throws OperatorError when there is no such
 * batch, or nothing of it is open.
 */
export async function cancelPayout(
  deps: PayoutOperatorDeps,
  batchId: string,
  say: Say,
  notTaken = false,
): Promise<PayoutBatch> {
  const said = requireSay(say);
  const found = await requireBatch(deps, batchId);
  if (found.cancelled_at === null) {
    await changeBatch(deps, batchId, async ({ batch }, { now }) => {
      await requireCancellable(deps, batch);
      return cancel(batch, now);
    });
    tell(deps, 'payout_cancelled', found, said);
  }
  if (notTaken) tell(deps, 'payout_not_taken', found, said);
  // Whoever has leased one to send it again loses it.
  await deps.store.payoutBatch.recallTried(found.shard, found.id, deps.clock.now());
  await callOffWaiting(deps, found, notTaken ? 'all' : 'untried', (change) => dueAtOnce(change, deps.clock.now()));
  return requireBatch(deps, batchId);
}

/** Refuses what has nothing left to cancel. */
export async function requireCancellable(deps: Pick<PayoutOperatorDeps, 'store'>, batch: PayoutBatch): Promise<void> {
  const { shard, id } = batch;
  if (batch.cancelled_at !== null) throw new OperatorError(`${id} has already been cancelled`);
  if (batch.approval === 'rejected') throw new OperatorError(`${id} has been rejected: nothing of it is paid`);
  if (hasMore(batch)) return;
  const counts = await deps.store.payoutBatch.counts(shard, id);
  // What is under way goes on to its end, but for what its carrier turns out not to have taken.
  if (counts.some(({ pending, processing }) => pending + processing > 0)) return;
  throw new OperatorError(`nothing of ${id} is open any more: there is nothing to cancel`);
}
