/**
 * A circuit breaker for payouts, named as a gate: a closed gate is an open breaker.
 *
 * Invariant: a carrier that does not answer gets one probe at a time, at growing intervals, and full traffic again as soon as a
 * probe is answered; while it is down, no attempt is written for each waiting line.
 */

import { isWithin } from '../domain/elapsed.ts';

/** 8 calls in a row without an answer close the gate: fewer may be due to single phones that are out of reach. */
const FAILURES_MOST = 8;
/** Milliseconds that the gate stays closed the first time, the second, …; then `PAUSE_MOST_MS`. */
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000] as const;
const PAUSE_MOST_MS = 15_000;

/** `back`: the carrier answers again. `closed`: no call is admitted for `pauseMs` milliseconds. */
export type GateNews = { readonly kind: 'back' } | { readonly kind: 'closed'; readonly pauseMs: number };

export interface CarrierGate {
  /** Whether a call would be admitted. */
  isOpen(now: number): boolean;
  /** Admits a call, or not. The caller of an admitted call must report its outcome to `heard`. */
  admits(now: number): boolean;
  /** Takes the outcome of an admitted call; `answered` is undefined if the carrier was not called after all. */
  heard(answered: boolean | undefined, now: number): GateNews | undefined;
}

export function createGate(): CarrierGate {
  let failures = 0;
  /** How often the gate has closed in a row; 0: it is open. */
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
      // Calls admitted before the gate closed say nothing new. A probe does, even if the clock was set back meanwhile.
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
