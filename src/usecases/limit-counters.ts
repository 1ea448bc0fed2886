/**
 * The counters of limits on one account number: on wrong PINs, on wrong one-time codes, and on texts sent. The number may be any text,
 * of no account.
 *
 * Invariant: a counter is found under a keyed hash of its kind and number, whichever key of the ring it was written under; counters
 * of different kinds never meet.
 */

import { type Change, guardedUpdate } from '../domain/change.ts';
import type { LimitCounter, Versioned, WalletKind } from '../domain/records.ts';
import { shardOfCounter } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { keepUnderKeys } from './key-memory.ts';

/** Of wrong PINs, by the kind of the account; `code`: of wrong one-time codes; `text`: of texts sent. */
type CounterKind = WalletKind | 'code' | 'text';

/** The counters of one kind and number, under each key of the ring, the active one first; undefined: none was written under it. */
export type LimitCounters = readonly (LimitCounter | undefined)[];

/** Reads the counters of that kind for a number, which may be any text. */
export function readCounters(
  { store, secrets }: Pick<Deps, 'store' | 'secrets'>,
  kind: CounterKind,
  number: string,
): Promise<LimitCounters> {
  return Promise.all(
    secrets.macs('pin_guard', kind, number).map((id) => store.limitCounter.get(shardOfCounter(id), id)),
  );
}

/**
 * Writes a counter anew: each row that was found is updated, guarded by its version, and one is made where it is missing under one of
 * the first two keys of the ring.
 */
export function writeCounter(
  { secrets }: Pick<Deps, 'secrets'>,
  kind: CounterKind,
  number: string,
  found: LimitCounters,
  count: Omit<LimitCounter, keyof Versioned>,
): Change {
  return keepUnderKeys(secrets.macs('pin_guard', kind, number), found, {
    claim: (id) => ({ table: 'pin_guard', row: { shard: shardOfCounter(id), id, version: 1, ...count } }),
    update: (known) => guardedUpdate('pin_guard', known, count),
  });
}
