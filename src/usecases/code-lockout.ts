/**
 * Counts wrong one-time codes by the account that pays, over all of its payments: otherwise somebody who knows its PIN could keep
 * guessing with new payments, each with tries of its own.
 *
 * Invariant: no more codes are evaluated for one account than `codeFailed` allows, however many arrive in parallel and for however
 * many payments: every verdict on a code guards the account's version, and a wrong one is counted in the same change.
 */

import { type Change, guardedUpdate } from '../domain/change.ts';
import type { Payment } from '../domain/records.ts';
import { Refusal, type Words } from '../domain/refusal.ts';
import { afterRightCode, afterWrongCode, decidingCount, lockedFor } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { type LimitCounters, readCounters, writeCounter } from './limit-counters.ts';

/** Reads the counts of an account; none for a payment that no account has been named for. */
export function readCodeCounts(deps: Pick<Deps, 'store' | 'secrets'>, number: string | null): Promise<LimitCounters> {
  return number === null ? Promise.resolve([]) : readCounters(deps, 'code', number);
}

/**
 * `endsAt`: when the code or the payment ends on which the call depends.
 *
 * @throws Refusal 1303 while too many codes have been wrong, with the seconds until more are evaluated.
 */
export function requireCodesOpen(
  counts: LimitCounters,
  payment: Pick<Payment, 'id'>,
  now: number,
  endsAt: number,
): void {
  const seconds = lockedFor(decidingCount(counts, now), now);
  if (seconds !== undefined) throw locked(seconds, payment, now, endsAt, { about: 'code' });
}

/** A lock that ends after what the call depends on leaves nothing to be retried: only a new code or payment can succeed. */
export function locked(
  seconds: number,
  { id }: Pick<Payment, 'id'>,
  now: number,
  endsAt: number,
  words: Words = {},
): Refusal {
  const retryable = now + seconds * 1_000 < endsAt;
  return new Refusal(1303, { transactionId: id, retryAfter: seconds, retryable, words: { seconds, ...words } });
}

/** Counts one more wrong code: what it writes, and how many more the account is allowed. */
export function codeFailed(
  deps: Pick<Deps, 'secrets'>,
  counts: LimitCounters,
  number: string,
  now: number,
): { readonly change: Change; readonly left: number } {
  const { row, left } = afterWrongCode(decidingCount(counts, now), now);
  return { change: writeCounter(deps, 'code', number, counts, row), left };
}

/** A right code proves that the customer holds the account's phone: the wrong ones before it are forgotten. */
export function codeSucceeded(counts: LimitCounters, now: number): Change {
  const known = counts.filter((count) => count !== undefined);
  return { updates: known.map((count) => guardedUpdate('pin_guard', count, afterRightCode(count, now))) };
}
