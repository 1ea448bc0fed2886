/**
 * Counts the one-time codes that are sent for an account, over all of its payments at all merchants: each text costs money, and
 * whoever holds a phone that earns by being texted could otherwise order as many as there are payments to begin.
 *
 * Invariant: however many payments ask at the same time, in an hour no more codes are sent for an account than the limit: each is
 * counted, guarded by the count's version, in the change that makes the code valid.
 */

import type { Change } from '../domain/change.ts';
import { afterText, type Left, textsLeft } from '../domain/one-time-code.ts';
import type { LimitCounter, Payment } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Deps } from './deps.ts';
import { type LimitCounters, readCounters, writeCounter } from './limit-counters.ts';

type TextDeps = Pick<Deps, 'store' | 'secrets' | 'codesPerHour'>;

/** Reads the counts of an account; none where nothing is limited, or no account has been named. */
export function readTextCounts(deps: TextDeps, number: string | null): Promise<LimitCounters> {
  return number === null || deps.codesPerHour === 0 ? Promise.resolve([]) : readCounters(deps, 'text', number);
}

/** What counts one more text. @throws Refusal 1301 when the account has had as many as it may. */
export function textCounted(
  deps: TextDeps,
  counts: LimitCounters,
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
  return writeCounter(deps, 'text', number, counts, afterText(latest, now));
}

/** The count that decides: while a new master key is rolled out, one under a single key may miss the newest texts. */
function latestOf(counts: LimitCounters): LimitCounter | undefined {
  return counts
    .filter((count) => count !== undefined)
    .toSorted((a, b) => b.pin_failed_at - a.pin_failed_at || b.pin_failures - a.pin_failures)[0];
}
