/**
 * Randomness: the operating system's for the service, a repeatable one for tests and simulations.
 *
 * Invariant: `below` is free of bias, and nothing that guards money or secrets is ever given the seeded source.
 */
import { randomBytes, randomFillSync, randomInt } from 'node:crypto';
import type { Random } from './platform.ts';

/** Bytes drawn at once from the operating system: a draw costs as much for 16 bytes as for this many. */
const POOL_BYTES = 8_192;

/** The operating system's cryptographic source. A byte is handed out once, and what was handed out is not kept. */
export function systemRandom(): Random {
  // One array for good, and an offset into it: a view for each draw would cost more than the draw.
  const pool = new Uint8Array(POOL_BYTES);
  let at = POOL_BYTES;
  const bytes = (count: number): Uint8Array => {
    if (count > POOL_BYTES) return randomBytes(count);
    if (at + count > POOL_BYTES) {
      randomFillSync(pool);
      at = 0;
    }
    const drawn = pool.slice(at, at + count);
    pool.fill(0, at, at + count);
    at += count;
    return drawn;
  };
  return { bytes, below: (limit) => randomInt(limit) };
}

const LARGEST_LIMIT = 2 ** 48;

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
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > LARGEST_LIMIT) {
      throw new RangeError('the limit is a whole number from 1 to 2^48');
    }
    // Values above the largest whole multiple of the limit are discarded: they would favour small numbers.
    const fair = LARGEST_LIMIT - (LARGEST_LIMIT % limit);
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
