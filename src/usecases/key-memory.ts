/**
 * Records looked up by a keyed hash (idempotency keys, callbacks, PIN guesses), while the master key is being changed.
 *
 * They are looked up under every key of the ring, and written under the first two: while a new key is rolled out, processes
 * differ in whether they have it, and in which key is active. Invariant: any two processes share a key under which both write,
 * so that only one of their runs wins.
 */

import type { Claim, Update } from '../domain/change.ts';
import type { Memory } from './perform.ts';

/** 2 keys: a new master key and the one that it replaces. */
const KEPT_UNDER = 2;

/** How a row is written; `at` is the position of its key in the ring. */
export interface KeyedWrites<R> {
  claim(id: string, at: number): Claim;
  /** Guarded by the version of the row that was found. */
  update(found: R, at: number): Update;
}

/**
 * Writes a memory: rows that were found are updated, and those missing under the first two keys are claimed. `ids` are the
 * hashes under each key of the ring, the active one first, and `found` the rows under these hashes.
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
