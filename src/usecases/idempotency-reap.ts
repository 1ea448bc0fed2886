/**
 * Deletes remembered replies after their time is over (24 hours, contract §7).
 *
 * Invariant: a memory is deleted some time after it has ceased to be valid, never before.
 */

import type { Deps } from './deps.ts';
import { inBatches } from './reap.ts';
import { MEMORY_MS } from './reply-memory.ts';

/** 10 min that a memory is kept longer than it is valid, so that a process whose clock lags still finds it. */
const MARGIN_MS = 10 * 60_000;

/** Deletes the memories that are due. Returns how many there were. */
export function reapMemories(deps: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const before = deps.clock.now() - MEMORY_MS - MARGIN_MS;
  return inBatches((limit) => deps.store.idempotency.reap(before, limit));
}
