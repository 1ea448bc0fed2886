/**
 * Payouts in wire form (specification, Payout batch).
 *
 * Invariant: counts add up to the lines that are shown; an amount is echoed byte for byte, and computed ones have exactly the
 * currency's fraction digits. Receivers' whole numbers are shown to the call that sent them and to the merchant's own backend.
 */

import { formatMinor } from '../domain/money.ts';
import { isTakenAfterAll } from '../domain/outgoing.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import type { PayoutCounts } from '../domain/payout.ts';
import { costOf } from '../domain/payout.ts';
import { totalsOf } from '../domain/payout-order.ts';
import { maskPhone } from '../domain/phone.ts';
import { type Language, say } from '../messages/messages.ts';
import { payoutText } from '../messages/payout-text.ts';
import type { PaymentDetail } from '../usecases/payment-read.ts';
import {
  type BatchDetail,
  type BatchPage,
  type BatchStanding,
  type LineDetail,
  type RunStanding,
  standingOf,
} from '../usecases/payout-read.ts';
import type { PayoutSent } from '../usecases/payout-send.ts';
import { presentDetail, type SealPaymentId, timestamp } from './present.ts';

/** The answer to a send, or to a retry. */
export function presentPayout(sent: PayoutSent, language: Language) {
  return sent.dryRun ? presentChecked(sent, language) : presentMade(sent, language);
}

function presentMade({ batch, lines }: PayoutSent, language: Language) {
  const counts = { pending: lines.length, processing: 0, completed: 0, failed: 0, completed_at: null };
  return {
    success: true,
    dry_run: false,
    ...presentStanding(standingOf(batch, [counts])),
    beneficiaries: lines.map((line) => presentLine(line, batch, language)),
    message: messageOf(batch, language),
    summary_code: 'lok000',
  };
}

function presentChecked({ batch, lines, sufficientFunds }: PayoutSent, language: Language) {
  return {
    success: true,
    dry_run: true,
    sufficient_funds: sufficientFunds,
    ...presentOrder(batch),
    dates: batch.dates,
    beneficiaries: lines.map((line) => ({
      phone_number: line.msisdn ?? undefined,
      wallet_number: line.wallet_number ?? undefined,
      amount: line.amount,
      currency: line.currency,
      fee_amount: formatMinor(line.fee_minor, line.currency),
      carrier: line.carrier,
    })),
    message: say(language, 'done.payout_checked'),
    summary_code: 'lok000',
  };
}

function messageOf(batch: PayoutBatch, language: Language): string {
  if (batch.approval === 'waiting') return say(language, 'done.payout_approval');
  const [first] = batch.dates ?? [];
  return first === undefined
    ? say(language, 'done.payout_accepted')
    : say(language, 'done.payout_scheduled', { date: first });
}

function presentOrder(batch: PayoutBatch) {
  const totals = totalsOf(batch.beneficiaries);
  return {
    customer_reference: batch.customer_reference,
    currency: batch.currency,
    receipt_mode: batch.receipt_mode,
    sending_type: batch.sending_type,
    total_amount: formatMinor(totals.amount_minor, batch.currency),
    total_fee: formatMinor(totals.fee_minor, batch.currency),
    occurrences: batch.occurrences,
    next_run_at: timestamp(batch.next_run_at),
    approval: batch.approval,
  };
}

function presentStanding({ batch, counts, status, completedAt }: BatchStanding) {
  return {
    batch_id: batch.id,
    ...presentOrder(batch),
    ...presentCounts(counts),
    status,
    retry_of: batch.retry_of,
    created_at: timestamp(batch.created_at),
    completed_at: timestamp(completedAt),
  };
}

function presentCounts({ pending, processing, completed, failed }: PayoutCounts) {
  return { successful_count: completed, failed_count: failed, pending_count: pending + processing };
}

