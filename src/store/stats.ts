/**
 * What the store counts of itself, for monitoring.
 *
 * Invariant: counting only adds numbers, and nothing waits for it; a reader sees the numbers as they are at that moment.
 */

/** A histogram: `counts` has one entry more than `bounds`, for values above the last bound. */
export interface Tally {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum: number;
}

/** Counts of a committer. */
export interface CommitStats {
  /** Changes per committed batch. */
  readonly batchChanges: Tally;
  /** From sending a batch to its end, seconds. */
  readonly batchSeconds: Tally;
  /** Changes that lost before they were sent, and at the database. */
  lostInBatch: number;
  lostAtDatabase: number;
  resends: number;
  splits: number;
}

/** Counts of a set of readers. */
export interface ReadStats {
  keys: number;
  statements: number;
}

const CHANGES = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 4];

/** Counts of a committer that has done nothing yet. */
export function newCommitStats(): CommitStats {
  return {
    batchChanges: newTally(CHANGES),
    batchSeconds: newTally(SECONDS),
    lostInBatch: 0,
    lostAtDatabase: 0,
    resends: 0,
    splits: 0,
  };
}

/** Counts a value, in the unit of the bounds, at the first bound that it does not exceed. */
export function tally(to: Tally, value: number): void {
  let at = 0;
  while (at < to.bounds.length && value > (to.bounds[at] ?? 0)) at += 1;
  to.counts[at] = (to.counts[at] ?? 0) + 1;
  to.sum += value;
}

function newTally(bounds: readonly number[]): Tally {
  return { bounds, counts: [...bounds.map(() => 0), 0], sum: 0 };
}
