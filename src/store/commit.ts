/**
 * The group commit: the changes of all callers leave together, in one transaction and one round trip.
 *
 * The next batch leaves when the connection is free, with whatever has come meanwhile: no timer, so that an idle
 * gateway answers at once. Invariant: a change commits whole or not at all, and none can make another one fail; only
 * a lost connection leaves a doubt, and then every change of the batch is told so.
 */

import type { Change, Outcome } from '../domain/change.ts';
import { type Batch, type Batchable, keysOf, makeBatch, type Written, writtenBy } from './batch.ts';
import {
  answerFor,
  CommitUnknown,
  isCollision,
  isTrouble,
  LineLost,
  LOST,
  Refused,
  type ServerError,
  StoreBusy,
  StoreUnavailable,
} from './errors.ts';
import type { Line } from './line.ts';
import { type CommitStats, newCommitStats, tally } from './stats.ts';

/** How many changes may wait. More only wait longer than their callers do. */
const MOST_WAITING = 20_000;
const MOST_IN_BATCH = 256;
/** What the last batches wrote is remembered for this many: what waits may have been decided before they committed. */
const BATCHES_KNOWN = 4;
/** How often a batch is sent again because of collisions or lost connections. */
const MOST_RESENDS = 5;
/** And for how long: whoever waited longer is better told to come again. The first time does not count: a server takes a second to find a deadlock. */
const RESEND_WITHIN_MS = 1_000;

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
  /** Takes no more changes, and resolves when those that wait are answered. */
  close(): Promise<void>;
}

/** What is written down of a batch beside its answers. */
interface Books {
  readonly written: readonly Written[];
  readonly stats: CommitStats;
  readonly onWon: (change: Change) => void;
}

interface Entry extends Batchable {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
}

/** `onWon` is told of every change that has been committed, before its caller is. */
export function openCommitter(line: Line, onWon: (change: Change) => void = () => undefined): Committer {
  const waiting: Entry[] = [];
  let written: Written[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;
  const stats = newCommitStats();

  const drain = async (): Promise<void> => {
    await nextTurn();
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MOST_IN_BATCH);
      written = [new Map(), ...written.slice(0, BATCHES_KNOWN - 1)];
      const sent = performance.now();
      const reachable = await settle(line, batch, { written, stats, onWon });
      tally(stats.batchSeconds, (performance.now() - sent) / 1_000);
      // Nobody is made to wait for a database that is gone: each may try again, or tell its caller.
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
        if (waiting.length >= MOST_WAITING) throw new StoreBusy();
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

/** Lets whatever is ready to run do so, and perhaps bring more changes. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Answers every entry. Returns false when the database cannot be reached; never rejects. */
async function settle(line: Line, entries: readonly Entry[], books: Books): Promise<boolean> {
  const { written, stats } = books;
  let left = entries;
  let resends = 0;
  const enough = performance.now() + RESEND_WITHIN_MS;
  let reachable = true;
  const late: Entry[] = [];
  while (left.length > 0) {
    const { batch, failure } = await attempt(line, left, written);
    if (batch !== undefined) {
      late.push(...batch.conflicting);
      stats.lostInBatch += batch.conflicting.length;
      left = batch.sent;
    }
    if (failure === undefined) {
      tally(stats.batchChanges, left.length);
      for (const entry of left) {
        for (const [key, version] of writtenBy(entry)) written[0]?.set(key, version);
        books.onWon(entry.change);
        entry.resolve('won');
      }
      break;
    }
    const losers = batch === undefined ? [] : losersOf(batch, failure);
    const verdict = losers.length > 0 ? 'lost' : verdictOn(failure);
    if (verdict === 'lost') {
      stats.lostAtDatabase += losers.length;
      for (const { resolve } of losers) resolve('lost');
      left = left.filter((entry) => !losers.includes(entry));
    } else if (verdict === 'again' && resends < MOST_RESENDS && (resends === 0 || performance.now() < enough)) {
      resends += 1;
      stats.resends += 1;
    } else if (verdict === 'everybody' || failure instanceof LineLost || left.length === 1) {
      for (const { reject } of left) reject(answerOn(failure));
      reachable = !(failure instanceof StoreUnavailable);
      break;
    } else {
      // One of these is to blame: each half is sent alone, until it stands alone.
      stats.splits += 1;
      const middle = left.length >> 1;
      const first = await settle(line, left.slice(0, middle), books);
      reachable = (await settle(line, left.slice(middle), books)) && first;
      break;
    }
  }
  // Answered after the batch, so that they are decided again on rows that include its outcome.
  for (const { resolve } of late) resolve('lost');
  return reachable;
}

/** Sends the entries as one batch. Without a failure all that was sent has been committed. */
async function attempt(
  line: Line,
  entries: readonly Entry[],
  written: readonly Written[],
): Promise<{ batch?: Batch<Entry>; failure?: unknown }> {
  let batch: Batch<Entry> | undefined;
  try {
    batch = makeBatch(entries, written);
    await line.run(batch.executions);
    return { batch };
  } catch (failure) {
    return batch === undefined ? { failure } : { batch, failure };
  }
}

type Verdict = 'again' | 'everybody' | 'somebody';

/** Whose fault a failed batch is, and so whether to send it again, to halve it, or to tell everybody. */
function verdictOn(failure: unknown): Verdict {
  // What certainly did not reach the server leaves again on the next connection.
  if (failure instanceof LineLost) return failure.sent ? 'everybody' : 'again';
  if (failure instanceof StoreUnavailable) return 'everybody';
  if (!(failure instanceof Refused)) return 'somebody';
  if (isCollision(failure.server.code)) return 'again';
  return isTrouble(failure.server.code) ? 'everybody' : 'somebody';
}

/** The changes that a LOST1 error names. */
function losersOf(batch: Batch<Entry>, error: unknown): Entry[] {
  if (!(error instanceof Refused) || error.server.code !== LOST) return [];
  const { kind, keys } = lossOf(error.server);
  return batch.losers(kind, keys);
}

function lossOf({ message, detail }: ServerError): { kind: string; keys: readonly string[] } {
  const keys: unknown = JSON.parse(detail ?? '[]');
  return { kind: message.replace(/^lost /, ''), keys: Array.isArray(keys) ? keys.map(String) : [] };
}

/** Only a batch that was sent, and not answered, leaves a doubt. */
function answerOn(failure: unknown): Error {
  return failure instanceof LineLost && failure.sent ? new CommitUnknown() : answerFor(failure, 'write');
}
