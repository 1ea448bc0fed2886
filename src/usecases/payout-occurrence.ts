/**
 * One occurrence of a payout: the batch that a decision is made on, and running its next occurrence.
 *
 * Invariant: an occurrence is run once: its change guards the batch's version, and a process that loses finds it run.
 */

import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { START_LEASE_MS } from '../domain/payout.ts';
import { type BatchContext, runNextOccurrence, runsAt } from '../domain/payout-batch.ts';
import type { DueBatch } from '../store/round-reads.ts';
import { type Deps, idsOf } from './deps.ts';
import type { Dispatcher } from './payout-dispatch.ts';
import { commitDecision } from './perform.ts';

/** The dependencies of decisions about a batch. */
export type PayoutBatchDeps = Pick<Deps, 'store' | 'clock' | 'random' | 'calendar' | 'payoutText' | 'log'>;

type BatchKey = Pick<PayoutBatch, 'shard' | 'id'>;

/** The rows that a decision about a batch is made on. */
export interface BatchRows {
  readonly batch: PayoutBatch;
  /** The lines of the first occurrence if it has not been run yet; they were made with the batch. */
  readonly first: readonly PayoutLine[];
}

/** Reads a batch with the lines that its next decision needs. */
export async function readBatch(deps: Pick<Deps, 'store'>, { shard, id }: BatchKey): Promise<BatchRows | undefined> {
  const batch = await deps.store.payoutBatch.get(shard, id);
  return batch && { batch, first: await firstLines(deps, batch) };
}

async function firstLines({ store }: Pick<Deps, 'store'>, batch: PayoutBatch): Promise<readonly PayoutLine[]> {
  return batch.next_occurrence === 1 ? store.payoutBatch.lines(batch.shard, batch.id, 1) : [];
}

/** What a decision about a batch needs besides its rows. */
export function batchContext(deps: PayoutBatchDeps): BatchContext {
  return {
    now: deps.clock.now(),
    newId: idsOf(deps),
    say: (line) => deps.payoutText(line.language, line),
    calendar: deps.calendar,
  };
}

/** `more`: it ran, and the next occurrence is due too. */
export type RunOutcome = 'ran' | 'more' | NotNow;

/**
 * `crowded`: its carriers have enough of the merchant's lines for now. `not_due`: it is not due any more, or its merchant is
 * suspended.
 */
type NotNow = 'not_due' | 'crowded';

interface Ran {
  readonly outcome: RunOutcome;
  /** Lines of the first occurrence that are leased to us; later occurrences' lines are handed over when they are inserted. */
  readonly lines: readonly PayoutLine[];
}

/** Runs the next occurrence if it is still due, its merchant is not suspended, and there is room for it. */
export function runOccurrence(
  deps: PayoutBatchDeps,
  due: DueBatch,
  dispatcher: Pick<Dispatcher, 'hasRoomFor'>,
): Promise<Ran> {
  return commitDecision<BatchRows | NotNow, Ran>(
    deps.store,
    () => readToRun(deps, due, dispatcher),
    (rows) => {
      if (typeof rows === 'string') return { answer: { outcome: rows, lines: [] } };
      const { batch, first } = rows;
      const now = deps.clock.now();
      const next = runsAt(batch, batch.next_occurrence + 1, deps.calendar);
      const { change, lines } = runNextOccurrence(batch, first, batchContext(deps), now + START_LEASE_MS);
      return { change, answer: { outcome: next !== null && next <= now ? 'more' : 'ran', lines } };
    },
  );
}

/** Reads what a batch's next occurrence needs, or why it is not run now; for a batch that must wait, no lines are read. */
async function readToRun(
  deps: PayoutBatchDeps,
  { shard, id, merchant_id }: DueBatch,
  dispatcher: Pick<Dispatcher, 'hasRoomFor'>,
): Promise<BatchRows | NotNow> {
  const batch = await deps.store.payoutBatch.get(shard, id);
  const runAt = batch?.next_run_at ?? null;
  if (batch === undefined || runAt === null || runAt > deps.clock.now()) return 'not_due';
  if (!dispatcher.hasRoomFor(batch)) return 'crowded';
  const [merchant, first] = await Promise.all([deps.store.merchant.get(shard, merchant_id), firstLines(deps, batch)]);
  return merchant?.status === 'ALLOWED' ? { batch, first } : 'not_due';
}
