/**
 * What the full run may be told.
 */
import { expect, test } from 'vitest';
import { PARTS, readOptions } from './options.ts';

test('told nothing, it measures everything, three times', () => {
  const { settings, parts, json } = readOptions([]);
  expect(settings).toMatchObject({ rounds: 3, connections: 64, merchants: 100, payments: 5_000_000 });
  expect([...parts]).toEqual([...PARTS]);
  expect(json).toBeUndefined();
});

test('figures can be set, on a quick run too', () => {
  const { settings } = readOptions(['--quick', '--payments', '200000', '--warmup-seconds', '1']);
  expect(settings).toMatchObject({ rounds: 1, payments: 200_000, warmupSeconds: 1 });
});

test('parts are named with commas between them', () => {
  expect([...readOptions(['--only', 'reads, open']).parts]).toEqual(['open', 'reads']);
});

test.each([
  [['--only', 'speed'], /--only takes parts out of payments/],
  [['--only', 'reads,reads'], /--only takes parts/],
  [['--rounds', '0'], /--rounds takes a whole number/],
  [['--payments', '5e6'], /--payments takes a whole number/],
  [['--frobnicate'], /frobnicate/],
])('%j is refused', (args, why) => {
  expect(() => readOptions(args)).toThrow(why);
});
