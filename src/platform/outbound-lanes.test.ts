/** An origin has a limited number of places; the others wait in order and may leave. */
import { expect, test } from 'vitest';
import { createLanes } from './outbound-lanes.ts';

test('places are given in order, a place that is given up goes to the next, and nothing remains', () => {
  const lanes = createLanes(2);
  const started: string[] = [];
  const enter = (origin: string, name: string) => lanes.enter(origin, () => void started.push(name));
  enter('a', '1');
  enter('a', '2');
  enter('a', '3');
  const leave4 = enter('a', '4');
  enter('a', '5');
  enter('b', 'other');
  expect(started).toEqual(['1', '2', 'other']);
  leave4?.();
  lanes.leave('a');
  expect(started).toEqual(['1', '2', 'other', '3']);
  lanes.leave('a');
  expect(started.at(-1)).toBe('5');
  lanes.leave('a');
  lanes.leave('a');
  lanes.leave('b');
  expect(lanes.size()).toBe(0);
});

test('a full queue accepts no more, and the other origins are not affected', () => {
  const lanes = createLanes(1, 2);
  const started: string[] = [];
  const enter = (origin: string, name: string) => lanes.enter(origin, () => void started.push(name));
  enter('a', '1');
  const leave2 = enter('a', '2');
  expect(enter('a', '3')).toBeDefined();
  expect(enter('a', '4')).toBeUndefined();
  expect(enter('b', 'other')).toBeDefined();
  leave2?.();
  expect(enter('a', '5')).toBeDefined();
  for (let left = 0; left < 3; left += 1) lanes.leave('a');
  expect(started).toEqual(['1', 'other', '3', '5']);
  lanes.leave('b');
  expect(lanes.size()).toBe(0);
});
