/**
 * The schedule of an open loop: when each piece of work is due, whatever became of the earlier ones.
 *
 * Invariant: instants are fixed before anything is sent, and each is handed out once. Latency is measured from them, so
 * a server that stalls is charged for every request that would have arrived meanwhile (no coordinated omission).
 */

export interface Arrivals {
  /** The instants that are due by `elapsedMs` and have not been handed out, oldest first; milliseconds since the start. */
  dueBy(elapsedMs: number): readonly number[];
}

/** Evenly spaced, the first one at once. @throws RangeError for a rate that is not a finite number above zero. */
export function evenArrivals(perSecond: number): Arrivals {
  if (!(perSecond > 0 && perSecond < Number.POSITIVE_INFINITY)) throw new RangeError('a rate is above zero');
  let next = 0;
  // Multiplied each time: adding up the intervals would drift.
  const instantOf = (number: number): number => (number * 1000) / perSecond;
  return {
    dueBy(elapsedMs) {
      const due: number[] = [];
      for (; instantOf(next) <= elapsedMs; next += 1) due.push(instantOf(next));
      return due;
    },
  };
}
