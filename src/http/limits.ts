/**
 * Traffic limits, counted per process, and how an answer tells of a limit (contract §8).
 *
 * Invariant: what guards a PIN or a code is counted exactly, in the database, and not here.
 */

import type { Left } from '../domain/one-time-code.ts';
import { TRAFFIC_LIMITS, type TrafficLimit } from '../domain/traffic-limit.ts';
import type { Clock } from '../platform/platform.ts';
import { type SlidingWindow, type Standing, slidingWindow } from './sliding-window.ts';

export type LimitName = TrafficLimit | 'none';

export interface Limits {
  /** Counts a call under a limit; undefined when the limit is switched off. `calls`: the merchant's own number. */
  take(name: TrafficLimit, key: string, calls: number | undefined): Standing | undefined;
}

/** The traffic limits, each multiplied by `scale`; 0 switches them off. */
export function createLimits(clock: Pick<Clock, 'now'>, scale: number): Limits {
  const windows = new Map(Object.entries(TRAFFIC_LIMITS).map(([name, rule]) => [name, slidingWindow(clock, rule)]));
  return {
    take(name, key, calls) {
      if (scale === 0) return undefined;
      const scaled = Math.max(1, Math.round((calls ?? TRAFFIC_LIMITS[name].calls) * scale));
      return windows.get(name)?.take(key, scaled);
    },
  };
}

/** `RateLimit-Policy` and `RateLimit` (IETF draft-ietf-httpapi-ratelimit-headers). */
export function limitHeaders(name: TrafficLimit, standing: Standing): { policy: string; state: string } {
  return {
    policy: `"${name}";q=${standing.calls};w=${standing.seconds}`,
    state: `"${name}";r=${standing.remaining};t=${standing.reset}`,
  };
}

/** A limit that guards a secret: never scaled, the same for every merchant, and counted by whoever keeps the secret. */
export interface Guard {
  readonly name: string;
  readonly calls: number;
  readonly seconds: number;
}

/** The headers of an answer under such a limit. What changes only after the window's length is told as that. */
export function guardHeaders(guard: Guard, left: Left): { 'RateLimit-Policy': string; RateLimit: string } {
  return {
    'RateLimit-Policy': `"${guard.name}";q=${guard.calls};w=${guard.seconds}`,
    RateLimit: `"${guard.name}";r=${left.count};t=${Math.min(left.seconds, guard.seconds)}`,
  };
}

/** How often one address may show a wrong credential (contract §8). */
export const FAILED_AUTHENTICATIONS: Guard = { name: 'failed_authentications', calls: 20, seconds: 60 };

export function failedAuthentications(clock: Pick<Clock, 'now'>): SlidingWindow {
  return slidingWindow(clock, FAILED_AUTHENTICATIONS);
}
