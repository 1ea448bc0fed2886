/** A pause of this process may use up the time of a run; each step of it is given some all the same. */
import { expect, test } from 'vitest';
import { MIN_RUN_MS, remainingMs } from './deadline.ts';

test('a step has what is left until its deadline, and its least time after that', () => {
  const now = performance.now();
  expect(remainingMs(now - 60_000)).toBe(100);
  expect(remainingMs(now - 60_000, MIN_RUN_MS)).toBe(1_000);
  expect(remainingMs(now + 3_600_000)).toBeGreaterThan(MIN_RUN_MS);
  expect(remainingMs(now + 3_600_000)).toBeLessThanOrEqual(3_600_000);
});
