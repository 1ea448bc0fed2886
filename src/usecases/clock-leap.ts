/**
 * Leaps of the test clock: what was timed across one proves nothing.
 *
 * Invariant: nothing is concluded from time that was skipped.
 */

import type { Clock } from '../platform/platform.ts';

/** 60 s, longer than a call is in flight, a commit is retried, or any process takes to notice a leap. */
const CALM_MS = 60_000;

/** Whether the clock was set forward a moment ago. */
export function hasJustLeapt(clock: Pick<Clock, 'wall' | 'leaptAt'>): boolean {
  const leapt = clock.leaptAt();
  return leapt !== undefined && clock.wall() - leapt < CALM_MS;
}
