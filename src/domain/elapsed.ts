/**
 * How long ago something was, by a clock that may be set right in between.
 *
 * Invariant: pure. A clock that was set back says of nothing that it lasts longer.
 */

/** Whether less than so many milliseconds have passed since `at`; where the clock was set back behind it, they have. */
export function isWithin(milliseconds: number, at: number, now: number): boolean {
  return now >= at && now - at < milliseconds;
}
