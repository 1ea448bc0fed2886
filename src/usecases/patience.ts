/**
 * Waiting by the clock: for a while, or for work that may take too long.
 *
 * Invariant: a caller waits no longer than the time given, however the work ends; errors of the work are not reported here.
 */

import type { Clock } from '../platform/platform.ts';

type Timers = Pick<Clock, 'after'>;

/** Resolves that many milliseconds from now. */
export function pause(clock: Timers, milliseconds: number): Promise<void> {
  return new Promise((done) => void clock.after(milliseconds, done));
}

/** Whether the work ends, well or badly, within `milliseconds`. */
export function endsWithin(clock: Timers, milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(milliseconds, () => resolve(false));
    const end = (): void => {
      cancel();
      resolve(true);
    };
    work.then(end, end);
  });
}
