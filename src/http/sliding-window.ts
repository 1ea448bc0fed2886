/**
 * Counts calls in a sliding window, by key, in this process (contract §8).
 *
 * Invariant: whatever comes, never more calls of one key pass in any window than it lets through, and what is refused
 * is not counted. Memory is bounded whatever keys are thrown at it, and however many calls a window lets through.
 */

import type { Clock } from '../platform/platform.ts';

/** Where a caller stands after a call. Times in whole seconds. */
export interface Standing {
  readonly allowed: boolean;
  readonly calls: number;
  readonly seconds: number;
  readonly remaining: number;
  /** Until the oldest call that is counted leaves the window; when refused: as long as `retryAfter`. */
  readonly reset: number;
  /** When refused: until one more call would pass. */
  readonly retryAfter: number;
}

export interface SlidingWindow {
  /** Counts one call if it passes. `calls` stands in for the window's own number. */
  take(key: string, calls?: number): Standing;
}

/** What is counted of one key, oldest first. Two lists of numbers: a pair would be an object a bucket. */
interface CallLog {
  /** The window, of those that begin at its multiples, in which the key was last heard of. */
  window: number;
  /** When the latest call of each bucket came. All of them count as long as that one. */
  readonly at: number[];
  readonly counts: number[];
  /** How many buckets at the front have left already. */
  left: number;
  /** How many calls are counted. */
  total: number;
}

const KEYS_AT_MOST = 100_000;
/** A call is counted up to a six-hundredth of the window longer than it has to be: a tenth of a second in a minute. */
const BUCKETS = 600;
/** So many buckets that have left are cut off at once. */
const CUT = 50;

/**
 * A log of calls, in buckets of a six-hundredth of the window, and at least a millisecond. A bucket counts until its
 * latest call is a window old, so the law is exact, and a burst costs as little memory as one call.
 */
export function slidingWindow(
  clock: Pick<Clock, 'now'>,
  rule: { readonly calls: number; readonly seconds: number },
  keysAtMost = KEYS_AT_MOST,
): SlidingWindow {
  const length = rule.seconds * 1000;
  const bucket = Math.max(1, length / BUCKETS);
  const logs = new Map<string, CallLog>();

  /** Keys stand in the order of their last window: those that no longer count are at the front. */
  function forget(window: number): void {
    for (const [key, log] of logs) {
      if (logs.size <= keysAtMost && Math.abs(window - log.window) < 2) return;
      logs.delete(key);
    }
  }

  function logOf(key: string, now: number): CallLog {
    const window = Math.floor(now / length);
    const known = logs.get(key);
    // A clock that steps back a little stays in the window it was in; after a leap nothing is known.
    if (known !== undefined && (known.window === window || known.window === window + 1)) return known;
    const log = known?.window === window - 1 ? known : { window, at: [], counts: [], left: 0, total: 0 };
    log.window = window;
    logs.delete(key);
    logs.set(key, log);
    forget(window);
    return log;
  }

  function count(log: CallLog, time: number): void {
    const last = log.at.length - 1;
    const latest = log.at[last];
    if (last >= log.left && latest !== undefined && Math.floor(latest / bucket) === Math.floor(time / bucket)) {
      log.at[last] = time;
      log.counts[last] = (log.counts[last] ?? 0) + 1;
    } else {
      log.at.push(time);
      log.counts.push(1);
    }
    log.total += 1;
  }

  return {
    take(key, calls = rule.calls) {
      const now = clock.now();
      const log = logOf(key, now);
      // Where the clock has stepped back, time stands still until it has caught up.
      const time = Math.max(now, log.at.at(-1) ?? now);
      letLeave(log, time - length);
      const allowed = log.total < calls;
      if (allowed) count(log, time);
      const due = allowed ? (log.at[log.left] ?? time) : whenRoom(log, calls);
      const wait = Math.max(1, Math.ceil((due + length - now) / 1000));
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

/** Stops counting what came at `end` or before. */
function letLeave(log: CallLog, end: number): void {
  while (log.left < log.at.length && (log.at[log.left] ?? 0) <= end) {
    log.total -= log.counts[log.left] ?? 0;
    log.left += 1;
  }
  if (log.left < CUT) return;
  log.at.splice(0, log.left);
  log.counts.splice(0, log.left);
  log.left = 0;
}

/** The latest call of the bucket with which there is room for one more: the first, but where the number has become smaller. */
function whenRoom(log: CallLog, calls: number): number {
  let { left, total } = log;
  while (left < log.at.length - 1) {
    total -= log.counts[left] ?? 0;
    if (total < calls) break;
    left += 1;
  }
  return log.at[left] ?? 0;
}
