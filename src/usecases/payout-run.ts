/**
 * Runs the occurrences of payouts that are due, and calls off what waits of cancelled ones.
 *
 * Invariant: an occurrence is run once, by whichever process comes first; those missed while the gateway was down are run
 * when it is back, each once, one after another.
 */

import type { Change } from '../domain/change.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { type BatchContext, callOff, close, runNext } from '../domain/payout-batch.ts';
import { type Deps, newId } from './deps.ts';
import { persist, settle } from './perform.ts';

/** What deciding about a batch takes of the world. */
export type PayoutBatchDeps = Pick<Deps, 'store' | 'clock' | 'random' | 'calendar' | 'payoutText'>;

type BatchKey = Pick<PayoutBatch, 'shard' | 'id'>;

export interface BatchRows {
  readonly batch: PayoutBatch;
  /** The lines of the first occurrence, where that has not been run; they were made with the batch. */
  readonly first: readonly PayoutLine[];
}

/** Batches are run side by side, a hundred lines and their events each. */
const MOST_AT_ONCE = 16;
/** How many lines are called off side by side. */
const MOST_LINES = 256;
/** Finding the same lines waiting this often means that something is wrong with the rule. */
const MOST_ROUNDS = 200;

/** Runs what is due. Returns how many batches there were. */
export async function runDuePayouts(deps: PayoutBatchDeps): Promise<number> {
  const due = await deps.store.payoutBatch.toRun(deps.clock.now(), MOST_AT_ONCE);
  await Promise.all(due.map((batch) => runOccurrences(deps, batch)));
  return due.length;
}

/** Ends what waits of cancelled batches, also what a carrier has not taken after all. Returns how many batches there were. */
export async function closeCancelledPayouts(deps: PayoutBatchDeps): Promise<number> {
  const cancelled = await deps.store.payoutBatch.toClose(deps.clock.now(), MOST_AT_ONCE);
  await Promise.all(
    cancelled.map(async (batch) => {
      await callOffWaiting(deps, batch);
      const counts = await deps.store.payoutBatch.counts(batch.shard, batch.id);
      const open = counts.some(({ pending, processing }) => pending + processing > 0);
      // Lost: another process has closed it.
      if (!open) await deps.store.commit(close(batch, deps.clock.now()));
    }),
  );
  return cancelled.length;
}

async function runOccurrences(deps: PayoutBatchDeps, key: BatchKey): Promise<void> {
  let ran = true;
  while (ran) ran = await runOccurrence(deps, key);
}

/** Runs the next occurrence if it is still due. */
function runOccurrence(deps: PayoutBatchDeps, key: BatchKey): Promise<boolean> {
  return settle<BatchRows | undefined, boolean>(
    deps.store,
    () => readBatch(deps, key),
    (rows) => {
      const due = rows?.batch.next_run_at ?? null;
      if (rows === undefined || due === null || due > deps.clock.now()) return { answer: false };
      return { change: runNext(rows.batch, rows.first, batchContext(deps)), answer: true };
    },
  );
}

/**
 * Calls off every line of a batch that waits, each by itself: one that is being started goes on to its end. `finish` has
 * the last word on what each of them writes.
 */
export async function callOffWaiting(
  deps: PayoutBatchDeps,
  { shard, id }: BatchKey,
  finish: (change: Change) => Change = (change) => change,
): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const waiting = await deps.store.payoutBatch.waitingLines(shard, id, MOST_LINES);
    if (waiting.length === 0) return;
    const context = batchContext(deps);
    const changes: Change[] = waiting.map((line) => finish(callOff(line, context)));
    await Promise.all(changes.map((change) => persist(deps, () => deps.store.commit(change))));
  }
  throw new Error(`lines of ${id} lost against their neighbours too often`);
}

/** A batch with what its next decision needs. */
export async function readBatch(deps: Pick<Deps, 'store'>, { shard, id }: BatchKey): Promise<BatchRows | undefined> {
  const batch = await deps.store.payoutBatch.get(shard, id);
  if (batch === undefined) return undefined;
  const first = batch.next_occurrence === 1 ? await deps.store.payoutBatch.lines(shard, id, 1) : [];
  return { batch, first };
}

export function batchContext(deps: PayoutBatchDeps): BatchContext {
  return {
    now: deps.clock.now(),
    newId: (prefix, shard) => newId(deps, prefix, shard),
    say: (line) => deps.payoutText(line.language, line),
    calendar: deps.calendar,
  };
}
