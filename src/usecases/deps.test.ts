import { expect, test } from 'vitest';
import { systemRandom } from '../platform/random.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { idsOf } from './deps.ts';

test('identifiers that are made in one millisecond sort in order of creation, and later ones after them', async () => {
  const clock = manualClock(Date.UTC(2026, 10, 23));
  const newId = idsOf({ clock, random: systemRandom() });
  const ids = Array.from({ length: 500 }, (_, n) => newId('trf', n % 64));
  await clock.advance(1);
  ids.push(newId('trf', 0));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(501);
});
