/**
 * Traffic limits: sliding windows, counted per process (contract §8).
 *
 * Invariant: memory is bounded whatever keys are thrown at it, and what is refused is not counted. What guards a PIN
 * or a code is counted exactly, in the database, and not here.
 */

import type { Clock } from '../platform/platform.ts';

/** Calls a window, and the window's length in seconds. */
const LIMITS = {
  sessions_create: { calls: 6_000, seconds: 60 },
  payments: { calls: 120, seconds: 60 },
  mobile_money_status: { calls: 30, seconds: 60 },
  card_callbacks: { calls: 60, seconds: 60 },
} as const;

export type CountedLimit = keyof typeof LIMITS;
export type LimitName = CountedLimit | 'none';

/** Where a caller stands after a call. Times in whole seconds. */
export interface Standing {
  readonly allowed: boolean;
  readonly calls: number;
  readonly seconds: number;
  readonly remaining: number;
  /** Until the window's current half is over. */
  readonly reset: number;
  /** When refused: until one more call would pass. */
  readonly retryAfter: number;
}

interface Count {
  window: number;
  now: number;
  before: number;
}

export interface SlidingWindow {
  /** Counts one call if it passes. `calls` stands in for the window's own number. */
  take(key: string, calls?: number): Standing;
}

const KEYS_AT_MOST = 100_000;

/**
 * A sliding window over two fixed ones: what the last one counted weighs as much as the sliding window still covers
 * of it. At most `calls` pass in any window that began quiet, and the error after a burst is a few per cent.
 */
export function slidingWindow(
  clock: Pick<Clock, 'now'>,
  rule: { readonly calls: number; readonly seconds: number },
  keysAtMost = KEYS_AT_MOST,
): SlidingWindow {
  const length = rule.seconds * 1000;
  const counts = new Map<string, Count>();

  /** Keys stand in the order of their last window: those that no longer count are at the front. */
  function forget(window: number): void {
    for (const [key, count] of counts) {
      if (counts.size <= keysAtMost && Math.abs(window - count.window) < 2) return;
      counts.delete(key);
    }
  }

  function countOf(key: string, window: number): Count {
    const known = counts.get(key);
    // A clock that steps back a little stays in the window it was in; after a leap nothing is known.
    if (known !== undefined && (known.window === window || known.window === window + 1)) return known;
    const count = { window, now: 0, before: known?.window === window - 1 ? known.now : 0 };
    counts.delete(key);
    counts.set(key, count);
    forget(window);
    return count;
  }

  return {
    take(key, calls = rule.calls) {
      const now = clock.now();
      const window = Math.floor(now / length);
      const count = countOf(key, window);
      const past = count.window === window ? (now - window * length) / length : 0;
      const used = count.before * (1 - past) + count.now;
      const allowed = used + 1 <= calls;
      if (allowed) count.now += 1;
      return {
        allowed,
        calls,
        seconds: rule.seconds,
        remaining: allowed ? Math.floor(calls - used - 1) : 0,
        reset: Math.ceil(((1 - past) * length) / 1000),
        retryAfter: allowed ? 0 : Math.max(1, Math.ceil((wait(count, past, calls) * length) / 1000)),
      };
    },
  };
}

/** How many windows have to pass until one more call is allowed. */
function wait(count: Count, past: number, calls: number): number {
  const room = calls - 1 - count.now;
  if (room >= 0) return 1 - room / count.before - past;
  return 1 - past + (1 - (calls - 1) / count.now);
}

export interface Limits {
  /** Counts a call under a limit; undefined when the limit is switched off. `calls`: the merchant's own number. */
  take(name: CountedLimit, key: string, calls: number | undefined): Standing | undefined;
}

/** The traffic limits, each multiplied by `scale`; 0 switches them off. */
export function createLimits(clock: Pick<Clock, 'now'>, scale: number): Limits {
  const windows = new Map(Object.entries(LIMITS).map(([name, rule]) => [name, slidingWindow(clock, rule)]));
  return {
    take(name, key, calls) {
      if (scale === 0) return undefined;
      const scaled = Math.max(1, Math.round((calls ?? LIMITS[name].calls) * scale));
      return windows.get(name)?.take(key, scaled);
    },
  };
}

/** `RateLimit-Policy` and `RateLimit` (IETF draft-ietf-httpapi-ratelimit-headers). */
export function limitHeaders(name: CountedLimit, standing: Standing): { policy: string; state: string } {
  return {
    policy: `"${name}";q=${standing.calls};w=${standing.seconds}`,
    state: `"${name}";r=${standing.remaining};t=${standing.reset}`,
  };
}

/** A limit that guards a secret: never scaled, and counted by whoever keeps the secret. */
export interface Guard {
  readonly name: string;
  readonly calls: number;
  readonly seconds: number;
}

/** The headers of a refusal by such a limit: nothing is left, and how many seconds until that changes. */
export function guardHeaders(guard: Guard, retryAfter: number): { 'RateLimit-Policy': string; RateLimit: string } {
  return {
    'RateLimit-Policy': `"${guard.name}";q=${guard.calls};w=${guard.seconds}`,
    RateLimit: `"${guard.name}";r=0;t=${retryAfter}`,
  };
}

/** How often one address may show a wrong credential (contract §8). */
export const FAILED_AUTHENTICATIONS: Guard = { name: 'failed_authentications', calls: 20, seconds: 60 };

export function failedAuthentications(clock: Pick<Clock, 'now'>): SlidingWindow {
  return slidingWindow(clock, FAILED_AUTHENTICATIONS);
}
