/**
 * An open loop's schedule: no instant is left out, none comes early, and a pause is paid for in full.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evenArrivals } from './arrivals.ts';

test('instants are evenly spaced, from the start on', () => {
  const arrivals = evenArrivals(4);
  expect(arrivals.dueBy(0)).toEqual([0]);
  expect(arrivals.dueBy(249)).toEqual([]);
  expect(arrivals.dueBy(500)).toEqual([250, 500]);
});

test('after a pause, everything that came due meanwhile is handed out', () => {
  const arrivals = evenArrivals(1000);
  arrivals.dueBy(10);
  const late = arrivals.dueBy(1010);
  expect(late).toHaveLength(1000);
  expect(late[0]).toBe(11);
});

test('however often the schedule is asked, each instant is handed out once, in order, and never before its time', () => {
  const pauses = fc.array(fc.double({ min: 0, max: 500, noNaN: true }), { maxLength: 50 });
  fc.assert(
    fc.property(fc.double({ min: 0.5, max: 5_000, noNaN: true }), pauses, (perSecond, steps) => {
      const arrivals = evenArrivals(perSecond);
      const all: number[] = [];
      let now = 0;
      for (const step of [0, ...steps]) {
        now += step;
        const due = arrivals.dueBy(now);
        expect(due.every((instant) => instant <= now)).toBe(true);
        all.push(...due);
      }
      expect(all).toEqual(evenArrivals(perSecond).dueBy(now));
      expect(all.every((instant, at) => at === 0 || instant > (all[at - 1] ?? 0))).toBe(true);
      expect(Math.abs(all.length - 1 - Math.floor((now * perSecond) / 1000))).toBeLessThanOrEqual(1);
    }),
  );
});

test('a rate that is not a finite number above zero is refused', () => {
  for (const rate of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => evenArrivals(rate)).toThrow(RangeError);
});
