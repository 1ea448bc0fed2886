/**
 * Deletes the counts that are kept apart from accounts (`PinGuard`) once they have expired.
 *
 * Invariant: a count is deleted some time after it has expired, never before, whatever it counts.
 */

import { TEXTS_SPAN_MS } from '../domain/one-time-code.ts';
import { PIN_MEMORY_MS } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { inBatches } from './reap.ts';

/** 10 min that a count is kept longer than it is valid, so that a process whose clock lags still finds it. */
const MARGIN_MS = 10 * 60_000;

/** Deletes the counts that are due. Returns how many there were. */
export function reapPinGuards(deps: Pick<Deps, 'store' | 'clock'>): Promise<number> {
  const before = deps.clock.now() - Math.max(PIN_MEMORY_MS, TEXTS_SPAN_MS) - MARGIN_MS;
  return inBatches((limit) => deps.store.pinGuard.reap(before, limit));
}
