/**
 * Records found by a keyed hash (idempotency keys, callbacks, PIN guesses), while the master key is being changed.
 *
 * They are looked up under every key of the ring, and kept under the first two: while a new key is rolled out, processes differ
 * in which of these they have, and in which is active. Invariant: any two processes share a key under which both write, so that
 * only one of their runs wins.
 */

import type { Claim, Update } from '../domain/change.ts';
import type { Memory } from './perform.ts';

/** The status of a run that has begun and has no answer yet (RFC 2518, 102 Processing). */
export const BEGUN = 102;

/** A new master key and the one that it takes the place of. */
const KEPT_UNDER = 2;

/** How a row is written, `at` being the place of its key in the ring. */
export interface KeyedWrites<R> {
  claim(id: string, at: number): Claim;
  /** Guarded by the version of what was found. */
  update(found: R, at: number): Update;
}

/**
 * Writes to a memory: what was `found` is replaced, and what is missing under the newest two keys is claimed. `ids` are the
 * hashes under each key of the ring, the active one first, and `found` is what lies under each.
 */
export function keepUnderKeys<R>(
  ids: readonly string[],
  found: readonly (R | undefined)[],
  writes: KeyedWrites<R>,
): Memory {
  const claims: Claim[] = [];
  const updates: Update[] = [];
  for (const [at, id] of ids.entries()) {
    const known = found[at];
    if (known !== undefined) updates.push(writes.update(known, at));
    else if (at < KEPT_UNDER) claims.push(writes.claim(id, at));
  }
  return { ...(claims.length > 0 && { claims }), ...(updates.length > 0 && { updates }) };
}
