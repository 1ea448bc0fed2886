/**
 * The latest attempt of an order, which the order names.
 *
 * Invariant: only live attempts are read: an order that is not archived has none in the archive.
 */

import type { Attempt, Payment } from '../domain/records.ts';
import type { Deps } from './deps.ts';

/** Undefined: none was made. The order may be a payment, a payout line or a refund. */
export async function latestAttempt(
  { store }: Pick<Deps, 'store'>,
  { shard, attempt_id }: Pick<Payment, 'shard' | 'attempt_id'>,
): Promise<Attempt | undefined> {
  return attempt_id === null ? undefined : store.attempt.get(shard, attempt_id);
}
