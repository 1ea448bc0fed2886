/**
 * Counts calls in a sliding window, by key, in this process (contract §8).
 *
 * Invariant: in no window are more calls of one key allowed than the limit says, and refused calls are not counted. Memory is
 * bounded, however many keys there are and however many calls a window allows.
 */

import { secondsUntil } from '../domain/elapsed.ts';
import type { Clock } from '../platform/platform.ts';

/** Where a caller stands after a call. Times are in whole seconds. */
export interface Standing {
  readonly allowed: boolean;
  /** How many calls the limit allows in a window, and the window's length. */
  readonly calls: number;
  readonly seconds: number;
  /** How many calls are left in this window. */
  readonly remaining: number;
  /** Until the oldest counted call leaves the window; if the call was refused, the same as `retryAfter`. */
  readonly reset: number;
  /** Until the refused call would be allowed; 0 if it was allowed. */
  readonly retryAfter: number;
}

/** Counts calls by key under one rule, over the seconds that have just passed. */
export interface SlidingWindow {
  /**
   * Counts a call if it is allowed. `calls` replaces the rule's own number. `weight`: as how many calls it counts, at most as many
   * as are allowed.
   */
  take(key: string, calls?: number, weight?: number): Standing;
}

/** What is counted of one key. */
interface CallLog {
  /**
   * Pairs, one per bucket, oldest first: when its latest call came, and how many calls it holds; all count as long as that one.
   */
  readonly buckets: number[];
  /** Index of the first bucket that has not expired. */
  left: number;
  /** How many calls are counted. */
  total: number;
}

const MAX_KEYS = 200_000;
/** A call is counted up to a six-hundredth of the window longer than it has to be: a tenth of a second in a minute. */
const BUCKETS = 600;
/** How many expired buckets are removed at a time. */
const CUT = 50;
/** How many numbers are kept of a bucket. */
const PAIR = 2;

/**
 * A log of calls, in buckets of a six-hundredth of the window, and at least a millisecond. A bucket counts until its latest
 * call is one window old, so the limit is exact, and a burst takes as little memory as one call.
 *
 * It keeps the keys last seen in the current fixed interval (of one window's length) and in the previous one; older keys are
 * dropped together. (A Map that evicts them one by one has to skip the slots of those evicted before: 5 to 45 µs a call at a
 * thousand new keys a second.) Beyond `keysAtMost` it forgets the keys seen first, and at least the newest half stays.
 */
export function slidingWindow(
  clock: Pick<Clock, 'now'>,
  rule: { readonly calls: number; readonly seconds: number },
  keysAtMost = MAX_KEYS,
): SlidingWindow {
  const length = rule.seconds * 1000;
  const bucket = Math.max(1, length / BUCKETS);
  const half = Math.max(1, Math.floor(keysAtMost / 2));
  let window = Number.NaN;
  /** The window in which the older keys were last seen. */
  let olderWindow = Number.NaN;
  let newer = new Map<string, CallLog>();
  let older = new Map<string, CallLog>();

  function turnTo(next: number): void {
    // A clock that steps back a little stays in the window it was in; after a leap all keys are forgotten.
    if (next === window || next === window - 1) return;
    // If there were too many keys, the older ones were also seen in the window that ends, and still count.
    if (next !== window + 1 || olderWindow !== window) {
      older = next === window + 1 ? newer : new Map();
      olderWindow = window;
      newer = new Map();
    }
    window = next;
  }

  function logOf(key: string, now: number): CallLog {
    turnTo(Math.floor(now / length));
    const known = newer.get(key);
    if (known !== undefined) return known;
    // Most keys are seen once or twice: an array that begins empty allocates seventeen slots at the first push.
    const log = older.get(key) ?? { buckets: [now, 0], left: 0, total: 0 };
    if (newer.size >= half) {
      older = newer;
      olderWindow = window;
      newer = new Map();
    }
    newer.set(key, log);
    return log;
  }

  function count(log: CallLog, time: number, weight: number): void {
    const { buckets } = log;
    const last = buckets.length - PAIR;
    // An expired bucket is a whole window older, so it is never the one of this call.
    if (Math.floor((buckets[last] ?? 0) / bucket) === Math.floor(time / bucket)) {
      buckets[last] = time;
      buckets[last + 1] = (buckets[last + 1] ?? 0) + weight;
    } else buckets.push(time, weight);
    log.total += weight;
  }

  return {
    take(key, calls = rule.calls, weight = 1) {
      const now = clock.now();
      const log = logOf(key, now);
      // If the clock has stepped back, time stands still until it has caught up.
      const time = Math.max(now, log.buckets.at(-PAIR) ?? now);
      dropExpired(log, time - length);
      const counted = Math.min(weight, calls);
      const allowed = log.total + counted <= calls;
      if (allowed) count(log, time, counted);
      const due = allowed ? (log.buckets[log.left] ?? time) : timeOfRoom(log, calls - counted);
      const wait = secondsUntil(due + length, now);
      return {
        allowed,
        calls,
        seconds: rule.seconds,
        remaining: Math.max(0, calls - log.total),
        reset: wait,
        retryAfter: allowed ? 0 : wait,
      };
    },
  };
}

/** Stops counting the calls that came at `end` or before. */
function dropExpired(log: CallLog, end: number): void {
  const { buckets } = log;
  while (log.left < buckets.length && (buckets[log.left] ?? 0) <= end) {
    log.total -= buckets[log.left + 1] ?? 0;
    log.left += PAIR;
  }
  if (log.left < CUT * PAIR) return;
  buckets.splice(0, log.left);
  log.left = 0;
}

/**
 * The time of the bucket whose expiry leaves no more than `most` calls: normally the first, a later one if the limit was lowered, or
 * a call counts as several.
 */
function timeOfRoom({ buckets, left, total }: CallLog, most: number): number {
  let at = left;
  let rest = total;
  while (at < buckets.length - PAIR) {
    rest -= buckets[at + 1] ?? 0;
    if (rest <= most) break;
    at += PAIR;
  }
  return buckets[at] ?? 0;
}
