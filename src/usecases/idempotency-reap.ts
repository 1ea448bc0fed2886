/**
 * Forgets remembered answers whose time is over (24 hours, contract §7).
 *
 * Invariant: a memory is forgotten some time after it has stopped counting, never before.
 */

import type { Deps } from './deps.ts';
import { inBatches } from './reap.ts';

const MEMORY_MS = 24 * 60 * 60_000;
/** Kept a little longer than it counts, so that a clock that lags elsewhere finds it still. */
const MARGIN_MS = 10 * 60_000;

/** Forgets what is due. Returns how many. */
export function reapMemories(deps: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const before = deps.clock.now() - MEMORY_MS - MARGIN_MS;
  return inBatches((limit) => deps.store.idempotency.reap(before, limit));
}
