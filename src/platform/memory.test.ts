import { expect, test } from 'vitest';
import { createMemory } from './memory.ts';

test('the newer half is always there, and never more than the maximum', () => {
  const memory = createMemory<number>(10);
  for (let key = 0; key < 1_000; key += 1) {
    memory.set(String(key), key);
    for (let back = 0; back < 5 && back <= key; back += 1) expect(memory.get(String(key - back))).toBe(key - back);
    const held = Array.from({ length: key + 1 }, (_, one) => memory.get(String(one))).filter(
      (one) => one !== undefined,
    );
    expect(held.length).toBeLessThanOrEqual(10);
  }
});

test('the last value set is the one kept', () => {
  const memory = createMemory<string>(4);
  memory.set('a', 'one');
  memory.set('b', 'x');
  memory.set('c', 'x');
  memory.set('a', 'two');
  expect(memory.get('a')).toBe('two');
});
