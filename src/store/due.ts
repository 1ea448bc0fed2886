/**
 * The conditions, in SQL and besides its instant, that make a row due: for the rounds that do the work, and for monitoring.
 *
 * Invariant: what monitoring reports as overdue is what a round would take. The row is `t`.
 */

/** Work of a suspended merchant waits, untouched. */
export const IS_ALLOWED = `exists (
    select from merchant m where m.shard = t.shard and m.id = t.merchant_id and m.status = 'ALLOWED')`;

/** A payment that its customer has not begun to pay. */
export const CAN_EXPIRE =
  "t.status in ('pending', 'pending_otp_verification', 'pendingBankProofUpload') and t.attempt_id is null";

/** Lines of a cancelled batch are called off, and never started again. */
export const CAN_START = `${IS_ALLOWED} and not exists (
    select from payout_batch b where b.shard = t.shard and b.id = t.batch_id and b.cancelled_at is not null)`;
