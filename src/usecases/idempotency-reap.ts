/**
 * Forgets remembered answers whose time is over (24 hours, contract §7).
 *
 * Invariant: a memory is forgotten some time after it has stopped counting, never before.
 */

import type { Deps } from './deps.ts';

const MEMORY_MS = 24 * 60 * 60_000;
/** Kept a little longer than it counts, so that a clock that lags elsewhere finds it still. */
const MARGIN_MS = 10 * 60_000;

/** Forgets what is due, a few thousand at a time. Returns how many. */
export function reapMemories(deps: Pick<Deps, 'store' | 'clock'>, limit = 5_000): Promise<number> {
  return deps.store.idempotency.reap(deps.clock.now() - MEMORY_MS - MARGIN_MS, limit);
}
