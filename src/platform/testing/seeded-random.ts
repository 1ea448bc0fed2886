/**
 * A repeatable source of chance, for tests and simulations.
 *
 * Invariant: `below` is free of bias, and nothing that guards money or secrets is ever given this source: no program can import it.
 */
import type { Random } from '../platform.ts';

const MAX_LIMIT = 2 ** 48;

/**
 * The same seed gives the same bytes and numbers, for ever: a failing simulation can be run again. Predictable, hence
 * never for production. The generator is Chris Doty-Humphrey's sfc32.
 */
export function seededRandom(seed: number): Random {
  const next = sfc32(seed);
  const bytes = (count: number): Uint8Array => {
    const result = new Uint8Array(count);
    for (let i = 0, word = 0; i < count; i += 1, word >>>= 8) {
      if (i % 4 === 0) word = next();
      result[i] = word & 0xff;
    }
    return result;
  };
  const below = (limit: number): number => {
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
      throw new RangeError('the limit is a whole number from 1 to 2^48');
    }
    // Values above the largest whole multiple of the limit are discarded: they would favour small numbers.
    const fair = MAX_LIMIT - (MAX_LIMIT % limit);
    for (;;) {
      const value = (next() & 0xffff) * 2 ** 32 + next();
      if (value < fair) return value % limit;
    }
  };
  return { bytes, below };
}

/** Whole numbers from 0 to 2^32 - 1. */
function sfc32(seed: number): () => number {
  let a = seed | 0;
  let b = Math.floor(seed / 2 ** 32) | 0;
  let c = 0x9e37_79b9 | 0;
  let counter = 1;
  const next = (): number => {
    const result = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + result) | 0;
    return result >>> 0;
  };
  // Neighbouring seeds give similar first numbers; after a few rounds nothing of that is left.
  for (let i = 0; i < 16; i += 1) next();
  return next;
}
