/**
 * Deletes remembered replies after their time is over (24 hours, contract §7).
 *
 * Invariant: a memory is deleted some time after it has ceased to be valid, never before.
 */

import type { Deps } from './deps.ts';
import { reapExpired } from './reap.ts';
import { MEMORY_MS } from './reply-memory.ts';

/** Deletes the memories that are due. Returns how many there were. */
export function reapMemories({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  return reapExpired(clock, MEMORY_MS, (before, limit) => store.idempotency.reap(before, limit));
}
