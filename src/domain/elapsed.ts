/**
 * How long ago something happened, by a clock that may be corrected in between.
 *
 * Invariant: pure. Setting the clock back never makes anything last longer.
 */

/** Whether less than that many milliseconds have passed since `at`; false if the clock was set back to before `at`. */
export function isWithin(milliseconds: number, at: number, now: number): boolean {
  return now >= at && now - at < milliseconds;
}
