/**
 * Forgets remembered answers whose time is over (24 hours, contract §7).
 *
 * Invariant: a memory is forgotten some time after it has stopped counting, never before.
 */

import type { Deps } from './deps.ts';

const MEMORY_MS = 24 * 60 * 60_000;
/** Kept a little longer than it counts, so that a clock that lags elsewhere finds it still. */
const MARGIN_MS = 10 * 60_000;

/** Forgets what is due. Returns how many. */
export function reapMemories(deps: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const before = deps.clock.now() - MEMORY_MS - MARGIN_MS;
  return inBatches((limit) => deps.store.idempotency.reap(before, limit));
}

const BATCH = 5_000;
/** Some 4 000 rows a second, where the round runs once a minute; more than that waits for its next turn. */
const MOST_BATCHES = 50;

/** Reaps a few thousand rows at a time, until no more are due. */
export async function inBatches(reap: (limit: number) => Promise<number>): Promise<number> {
  let reaped = 0;
  for (let batch = 0; batch < MOST_BATCHES; batch += 1) {
    const found = await reap(BATCH);
    reaped += found;
    if (found < BATCH) break;
  }
  return reaped;
}
