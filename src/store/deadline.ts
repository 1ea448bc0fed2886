/**
 * Deadlines: how long something on a database connection is waited for.
 *
 * Invariant: each step gets a minimum of time, even when its run's time is up: a pause of this process may have used that up.
 */

import type pg from 'pg';
import { StoreUnavailable } from './errors.ts';
import { watchdog } from './watchdog.ts';

/** Minimum for a preparing step, in milliseconds. */
const MIN_MS = 100;
/** Minimum for a pipeline, in milliseconds: giving up on a commit that was sent leaves its outcome unknown for every caller. */
export const MIN_RUN_MS = 1_000;

/** Milliseconds until the deadline (by `performance.now()`), but no fewer than `least`. */
export function remainingMs(deadline: number, least = MIN_MS): number {
  return Math.max(least, deadline - performance.now());
}

/** The promise's outcome, if it comes before the deadline. @throws StoreUnavailable if it takes longer. */
export function withDeadline<T>(deadline: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopWatching = watchdog(remainingMs(deadline), () => reject(new StoreUnavailable()));
    void promise.then(resolve, reject).finally(stopWatching);
  });
}

/**
 * Connects, within `mostMs` of silence. The driver has a limit of its own, but it knows of no pause of this process: at a start on a
 * busy machine, modules may be read for longer than that.
 */
export async function connectWithin(mostMs: number, client: pg.Client): Promise<void> {
  const stopWatching = watchdog(mostMs, () => client.connection.stream.destroy());
  await client.connect().finally(stopWatching);
}
