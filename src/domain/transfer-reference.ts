/**
 * The references under which operators move money: a bank's, a receipt's.
 *
 * Invariant: under one reference, one account's money moves once for each cause. Unlike a remembered reply, which is forgotten
 * after a day, a reference is kept for good: a command may be repeated long after its outcome was lost.
 */

import type { AttemptPurpose, Keyed } from './records.ts';
import type { TransferCause } from './transfer-cause.ts';

/** What a reference has been used for. `id` is made of the cause, the account and the reference. */
export interface TransferReference extends Keyed {
  readonly transfer_id: string;
  /**
   * The payment that a transfer at the bank has paid for, or given back by hand; the order whose attempt an operator has settled
   * as paid, or whose late money was returned; null: an operator moved other money.
   */
  readonly payment_id: string | null;
  readonly amount_minor: bigint;
  readonly created_at: number;
}

/** The key of a reference; of money that operators move, in the account's shard. */
export function referenceKey(cause: TransferCause, accountId: string, reference: string): string {
  return `${cause}:${accountId}:${reference}`;
}

/**
 * The key of a movement at the bank or the upstream that an operator names for an order: the same for all merchants, so it is in
 * shard 0. `accountId`: the account of the upstream in its currency. Only letters and digits of the reference count.
 */
export function movementKey(purpose: AttemptPurpose, accountId: string, reference: string): Keyed {
  return { shard: 0, id: referenceKey(purpose, accountId, distinctive(reference)) };
}

/** A reference as it is compared: empty if it tells nothing apart. */
export function distinctive(reference: string): string {
  return reference
    .normalize('NFKC')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase();
}
