/**
 * Deletes rows whose time is over, of any kind.
 *
 * Invariant: a row is deleted some time after it has ceased to be valid, never before. No run of a round deletes more than it can finish before the next run.
 */

import { MINUTE_MS } from '../domain/durations.ts';
import type { Deps } from './deps.ts';

/** Rows are kept for longer than they are valid, so that a process whose clock lags still finds them. */
const MARGIN_MS = 10 * MINUTE_MS;
const BATCH = 5_000;
/** 50 batches per run: some 4000 rows a second, as the round runs once a minute; the rest waits for the next run. */
const MAX_BATCHES = 50;

/**
 * Deletes rows that have been valid for `validMs`, a few thousand at a time, and returns how many. `reap` deletes rows from before an
 * instant (ms).
 */
export async function reapExpired(
  clock: Deps['clock'],
  validMs: number,
  reap: (before: number, limit: number) => Promise<number>,
): Promise<number> {
  const before = clock.now() - validMs - MARGIN_MS;
  let reaped = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const found = await reap(before, BATCH);
    reaped += found;
    if (found < BATCH) break;
  }
  return reaped;
}
