/**
 * Counts the one-time codes that are sent for an account, over all of its payments at all merchants: each text costs money, and
 * whoever holds a phone that earns by being texted could otherwise order as many as there are payments to begin.
 *
 * Invariant: however many payments ask at the same time, in an hour no more codes are sent for an account than the limit: each is
 * counted, guarded by the count's version, in the change that makes the code valid.
 */

import { type Change, guardedUpdate } from '../domain/change.ts';
import { afterText, type Left, textsLeft } from '../domain/one-time-code.ts';
import type { Payment, PinGuard } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { shardOfGuard } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { keepUnderKeys } from './key-memory.ts';

/** The counts of an account's texts, under each key of the ring. They share a table with the counts of wrong PINs. */
export type TextCounts = readonly (PinGuard | undefined)[];

type TextDeps = Pick<Deps, 'store' | 'secrets' | 'codesPerHour'>;

/** Reads the counts of an account; none where nothing is limited, or no account has been named. */
export function readTextCounts(deps: TextDeps, number: string | null): Promise<TextCounts> {
  if (number === null || deps.codesPerHour === 0) return Promise.resolve([]);
  return Promise.all(idsOf(deps, number).map((id) => deps.store.pinGuard.get(shardOfGuard(id), id)));
}

/** What counts one more text. @throws Refusal 1301 when the account has had as many as it may. */
export function textCounted(
  deps: TextDeps,
  counts: TextCounts,
  number: string,
  payment: Pick<Payment, 'id' | 'expires_at'>,
  now: number,
): Change {
  if (deps.codesPerHour === 0) return {};
  const latest = latestOf(counts);
  const { count, seconds }: Left = textsLeft(latest, now, deps.codesPerHour);
  if (count === 0) {
    throw new Refusal(1301, {
      transactionId: payment.id,
      retryAfter: seconds,
      retryable: now + seconds * 1_000 < payment.expires_at,
      details: [{ field: 'payment_id', code: 'TEXTS_USED', words: { seconds } }],
    });
  }
  const row = afterText(latest, now);
  return keepUnderKeys(idsOf(deps, number), counts, {
    claim: (id) => ({ table: 'pin_guard', row: { shard: shardOfGuard(id), id, version: 1, ...row } }),
    update: (found) => guardedUpdate('pin_guard', found, row),
  });
}

/** The count that decides: while a new master key is rolled out, one under a single key may miss the newest texts. */
function latestOf(counts: TextCounts): PinGuard | undefined {
  return counts
    .filter((count) => count !== undefined)
    .toSorted((a, b) => b.pin_failed_at - a.pin_failed_at || b.pin_failures - a.pin_failures)[0];
}

/** `text` is no kind of account, so that no count of wrong PINs has such an id. */
function idsOf({ secrets }: Pick<Deps, 'secrets'>, number: string): readonly string[] {
  return secrets.macs('pin_guard', 'text', number);
}
