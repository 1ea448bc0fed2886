/**
 * Counts that guard an account number against guessing and abuse: of wrong PINs, of wrong one-time codes, and of texts sent. The
 * number may be any text, of no account.
 *
 * Invariant: a count is found under a keyed hash of its kind and number, whichever key of the ring it was written under; counts of
 * different kinds never meet.
 */

import { type Change, guardedUpdate } from '../domain/change.ts';
import type { PinGuard, Versioned, WalletKind } from '../domain/records.ts';
import { shardOfGuard } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { keepUnderKeys } from './key-memory.ts';

/** Of wrong PINs, by the kind of the account; `code`: of wrong one-time codes; `text`: of texts sent. */
type CountKind = WalletKind | 'code' | 'text';

/** The counts of one kind and number, under each key of the ring, the active one first. */
export type GuardCounts = readonly (PinGuard | undefined)[];

export function readCounts(
  { store, secrets }: Pick<Deps, 'store' | 'secrets'>,
  kind: CountKind,
  number: string,
): Promise<GuardCounts> {
  return Promise.all(secrets.macs('pin_guard', kind, number).map((id) => store.pinGuard.get(shardOfGuard(id), id)));
}

/** Writes a count anew; guarded by the version of what was found. */
export function writeCount(
  { secrets }: Pick<Deps, 'secrets'>,
  kind: CountKind,
  number: string,
  found: GuardCounts,
  count: Omit<PinGuard, keyof Versioned>,
): Change {
  return keepUnderKeys(secrets.macs('pin_guard', kind, number), found, {
    claim: (id) => ({ table: 'pin_guard', row: { shard: shardOfGuard(id), id, version: 1, ...count } }),
    update: (known) => guardedUpdate('pin_guard', known, count),
  });
}