function presentLine(line: PayoutLine, { approval }: PayoutBatch, language: Language) {
  return {
    phone_number: line.msisdn ?? undefined,
    wallet_number: line.wallet_number ?? undefined,
    amount: line.amount,
    currency: line.currency,
    status: line.status,
    transaction_id: line.id,
    message: payoutText(language, line, approval),
    fee_amount: formatMinor(line.fee_minor, line.currency),
  };
}

/** A page of the list of batches, without their lines. `next_cursor` is null on the last one. */
export function presentBatches({ batches, nextCursor }: BatchPage) {
  return { success: true, payouts: batches.map(presentStanding), next_cursor: nextCursor ?? null };
}

/**
 * One batch in full: its schedule, its runs, and the lines of the occurrence that was read. It shows receivers' whole numbers, so
 * only the merchant's own backend may get it.
 */
export function presentBatch(detail: BatchDetail, language: Language) {
  const { batch, runs, occurrence, lines } = detail;
  return {
    success: true,
    ...presentStanding(detail),
    note: batch.note,
    frequency: batch.frequency,
    dates: batch.dates,
    paused_at: timestamp(batch.paused_at),
    cancelled_at: timestamp(batch.cancelled_at),
    runs: runs.map(presentRun),
    occurrence,
    beneficiaries: lines.map((line) => ({
      ...presentLine(line, batch, language),
      reason: line.reason,
      taken_after_all: isTakenAfterAll(line),
    })),
  };
}

function presentRun({ occurrence, scheduledDate, counts, status, completedAt }: RunStanding) {
  return {
    occurrence,
    scheduled_date: scheduledDate,
    ...presentCounts(counts),
    status,
    completed_at: timestamp(completedAt),
  };
}

/** A payment or a payout line in full, as sessions and backends read it alike. */
export function presentTransactionDetail(
  found: PaymentDetail | LineDetail,
  seal: SealPaymentId,
  language: Language,
  publicUrl: string,
) {
  return 'payment' in found ? presentDetail(found, seal, language, publicUrl) : presentPayoutDetail(found, language);
}

/** A line in full, but for the phone, which is masked: sessions read it, and they travel to devices. */
function presentPayoutDetail({ line, approval }: LineDetail, language: Language) {
  const { msisdn, currency } = line;
  return {
    success: true,
    kind: 'payout',
    transaction_id: line.id,
    batch_id: line.batch_id,
    status: line.status,
    amount: line.amount,
    currency,
    fee_amount: formatMinor(line.fee_minor, currency),
    total_amount: formatMinor(costOf(line), currency),
    customer_reference: line.customer_reference,
    receipt_mode: line.receipt_mode,
    phone_number: msisdn === null ? undefined : maskPhone(msisdn),
    wallet_number: line.wallet_number ?? undefined,
    carrier: line.carrier,
    provider_reference: line.provider_reference,
    occurrence: line.occurrence,
    scheduled_date: line.scheduled_date,
    reason: line.reason,
    taken_after_all: isTakenAfterAll(line),
    message: payoutText(language, line, approval),
    created_at: timestamp(line.created_at),
    started_at: timestamp(line.started_at),
    ...(line.completed_at === null ? {} : { completed_at: timestamp(line.completed_at) }),
    timeline: timelineOf(line),
  };
}

/**
 * A line's states. Only a carrier takes time to pay: a wallet is paid at once. A line that its carrier has certainly not taken is
 * pending again, as if it had never been started.
 */
function timelineOf(line: PayoutLine) {
  const { status, reason, created_at, started_at, completed_at } = line;
  const begun = status === 'pending' || line.receipt_mode === 'wallet' ? null : started_at;
  return [
    { status: 'pending', at: timestamp(created_at), reason: status === 'pending' ? reason : null },
    ...(begun === null ? [] : [{ status: 'processing', at: timestamp(begun), reason: null }]),
    ...(completed_at === null ? [] : [{ status, at: timestamp(completed_at), reason }]),
  ];
}
