/**
 * The group commit: the changes of all callers are sent together, in one transaction and one round trip.
 *
 * The next batch is sent when the connection is free, with every change that has arrived meanwhile: there is no timer, so an idle
 * gateway answers at once. Invariant: a change commits whole or not at all, and no change can make another one fail; only a lost
 * connection leaves the outcome unknown, and then every change of the batch gets `CommitUnknown`.
 */

import type { Change, Outcome } from '../domain/change.ts';
import { type Batch, type Batchable, keysOf, makeBatch, type Written, writtenBy } from './batch.ts';
import type { Connection } from './connection.ts';
import { StoreBusy, StoreUnavailable } from './errors.ts';
import { type CommitStats, newCommitStats, tally } from './stats.ts';
import { type BatchResult, verdictOn } from './verdict.ts';

/** How many changes may wait. Any more would still wait when their callers have given up. */
const MAX_WAITING = 20_000;
const MAX_IN_BATCH = 256;
/** How many batches' written versions are remembered: a change that waits may have been decided before they committed. */
const BATCHES_KNOWN = 4;

export interface Committer {
  /**
   * Commits a change.
   *
   * @returns `lost` when something it relied on has moved, a key was taken or a floor was reached: decide again.
   * @throws CommitUnknown (it may have happened), StoreRefused (a constraint, a value that cannot be stored), StoreBusy,
   *   StoreUnavailable; an Error when the change holds neither guard nor claim
   */
  commit(change: Change): Promise<Outcome>;
  readonly stats: CommitStats;
  /** How many changes wait for the next batch. */
  waiting(): number;
  /** Takes no more changes, and resolves when the waiting ones are answered. */
  close(): Promise<void>;
}

/** Where the outcome of a batch is recorded, besides its answers. */
interface Books {
  readonly written: readonly Written[];
  readonly stats: CommitStats;
  readonly onWon: (change: Change) => void;
}

interface Entry extends Batchable {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
}

/** Opens a committer. `onWon` is called with every committed change before that change's caller is answered. */
export function openCommitter(connection: Connection, onWon: (change: Change) => void): Committer {
  const waiting: Entry[] = [];
  let written: Written[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;
  const stats = newCommitStats();

  const drain = async (): Promise<void> => {
    await nextTurn();
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_IN_BATCH);
      written = [new Map(), ...written.slice(0, BATCHES_KNOWN - 1)];
      const sent = performance.now();
      const reachable = await settle(connection, batch, { written, stats, onWon });
      tally(stats.batchSeconds, (performance.now() - sent) / 1_000);
      // No caller is made to wait for a database that is gone: each may retry, or report the failure to its own caller.
      if (!reachable) for (const { reject } of waiting.splice(0)) reject(new StoreUnavailable());
      await nextTurn();
    }
    written = [];
    draining = undefined;
  };

  return {
    commit(change) {
      return new Promise((resolve, reject) => {
        const keys = keysOf(change);
        if (closed) throw new StoreUnavailable('the store is closed');
        if (waiting.length >= MAX_WAITING) throw new StoreBusy();
        waiting.push({ change, keys, resolve, reject });
        draining ??= drain();
      });
    },
    stats,
    waiting: () => waiting.length,
    async close() {
      closed = true;
      await draining;
    },
  };
}

/** Lets callbacks run that are ready, which may bring more changes. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Answers every entry. Returns false when the database cannot be reached; never rejects. */
async function settle(connection: Connection, entries: readonly Entry[], books: Books): Promise<boolean> {
  const { stats } = books;
  const begun = performance.now();
  const late: Entry[] = [];
  let left = entries;
  let resends = 0;
  let reachable = true;
  while (left.length > 0) {
    const attempt = await send(connection, left, books.written);
    if (attempt.batch !== undefined) {
      late.push(...attempt.batch.conflicting);
      stats.lostInBatch += attempt.batch.conflicting.length;
      left = attempt.batch.sent;
    }
    const verdict = verdictOn(attempt, { left: left.length, resends, waitedMs: performance.now() - begun });
    switch (verdict.kind) {
      case 'committed':
        win(left, books);
        left = [];
        break;
      case 'lost':
        stats.lostAtDatabase += verdict.losers.length;
        for (const { resolve } of verdict.losers) resolve('lost');
        left = left.filter((entry) => !verdict.losers.includes(entry));
        break;
      case 'again':
        resends += 1;
        stats.resends += 1;
        break;
      case 'everybody':
      case 'unreachable':
        for (const { reject } of left) reject(verdict.error);
        reachable = verdict.kind !== 'unreachable';
        left = [];
        break;
      case 'halve': {
        stats.splits += 1;
        const middle = left.length >> 1;
        const first = await settle(connection, left.slice(0, middle), books);
        const second = await settle(connection, left.slice(middle), books);
        reachable = first && second;
        left = [];
        break;
      }
    }
  }
  // Answered after the batch, so that they are decided again on rows that include its outcome.
  for (const { resolve } of late) resolve('lost');
  return reachable;
}

/** Sends the entries as one batch. */
async function send(
  connection: Connection,
  entries: readonly Entry[],
  written: readonly Written[],
): Promise<BatchResult<Entry>> {
  let batch: Batch<Entry> | undefined;
  try {
    batch = makeBatch(entries, written);
    await connection.run(batch.executions);
    return { batch };
  } catch (failure) {
    return batch === undefined ? { failure } : { batch, failure };
  }
}

function win(entries: readonly Entry[], { written, stats, onWon }: Books): void {
  tally(stats.batchChanges, entries.length);
  for (const entry of entries) {
    for (const [key, version] of writtenBy(entry)) written[0]?.set(key, version);
    onWon(entry.change);
    entry.resolve('won');
  }
}
