/**
 * A circuit breaker for payouts: open, it admits no calls to a carrier but probes.
 *
 * Invariant: a carrier that does not answer gets one probe at a time, at growing intervals, and full traffic again as soon as a
 * probe is answered; while it is down, no attempt is written for each waiting line.
 */

import { isWithin } from '../domain/elapsed.ts';
import type { CallOutcome } from './call-outcome.ts';

/** 8 calls in a row without an answer open it: fewer may be due to single phones that are out of reach. */
const MAX_FAILURES = 8;
/** Milliseconds that it stays open the first time, the second, …; then `MAX_PAUSE_MS`. */
const PAUSES_MS = [1_000, 2_000, 5_000, 10_000] as const;
const MAX_PAUSE_MS = 15_000;

/** `closed`: the carrier answers again. `opened`: no call is admitted for `pauseMs` milliseconds. */
export type BreakerNews = { readonly kind: 'closed' } | { readonly kind: 'opened'; readonly pauseMs: number };

/** Lets calls to one carrier through while it answers. */
export interface CircuitBreaker {
  /** Whether it admits nothing but probes. */
  isOpen(): boolean;
  /** Whether a call would be admitted. */
  wouldAdmit(now: number): boolean;
  /** Admits a call, or not. The caller of an admitted call must report its outcome to `record`. */
  admits(now: number): boolean;
  /** Takes the outcome of an admitted call. */
  record(outcome: CallOutcome, now: number): BreakerNews | undefined;
}

/** Makes a breaker, closed. Instants are milliseconds. */
export function createCircuitBreaker(): CircuitBreaker {
  let failures = 0;
  /** How often it has opened in a row; 0: it is closed. */
  let openings = 0;
  let openedAt = 0;
  let pauseMs = 0;
  let isProbing = false;

  const isPausing = (now: number): boolean => isWithin(pauseMs, openedAt, now);
  const wouldAdmit = (now: number): boolean => openings === 0 || !(isProbing || isPausing(now));

  return {
    isOpen: () => openings > 0,
    wouldAdmit,
    admits(now) {
      if (!wouldAdmit(now)) return false;
      isProbing = openings > 0;
      return true;
    },
    record(outcome, now) {
      if (outcome === 'answered') {
        const wasOpen = openings > 0;
        failures = 0;
        openings = 0;
        isProbing = false;
        return wasOpen ? { kind: 'closed' } : undefined;
      }
      // Calls admitted before it opened say nothing new. A probe does, even if the clock was set back meanwhile.
      if (!isProbing && isPausing(now)) return undefined;
      isProbing = false;
      if (outcome === 'not_called') return undefined;
      failures += 1;
      if (failures < MAX_FAILURES) return undefined;
      pauseMs = PAUSES_MS[openings] ?? MAX_PAUSE_MS;
      openedAt = now;
      openings += 1;
      return { kind: 'opened', pauseMs };
    },
  };
}
