/**
 * How long ago something happened, and how long until something may happen, by a clock that may be corrected in between.
 *
 * Invariant: pure. Setting the clock back never makes anything that has happened last longer.
 */

/** Whether less than that many milliseconds have passed since `at`; false if the clock was set back to before `at`. */
export function isWithin(milliseconds: number, at: number, now: number): boolean {
  return now >= at && now - at < milliseconds;
}

/** Whole seconds until an instant, for a caller who is to wait for it: at least one, and never too few. */
export function secondsUntil(at: number, now: number): number {
  return Math.max(1, Math.ceil((at - now) / 1000));
}
