import { expect, test } from 'vitest';
import { createCache } from './cache.ts';

test('the newer half is always there, and never more than the maximum', () => {
  const cache = createCache<number>(10);
  for (let key = 0; key < 1_000; key += 1) {
    cache.set(String(key), key);
    for (let back = 0; back < 5 && back <= key; back += 1) expect(cache.get(String(key - back))).toBe(key - back);
    const held = Array.from({ length: key + 1 }, (_, one) => cache.get(String(one))).filter((one) => one !== undefined);
    expect(held.length).toBeLessThanOrEqual(10);
  }
});

test('the last value set is the one kept', () => {
  const cache = createCache<string>(4);
  cache.set('a', 'one');
  cache.set('b', 'x');
  cache.set('c', 'x');
  cache.set('a', 'two');
  expect(cache.get('a')).toBe('two');
});
