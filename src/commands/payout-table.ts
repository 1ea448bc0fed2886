/**
 * Batches of payouts as commands show them: one as a document, several as a table.
 */

import { formatMinor } from '../domain/money.ts';
import type { PayoutBatch } from '../domain/outgoing-records.ts';
import { batchStatus, type PayoutCounts, sumOfCounts } from '../domain/payout.ts';
import { batchStateOf } from '../domain/payout-batch.ts';
import { hasMore, totalsOf } from '../domain/payout-order.ts';
import { findCounts } from '../usecases/archive-find.ts';
import { table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/** How many lines of a batch are in each status, over all occurrences made so far, also of an archived batch. */
export async function countsOf({ deps }: Tools, batch: PayoutBatch): Promise<PayoutCounts> {
  return sumOfCounts(await findCounts(deps, batch));
}

/** The totals are those of one occurrence; the counts are of all lines made so far. */
export function documentOf(batch: PayoutBatch, counts: PayoutCounts) {
  const totals = totalsOf(batch.beneficiaries);
  return {
    batch_id: batch.id,
    merchant_id: batch.merchant_id,
    customer_reference: batch.customer_reference,
    state: batchStateOf(batch),
    status: batchStatus(counts, hasMore(batch)),
    sending_type: batch.sending_type,
    receipt_mode: batch.receipt_mode,
    currency: batch.currency,
    beneficiary_count: batch.beneficiaries.length,
    total_amount: formatMinor(totals.amount_minor, batch.currency),
    total_fee: formatMinor(totals.fee_minor, batch.currency),
    occurrences: batch.occurrences,
    occurrences_run: batch.next_occurrence - 1,
    next_run_at: timeOf(batch.next_run_at),
    pending_count: counts.pending,
    processing_count: counts.processing,
    completed_count: counts.completed,
    failed_count: counts.failed,
    approval: batch.approval,
    credential_id: batch.credential_id,
    created_at: timeOf(batch.created_at),
    paused_at: timeOf(batch.paused_at),
    cancelled_at: timeOf(batch.cancelled_at),
  };
}

/** The batches as documents, and as a table with its head. One is counted after the other: each may have 36 600 lines. */
export async function tableOf({ deps }: Tools, batches: readonly PayoutBatch[]) {
  const payouts: ReturnType<typeof documentOf>[] = [];
  for (const batch of batches) payouts.push(documentOf(batch, await countsOf({ deps }, batch)));
  const head = ['batch', 'state', 'status', 'merchant', 'reference', 'people', 'amount', 'dates', 'next', 'made'];
  const rows = payouts.map((payout) => [
    payout.batch_id,
    payout.state,
    payout.status,
    payout.merchant_id,
    payout.customer_reference,
    String(payout.beneficiary_count),
    `${payout.total_amount} ${payout.currency}`,
    payout.sending_type === 'immediate' ? '' : `${payout.occurrences_run} of ${payout.occurrences}`,
    payout.next_run_at ?? '',
    payout.created_at,
  ]);
  return { payouts, lines: table(head, rows) };
}
