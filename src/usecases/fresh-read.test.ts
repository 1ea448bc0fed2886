/** What is read once for many, for how long, and what a failure leaves behind. */
import { expect, test } from 'vitest';
import { freshReads } from './fresh-read.ts';

function openReads(most?: number) {
  const world = { now: 1_000, count: 0 };
  const read = freshReads<number>({ now: () => world.now, lifeMs: 100, ...(most === undefined ? {} : { most }) });
  const next = (key: string): Promise<number> =>
    read(key, () => {
      world.count += 1;
      return Promise.resolve(world.count);
    });
  return { world, read, next };
}

test('a read counts for its life, for everybody who asks for the same; a clock that was set back ends it', async () => {
  const { world, next } = openReads();
  expect(await Promise.all([next('a'), next('a'), next('b')])).toEqual([1, 1, 2]);
  world.now += 99;
  expect(await next('a')).toBe(1);
  world.now += 1;
  expect([await next('a'), await next('a')]).toEqual([3, 3]);
  world.now -= 50;
  expect(await next('a')).toBe(4);
});

test('a read that fails is made again by the next who asks; a newer one that succeeded stays', async () => {
  const { world, read, next } = openReads();
  await expect(read('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await next('a')).toBe(1);
  world.now += 100;
  let fail = (): void => undefined;
  const older = read('a', () => new Promise((_, reject) => (fail = () => reject(new Error('late')))));
  world.now += 100;
  expect(await next('a')).toBe(2);
  fail();
  await expect(older).rejects.toThrow('late');
  expect(await next('a')).toBe(2);
});

test('of too many the oldest is given up', async () => {
  const { next } = openReads(2);
  for (const key of ['a', 'b', 'a', 'c']) await next(key);
  // The third is as young as the first, which it repeats.
  expect([await next('b'), await next('c'), await next('a')]).toEqual([2, 3, 4]);
});
