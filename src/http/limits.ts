/**
 * Limits on calls, counted per process, and the headers that tell of a limit (contract §8).
 *
 * Invariant: what protects a PIN or a code, its tries and resends, is counted exactly, in the database, and not here.
 */

import type { Left } from '../domain/one-time-code.ts';
import type { Merchant } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import {
  type CallLimit,
  CODE_GUARDS,
  type CodeGuard,
  guardedCalls,
  TRAFFIC_LIMITS,
  type TrafficLimit,
} from '../domain/traffic-limit.ts';
import type { Clock } from '../platform/platform.ts';
import { type SlidingWindow, type Standing, slidingWindow } from './sliding-window.ts';

/** The traffic limit of a route, or none. */
export type LimitName = TrafficLimit | 'none';

/** The traffic limits of this process. */
export interface Limits {
  /**
   * Counts a call under a limit; undefined when the limit is switched off. `calls`: the merchant's own number. `weight`: as how many
   * calls it counts.
   */
  take(name: TrafficLimit, key: string, calls: number | undefined, weight?: number): Standing | undefined;
}

/** The traffic limits, each multiplied by `scale`; 0 switches them off. */
export function createLimits(clock: Pick<Clock, 'now'>, scale: number): Limits {
  const windows: { readonly [name in TrafficLimit]: SlidingWindow } = {
    sessions_create: slidingWindow(clock, TRAFFIC_LIMITS.sessions_create),
    payments: slidingWindow(clock, TRAFFIC_LIMITS.payments),
    mobile_money_status: slidingWindow(clock, TRAFFIC_LIMITS.mobile_money_status),
    card_callbacks: slidingWindow(clock, TRAFFIC_LIMITS.card_callbacks),
  };
  return {
    take(name, key, calls, weight) {
      if (scale === 0) return undefined;
      const scaled = Math.max(1, Math.round((calls ?? TRAFFIC_LIMITS[name].calls) * scale));
      return windows[name].take(key, scaled, weight);
    },
  };
}

/** A limit that is never scaled, and the name that the headers give it. Its calls are counted per process, like traffic. */
export interface Guard extends CallLimit {
  readonly name: string;
}

/** The guard of a code of this merchant's customers: with the merchant's own number of calls, or the contract's. */
export function codeGuard(name: CodeGuard, { settings }: Pick<Merchant, 'settings'>): Guard {
  return { name, calls: guardedCalls(name, settings.rate_limits), seconds: CODE_GUARDS[name].seconds };
}

/** The headers that tell of a limit (IETF draft-ietf-httpapi-ratelimit-headers). */
export type LimitHeaders = { readonly 'RateLimit-Policy': string; readonly RateLimit: string };

function headersOf(name: string, policy: string, left: Left): LimitHeaders {
  return { 'RateLimit-Policy': `"${name}";${policy}`, RateLimit: `"${name}";r=${left.count};t=${left.seconds}` };
}

/** The headers of an answer under a limit on the calls in a window. */
export function limitHeaders(name: TrafficLimit, { calls, seconds, remaining, reset }: Standing): LimitHeaders {
  return headersOf(name, `q=${calls};w=${seconds}`, { count: remaining, seconds: reset });
}

/** The headers of an answer under a guard. A time beyond the window's length is given as that length. */
export function guardHeaders({ name, calls, seconds }: Guard, left: Left): LimitHeaders {
  return headersOf(name, `q=${calls};w=${seconds}`, { count: left.count, seconds: Math.min(left.seconds, seconds) });
}

/** A limit on how many calls are in flight at once, not on calls in a span of time. */
export interface ConcurrencyLimit {
  readonly name: string;
  readonly most: number;
}

/** A caller has as many calls in flight as it may have: 1301, to be tried again after `retryAfter` seconds. */
export class ConcurrencyExceeded extends Refusal {
  readonly limit: ConcurrencyLimit;

  constructor(limit: ConcurrencyLimit, retryAfter: number) {
    super(1301, { retryAfter });
    this.limit = limit;
  }
}

/** The headers of an answer to a caller that has as many calls in flight as it may have. */
export function concurrencyHeaders({ name, most }: ConcurrencyLimit, seconds: number): LimitHeaders {
  return headersOf(name, `q=${most};qu="concurrent-requests"`, { count: 0, seconds });
}

/** Counts wrong credentials by address, because their sender is unknown: one number for all merchants (contract §8). */
export interface FailedAuthentications {
  readonly guard: Guard;
  readonly window: SlidingWindow;
}

/** `calls`: how many wrong credentials an address may show in a minute. */
export function failedAuthentications(clock: Pick<Clock, 'now'>, calls: number): FailedAuthentications {
  const guard = { name: 'failed_authentications', calls, seconds: 60 };
  return { guard, window: slidingWindow(clock, guard) };
}
