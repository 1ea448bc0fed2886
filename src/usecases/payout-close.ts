/**
 * Ends the waiting lines of cancelled batches.
 *
 * Invariant: no line is called off that a carrier may have taken. A line that was turned away is inquired about first, as before
 * it is sent again.
 */

import type { Change } from '../domain/change.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { callOffLine, closeBatch } from '../domain/payout-batch.ts';
import { inquirePreviousAttempt } from './attempt-previous.ts';
import type { Deps } from './deps.ts';
import { eachOf } from './each-of.ts';
import { postpone } from './outgoing-start.ts';
import { batchContext, type PayoutBatchDeps } from './payout-occurrence.ts';
import { retryWhileUnavailable } from './perform.ts';

type BatchKey = Pick<PayoutBatch, 'shard' | 'id'>;

/** 16 batches are closed side by side. */
const MAX_BATCHES = 16;
/** 256 lines are called off side by side. */
const MAX_LINES = 256;
/** 4 lines of a batch are inquired about per run, one after the other: carriers' capacity is shared by all merchants. */
const MAX_ASKED = 4;
/** 200 rounds: finding lines still waiting this often means that the rule is wrong. */
const MAX_ROUNDS = 200;

const FAILING = { event: 'payout_close_failed', about: ({ id }: BatchKey) => ({ batch_id: id }) };

/** Ends the waiting lines of cancelled batches, also those turned away that prove not to be taken. Returns how many batches. */
export async function closeCancelledPayouts(deps: Deps): Promise<number> {
  const cancelled = await deps.store.payoutBatch.toClose(deps.clock.now(), MAX_BATCHES);
  const failed = await eachOf(deps.log, cancelled, (batch) => closeCancelled(deps, batch), FAILING);
  if (failed > 0) throw new Error(`${failed} of ${cancelled.length} cancelled batches could not be closed`);
  return cancelled.length;
}

async function closeCancelled(deps: Deps, batch: PayoutBatch): Promise<void> {
  const { shard, id } = batch;
  await callOffWaiting(deps, batch, 'untried');
  const tried = await deps.store.payoutBatch.triedLines(shard, id, deps.clock.now(), MAX_ASKED);
  for (const line of tried) await callOffTried(deps, line);
  const counts = await deps.store.payoutBatch.counts(shard, id);
  const open = counts.some(({ pending, processing }) => pending + processing > 0);
  // If this loses, another process has closed the batch.
  if (!open) await deps.store.commit(closeBatch(batch, deps.clock.now()));
}

/** Asks the carrier that turned the line away: a line taken after all resumes; if the carrier cannot say, it is asked later. */
async function callOffTried(deps: Deps, line: PayoutLine): Promise<void> {
  const before = await inquirePreviousAttempt(deps, line);
  if (before.kind === 'unclear') return postpone(deps, 'payout_line', line, before.until);
  if (before.kind === 'over') await end(deps, callOffLine(line, batchContext(deps)));
}

/**
 * Calls off the waiting lines of a cancelled batch, each in its own change: a process that starts a line just now competes for
 * that line only. `untried`: only lines never handed to a carrier. `finish` may add to each change.
 */
export async function callOffWaiting(
  deps: PayoutBatchDeps,
  { shard, id }: BatchKey,
  which: 'untried' | 'all',
  finish: (change: Change) => Change = (change) => change,
): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { untriedLines, waitingLines } = deps.store.payoutBatch;
    const waiting = await (which === 'all' ? waitingLines : untriedLines)(shard, id, MAX_LINES);
    if (waiting.length === 0) return;
    const context = batchContext(deps);
    await Promise.all(waiting.map((line) => end(deps, finish(callOffLine(line, context)))));
  }
  throw new Error(`lines of ${id} lost against their neighbours too often`);
}

async function end(deps: PayoutBatchDeps, change: Change): Promise<void> {
  await retryWhileUnavailable(deps, () => deps.store.commit(change));
}
