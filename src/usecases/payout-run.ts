/**
 * Runs the occurrences of payouts that are due.
 *
 * Invariant: an occurrence is run once, by whichever process comes first; those missed while the gateway was down are run
 * when it is back, each once, in order. No merchant's occurrences hold up another's.
 */

import { isTransient } from '../store/errors.ts';
import type { DueBatch } from '../store/round-reads.ts';
import type { Dispatcher } from './payout-dispatch.ts';
import { type PayoutBatchDeps, type RunOutcome, runOccurrence } from './payout-occurrence.ts';
import { createRoundRobin, type RoundRobin } from './round-robin.ts';

/** The parts of its process that a run heeds. */
export interface RunParts {
  /** When aborted, no further occurrence begins. */
  readonly stopping: AbortSignal;
  /** Takes on the lines that may start; a batch waits while its merchant has enough lines queued. */
  readonly dispatcher: Pick<Dispatcher, 'hasRoomFor' | 'offer'>;
  /** False while this process sheds load: then occurrences are run one at a time. */
  isCalm(): boolean;
}

/** 16 batches are run side by side, each with up to a hundred lines and their events. */
const MAX_AT_ONCE = 16;
/** 4096 due batches are looked up at a time. */
const MAX_LOOKED_UP = 4_096;
/** 16 batches of one queue whose carriers are busy: after these, the queue's others are left to a later look. */
const MAX_CROWDED = 16;

/**
 * Runs due occurrences, merchants in rotation, until nothing can be run. One look reads a limited number per shard, so queues whose
 * carriers are busy are excluded from the next looks; when those find nothing more, all queues are looked at again if anything
 * has run since. Returns how many occurrences ran. A batch that fails is logged, and holds up no other.
 *
 * @throws the first failure, once the other batches have been run; at once if the database is away
 */
export async function runDuePayouts(deps: PayoutBatchDeps, parts: RunParts): Promise<number> {
  const run: Run = { passed: new Set(), ran: 0, failure: undefined, isOver: false };
  let except: readonly string[] = [];
  let hasRun = false;
  while (!isOver(run, parts)) {
    const before = run.ran;
    const look = await lookUp(deps, run, except);
    const shared = { deps, parts, run, look };
    await Promise.all(Array.from({ length: MAX_AT_ONCE }, (_, at) => serve(shared, { isFirst: at === 0 })));
    hasRun ||= run.ran > before;
    if (look.crowded.size > 0) except = [...except, ...look.crowded.keys()];
    else if (run.ran === before) {
      if (!hasRun || except.length === 0) break;
      except = [];
      hasRun = false;
    }
  }
  if (run.failure !== undefined) throw run.failure.error;
  return run.ran;
}

/** The state of a run. */
interface Run {
  /** Batches that were not due after all, or failed: they are not looked at again. */
  readonly passed: Set<string>;
  /** How many occurrences ran. */
  ran: number;
  failure: { readonly error: unknown } | undefined;
  /** Nothing more can be run now. */
  isOver: boolean;
}

/** The due batches that one look found. */
interface Look {
  readonly queues: RoundRobin<DueBatch>;
  /** By the key of a queue: how many of its batches have found their carriers busy. */
  readonly crowded: Map<string, number>;
}

/** What the workers of one look share. */
interface Shared {
  readonly deps: PayoutBatchDeps;
  readonly parts: RunParts;
  readonly run: Run;
  readonly look: Look;
}

function isOver(run: Run, { stopping }: RunParts): boolean {
  return run.isOver || stopping.aborted;
}

/**
 * The key of the queue that a batch waits in: its merchant's, separately for phones and for wallets. Wallets are never busy, and
 * must not wait behind batches that wait for a carrier.
 */
function keyOf({ merchant_id, receipt_mode }: DueBatch): string {
  return `${merchant_id} ${receipt_mode}`;
}

/** Looks up the due batches of all queues except these. */
async function lookUp(deps: PayoutBatchDeps, { passed }: Run, except: readonly string[]): Promise<Look> {
  const queues = createRoundRobin<DueBatch>();
  const due = await deps.store.payoutBatch.toRun(deps.clock.now(), MAX_LOOKED_UP, except);
  for (const batch of inOrder(deps, due)) {
    if (!passed.has(batch.id)) queues.add(keyOf(batch), batch);
  }
  return { queues, crowded: new Map() };
}

/** Sorted by due time; equal times in random order, so that several processes rarely work on the same batch. */
function inOrder({ random }: PayoutBatchDeps, due: readonly DueBatch[]): DueBatch[] {
  const drawn = due.map((batch) => ({ batch, draw: random.below(2 ** 32) }));
  return drawn.sort((a, b) => a.batch.next_run_at - b.batch.next_run_at || a.draw - b.draw).map(({ batch }) => batch);
}

/**
 * One of several workers that run occurrences side by side until none is left. While load is being shed only the first
 * continues, until shedding ends: the next look then has all workers.
 */
async function serve(shared: Shared, { isFirst }: { readonly isFirst: boolean }): Promise<void> {
  const { parts, run, look } = shared;
  let isAlone = false;
  while (!isOver(run, parts)) {
    const isCalm = parts.isCalm();
    if (isCalm ? isAlone : !isFirst) return;
    isAlone = !isCalm;
    const batch = look.queues.take();
    if (batch === undefined) return;
    const outcome = await tryOccurrence(shared, batch);
    if (outcome === 'more') look.queues.add(keyOf(batch), batch);
    else if (outcome === 'not_due') run.passed.add(batch.id);
    else if (outcome === 'crowded') noteCrowded(look, batch);
  }
}

function noteCrowded(look: Look, batch: DueBatch): void {
  const key = keyOf(batch);
  const crowded = (look.crowded.get(key) ?? 0) + 1;
  look.crowded.set(key, crowded);
  if (crowded >= MAX_CROWDED) look.queues.drop(key);
}

async function tryOccurrence({ deps, parts, run }: Shared, batch: DueBatch): Promise<RunOutcome> {
  const { dispatcher } = parts;
  try {
    const { outcome, lines } = await runOccurrence(deps, batch, dispatcher);
    for (const line of lines) dispatcher.offer(line);
    if (outcome === 'ran' || outcome === 'more') run.ran += 1;
    return outcome;
  } catch (error) {
    run.failure ??= { error };
    if (isTransient(error)) run.isOver = true;
    else deps.log.error('payout_occurrence_failed', { batch_id: batch.id, merchant_id: batch.merchant_id }, error);
    return 'not_due';
  }
}
