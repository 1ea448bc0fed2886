/**
 * Waiting by the clock: for a while, or for work that may take too long.
 *
 * Invariant: whoever waits goes on in time, however the work ends; what it threw is its maker's to tell.
 */

import type { Clock } from '../platform/platform.ts';

type Timers = Pick<Clock, 'after'>;

/** Resolves that many milliseconds from now. */
export function pause(clock: Timers, milliseconds: number): Promise<void> {
  return new Promise((done) => void clock.after(milliseconds, done));
}

/** Whether the work has ended, well or badly, within so many milliseconds. */
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
