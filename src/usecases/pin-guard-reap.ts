/**
 * Forgets wrong PINs at numbers that are no account, once they no longer count.
 *
 * Invariant: a count is forgotten some time after it has stopped counting, never before: it ends as an account's does.
 */

import { PIN_MEMORY_MS } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { inBatches } from './reap.ts';

/** Kept a little longer than it counts, so that a clock that lags elsewhere finds it still. */
const MARGIN_MS = 10 * 60_000;

/** Forgets what is due. Returns how many counts. */
export function reapPinGuards(deps: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const before = deps.clock.now() - PIN_MEMORY_MS - MARGIN_MS;
  return inBatches((limit) => deps.store.pinGuard.reap(before, limit));
}
