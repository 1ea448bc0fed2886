/**
 * Ends what waits of cancelled batches.
 *
 * Invariant: no line is called off that a carrier may have taken. One that was turned away is asked about first, as it would be
 * before it is sent again.
 */

import type { Change } from '../domain/change.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { callOff, close } from '../domain/payout-batch.ts';
import { askTryBefore } from './attempt-before.ts';
import type { Deps } from './deps.ts';
import { putOff } from './outgoing-start.ts';
import { batchContext, type PayoutBatchDeps } from './payout-run.ts';
import { persist } from './perform.ts';

type BatchKey = Pick<PayoutBatch, 'shard' | 'id'>;

/** So many batches are closed side by side. */
const MOST_BATCHES = 16;
/** How many lines are called off side by side. */
const MOST_LINES = 256;
/** So many lines of a batch are asked about in a turn, one after the other: the ways to a carrier are everybody's. */
const MOST_ASKED = 4;
/** Finding the same lines waiting this often means that something is wrong with the rule. */
const MOST_ROUNDS = 200;

/** Ends what waits of cancelled batches, also what a carrier has not taken after all. Returns how many batches there were. */
export async function closeCancelledPayouts(deps: Deps): Promise<number> {
  const cancelled = await deps.store.payoutBatch.toClose(deps.clock.now(), MOST_BATCHES);
  await Promise.all(cancelled.map((batch) => closeCancelled(deps, batch)));
  return cancelled.length;
}

async function closeCancelled(deps: Deps, batch: PayoutBatch): Promise<void> {
  const { shard, id } = batch;
  await callOffWaiting(deps, batch, 'untried');
  const tried = await deps.store.payoutBatch.triedLines(shard, id, deps.clock.now(), MOST_ASKED);
  for (const line of tried) await callOffTried(deps, line);
  const counts = await deps.store.payoutBatch.counts(shard, id);
  const open = counts.some(({ pending, processing }) => pending + processing > 0);
  // Lost: another process has closed it.
  if (!open) await deps.store.commit(close(batch, deps.clock.now()));
}

/** Its carrier has turned it away, and is asked: what was taken all the same goes on; who cannot say is asked again later. */
async function callOffTried(deps: Deps, line: PayoutLine): Promise<void> {
  const before = await askTryBefore(deps, line);
  if (before.kind === 'unclear') return putOff(deps, 'payout_line', line, before.until);
  if (before.kind === 'over') await end(deps, callOff(line, batchContext(deps)));
}

/**
 * Calls off what waits of a cancelled batch, each line by itself: whoever starts one just now wins or loses against it alone.
 * `untried`: only what was never handed to a carrier. `finish` may add to each change.
 */
export async function callOffWaiting(
  deps: PayoutBatchDeps,
  { shard, id }: BatchKey,
  which: 'untried' | 'all',
  finish: (change: Change) => Change = (change) => change,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const { untriedLines, waitingLines } = deps.store.payoutBatch;
    const waiting = await (which === 'all' ? waitingLines : untriedLines)(shard, id, MOST_LINES);
    if (waiting.length === 0) return;
    const context = batchContext(deps);
    await Promise.all(waiting.map((line) => end(deps, finish(callOff(line, context)))));
  }
  throw new Error(`lines of ${id} lost against their neighbours too often`);
}

async function end(deps: PayoutBatchDeps, change: Change): Promise<void> {
  await persist(deps, () => deps.store.commit(change));
}
