/**
 * Randomness: the operating system's.
 *
 * Invariant: `below` is free of bias.
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
