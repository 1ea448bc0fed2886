/**
 * The references under which operators move money: a bank's, a receipt's.
 *
 * Invariant: under one reference, one account's money moves once for each cause. Unlike a remembered reply, which is forgotten
 * after a day, a reference is kept for good: a command may be repeated long after its outcome was lost.
 */

import type { Keyed } from './records.ts';
import type { TransferCause } from './transfer-cause.ts';

/** What a reference has been used for. `id` is made of the cause, the account and the reference. */
export interface TransferReference extends Keyed {
  readonly transfer_id: string;
  /** The payment that a transfer at the bank has paid for; null: an operator moved the money. */
  readonly payment_id: string | null;
  readonly amount_minor: bigint;
  readonly created_at: number;
}

/** The key of a reference; of money that operators move, in the account's shard. */
export function referenceKey(cause: TransferCause, accountId: string, reference: string): string {
  return `${cause}:${accountId}:${reference}`;
}
