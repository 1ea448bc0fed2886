/**
 * What makes a row due, in SQL: for the rounds that do the work, and for monitoring.
 *
 * Invariant: what monitoring reports as overdue is what a round would take. The row is `t`.
 */

import type { TableName } from '../domain/change.ts';

/** Work of a suspended merchant waits, untouched. */
const IS_ALLOWED = `exists (
    select from merchant m where m.shard = t.shard and m.id = t.merchant_id and m.status = 'ALLOWED')`;

/** A payment that its customer has not begun to pay. */
const CAN_EXPIRE =
  "t.status in ('pending', 'pending_otp_verification', 'pendingBankProofUpload') and t.attempt_id is null";

/** Lines of a cancelled batch are called off, and never started again. */
const CAN_START = `${IS_ALLOWED} and not exists (
    select from payout_batch b where b.shard = t.shard and b.id = t.batch_id and b.cancelled_at is not null)`;

export const DUE_KINDS = ['inquiry', 'webhook', 'payout', 'refund', 'payout_run', 'expiry'] as const;
export type DueKind = (typeof DUE_KINDS)[number];

export interface Due {
  readonly table: TableName;
  /** The column with the instant from which a row is due. */
  readonly column: string;
  /** The predicate of the index that is led by shard and that column. */
  readonly indexed: string;
  /** A further condition, which the index does not know. */
  readonly really?: string;
  /** The connector that a row waits for, as far as rows of some connectors may be left out. */
  readonly connector?: string;
}

export const DUE = {
  inquiry: {
    table: 'attempt',
    column: 'next_inquiry_at',
    indexed: 't.next_inquiry_at is not null',
    connector: 't.connector',
  },
  webhook: { table: 'webhook_event', column: 'next_at', indexed: "t.status = 'waiting'" },
  /** Lines to wallets of ours have no connector. */
  payout: {
    table: 'payout_line',
    column: 'next_start_at',
    indexed: 't.next_start_at is not null',
    really: CAN_START,
    connector: "coalesce(t.connector, 'wallet')",
  },
  refund: {
    table: 'refund',
    column: 'next_start_at',
    indexed: 't.next_start_at is not null',
    connector: 't.connector',
  },
  payout_run: {
    table: 'payout_batch',
    column: 'next_run_at',
    indexed: 't.next_run_at is not null',
    really: IS_ALLOWED,
  },
  expiry: { table: 'payment', column: 'expires_at', indexed: 't.completed_at is null', really: CAN_EXPIRE },
} as const satisfies { readonly [kind in DueKind]: Due };

/** SQL: whether a row is due at `$1`, besides its connector. */
export function isDue({ column, indexed, really }: Due): string {
  const parts = [indexed, `t.${column} <= $1::timestamptz`, ...(really === undefined ? [] : [really])];
  return parts.join(' and ');
}
