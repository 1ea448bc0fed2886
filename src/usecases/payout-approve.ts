/**
 * Maker and checker: an operator approves or rejects a batch that waits for approval.
 *
 * Invariant: a batch is decided once, however many operators decide at the same time; the second one is told what was decided. An
 * immediate batch whose funds do not suffice stays waiting.
 */

import { moneyText } from '../domain/money.ts';
import type { PayoutBatch } from '../domain/outgoing-records.ts';
import { approveBatch, batchStateOf, rejectBatch } from '../domain/payout-batch.ts';
import { costOfLines } from '../domain/payout-order.ts';
import { readAvailable } from './balances-read.ts';
import { OperatorError } from './operator-error.ts';
import { type Attribution, requireAttribution } from './operator-input.ts';
import { type BatchRows, readBatch } from './payout-occurrence.ts';
import { changeBatch, logCommand, type PayoutOperatorDeps, requireBatch } from './payout-operate.ts';

/** @throws OperatorError when there is no such batch, it does not wait for approval, or its merchant's funds do not suffice. */
export async function approvePayout(
  deps: PayoutOperatorDeps,
  batchId: string,
  given: Attribution,
): Promise<PayoutBatch> {
  const attribution = requireAttribution(given);
  const batch = await changeBatch(deps, batchId, async (rows, context) => {
    await checkApproval(deps, rows);
    return approveBatch(rows.batch, rows.first, context);
  });
  logCommand(deps, 'payout_approved', batch, attribution);
  return batch;
}

/** The batch, if it could be approved now. @throws OperatorError as `approvePayout`; nothing is changed. */
export async function requireApprovable(deps: PayoutOperatorDeps, batchId: string): Promise<PayoutBatch> {
  const batch = await requireBatch(deps, batchId);
  const rows = await readBatch(deps, batch);
  if (rows !== undefined) await checkApproval(deps, rows);
  return batch;
}

async function checkApproval(deps: PayoutOperatorDeps, rows: BatchRows): Promise<void> {
  requireWaiting(rows.batch);
  if (rows.batch.sending_type === 'immediate') await requireFunds(deps, rows);
}

/** @throws OperatorError when there is no such batch, or it does not wait for approval. */
export async function rejectPayout(
  deps: PayoutOperatorDeps,
  batchId: string,
  given: Attribution,
): Promise<PayoutBatch> {
  const attribution = requireAttribution(given);
  const batch = await changeBatch(deps, batchId, (rows, context) => {
    requireWaiting(rows.batch);
    return rejectBatch(rows.batch, rows.first, context);
  });
  logCommand(deps, 'payout_rejected', batch, attribution);
  return batch;
}

/** Refuses a batch that has been decided or cancelled, or needs no approval. */
export function requireWaiting(batch: PayoutBatch): void {
  const { id, approval } = batch;
  if (batchStateOf(batch) === 'waiting_for_approval') return;
  if (batch.cancelled_at !== null)
    throw new OperatorError(`${id} has been cancelled: nothing of it waits for approval`);
  if (approval === 'none') throw new OperatorError(`${id} needs no approval: it is below the merchant's threshold`);
  throw new OperatorError(`${id} has already been ${approval}: a batch is decided once`);
}

async function requireFunds(deps: PayoutOperatorDeps, { batch, first }: BatchRows): Promise<void> {
  const { merchant_id: merchantId, currency, id } = batch;
  const available = await readAvailable(deps, { id: merchantId }, currency);
  const cost = costOfLines(first);
  if (available >= cost) return;
  // Another operator may have approved it since it was read, and so taken the money.
  requireWaiting(await requireBatch(deps, id));
  const [has, needs] = [moneyText(available, currency), moneyText(cost, currency)];
  throw new OperatorError(
    `${id} costs ${needs} with fees, and the merchant has ${has}: it is still waiting, approve it when the balance is sufficient`,
  );
}
