import { expect, test } from 'vitest';
import { isWithin } from './elapsed.ts';

test('a span is over once its time has passed, or if the clock was set back', () => {
  expect([isWithin(10, 100, 100), isWithin(10, 100, 109), isWithin(10, 100, 110)]).toEqual([true, true, false]);
  expect([isWithin(10, 100, 99), isWithin(10, 100, -3_600_000)]).toEqual([false, false]);
});
