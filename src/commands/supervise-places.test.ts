import { expect, it } from 'vitest';
import { pauseBefore } from './supervise-places.ts';

it('starts anew at once, waits longer after every start that has not worked, and never longer than ten seconds', () => {
  const pauses = Array.from({ length: 9 }, (_, failures) => pauseBefore(failures));
  expect(pauses).toEqual([0, 250, 500, 1_000, 2_000, 5_000, 10_000, 10_000, 10_000]);
});
