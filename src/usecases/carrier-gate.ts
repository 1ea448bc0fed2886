/**
 * A circuit breaker for payouts, named as a gate: a closed gate is an open breaker.
 *
 * Invariant: a carrier that does not answer gets one probe at a time, at growing intervals, and full traffic again as soon as a
 * probe is answered; while it is down, no attempt is written for each waiting line.
 */

import { isWithin } from '../domain/elapsed.ts';

/** So many calls in a row without an answer close the gate: some numbers alone may be out of reach. */
const FAILURES_MOST = 8;
/** Milliseconds that it stays closed: the first time, the second, …; then `PAUSE_MOST_MS`. */
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000] as const;
const PAUSE_MOST_MS = 15_000;

/** `back`: it answers again. `closed`: nothing is let through for so many milliseconds. */
export type GateNews = { readonly kind: 'back' } | { readonly kind: 'closed'; readonly pauseMs: number };

export interface CarrierGate {
  /** Whether a call would be let through. */
  isOpen(now: number): boolean;
  /** Lets a call through, or not. Whoever was let through says what came of it. */
  admits(now: number): boolean;
  /** `answered`: undefined when the carrier was not asked after all. */
  heard(answered: boolean | undefined, now: number): GateNews | undefined;
}

export function createGate(): CarrierGate {
  let failures = 0;
  /** How often it was closed in a row; 0: it is not. */
  let closings = 0;
  let closedAt = 0;
  let pauseMs = 0;
  let isProbing = false;

  const isPausing = (now: number): boolean => isWithin(pauseMs, closedAt, now);
  const isOpen = (now: number): boolean => closings === 0 || !(isProbing || isPausing(now));

  return {
    isOpen,
    admits(now) {
      if (!isOpen(now)) return false;
      isProbing = closings > 0;
      return true;
    },
    heard(answered, now) {
      if (answered === true) {
        const wasClosed = closings > 0;
        failures = 0;
        closings = 0;
        isProbing = false;
        return wasClosed ? { kind: 'back' } : undefined;
      }
      // Calls that were let through before it closed say nothing new. A probe does, also where the clock was set back meanwhile.
      if (!isProbing && isPausing(now)) return undefined;
      isProbing = false;
      if (answered === undefined) return undefined;
      failures += 1;
      if (failures < FAILURES_MOST) return undefined;
      pauseMs = PAUSES_MS[closings] ?? PAUSE_MOST_MS;
      closedAt = now;
      closings += 1;
      return { kind: 'closed', pauseMs };
    },
  };
}
