/**
 * Reads that many ask for at the same moment, made once and remembered for a while.
 *
 * Invariant: a read that fails is forgotten at once, and takes no newer one with it.
 */

import { isWithin } from '../domain/elapsed.ts';
import { evictOldest } from '../domain/evict.ts';

export interface FreshReadOptions {
  /** Milliseconds; the clock by which reads age. */
  now(): number;
  /** For how many milliseconds a read counts. */
  readonly lifeMs: number;
  /** How many are remembered: of more, the oldest is given up. */
  readonly most?: number;
}

interface Made<V> {
  readonly at: number;
  readonly value: Promise<V>;
}

/** Returns a reader: `key` names what is read, and `read` reads it, given the present instant, if nothing fresh is remembered. */
export function freshReads<V>({
  now,
  lifeMs,
  most = Number.POSITIVE_INFINITY,
}: FreshReadOptions): (key: string, read: (at: number) => Promise<V>) => Promise<V> {
  const made = new Map<string, Made<V>>();
  return (key, read) => {
    const at = now();
    const last = made.get(key);
    if (last !== undefined && isWithin(lifeMs, last.at, at)) return last.value;
    const fresh = { at, value: read(at) };
    // What is read again becomes the newest.
    made.delete(key);
    made.set(key, fresh);
    evictOldest(made, most);
    fresh.value.catch(() => {
      if (made.get(key) === fresh) made.delete(key);
    });
    return fresh.value;
  };
}
