/**
 * What makes a row due, in SQL, beside its instant: for the rounds that do the work, and for those who watch that it is done.
 *
 * Invariant: what is called overdue is what a round would take. The row is `t`.
 */

/** What is a suspended merchant's waits, untouched. */
export const IS_ALLOWED = `exists (
    select from merchant m where m.shard = t.shard and m.id = t.merchant_id and m.status = 'ALLOWED')`;

/** A payment that nobody has begun to pay. */
export const CAN_EXPIRE =
  "t.status in ('pending', 'pending_otp_verification', 'pendingBankProofUpload') and t.attempt_id is null";

/** What has been cancelled is called off, and never started again. */
export const CAN_START = `${IS_ALLOWED} and not exists (
    select from payout_batch b where b.shard = t.shard and b.id = t.batch_id and b.cancelled_at is not null)`;
