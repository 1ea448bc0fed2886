/**
 * Deletes the counts that are kept apart from accounts (`PinGuard`) once they have expired.
 *
 * Invariant: a count is deleted some time after it has expired, never before, whatever it counts.
 */

import { TEXTS_SPAN_MS } from '../domain/one-time-code.ts';
import { PIN_MEMORY_MS } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { reapExpired } from './reap.ts';

/** Deletes the counts that are due. Returns how many there were. */
export function reapPinGuards({ store, clock }: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const validMs = Math.max(PIN_MEMORY_MS, TEXTS_SPAN_MS);
  return reapExpired(clock, validMs, (before, limit) => store.pinGuard.reap(before, limit));
}
