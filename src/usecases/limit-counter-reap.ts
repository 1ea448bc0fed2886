/**
 * Deletes the counters of limits that are kept in rows of their own (`LimitCounter`), once they have expired.
 *
 * Invariant: a counter is deleted some time after it has expired, never before, whatever it counts.
 */

import { TEXTS_SPAN_MS } from '../domain/one-time-code.ts';
import { PIN_MEMORY_MS } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { reapExpired } from './reap.ts';

/** Deletes the counters that are due. Returns how many there were. */
export function reapLimitCounters({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const validMs = Math.max(PIN_MEMORY_MS, TEXTS_SPAN_MS);
  return reapExpired(clock, validMs, (before, limit) => store.limitCounter.reap(before, limit));
}
