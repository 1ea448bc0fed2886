/**
 * What operators' commands about payouts have in common: a batch is changed once, and who changed it is logged.
 *
 * Invariant: who changed it, and why, is in the log before the command answers.
 */

import type { Change } from '../domain/change.ts';
import { shardOf } from '../domain/ids.ts';
import type { PayoutBatch } from '../domain/outgoing-records.ts';
import type { BatchContext } from '../domain/payout-batch.ts';
import { type FindDeps, findPayoutBatch } from './archive-find.ts';
import type { Deps, OperatorDeps } from './deps.ts';
import { decideOnce, readAfter } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { type Attribution, requireId } from './operator-input.ts';
import { type BatchRows, batchContext, type PayoutBatchDeps, readBatch } from './payout-occurrence.ts';

/** What an operator's command about payouts is handed. */
export type PayoutOperatorDeps = OperatorDeps & PayoutBatchDeps;

const ADVICE = 'see `mbongo payout show`';

/** The batch of that id, live or archived. @throws OperatorError when there is none. */
export async function seeBatch(deps: FindDeps, batchId: string): Promise<PayoutBatch> {
  requireId('batch', batchId, 'batch');
  const batch = await findPayoutBatch(deps, shardOf(batchId), batchId);
  if (batch === undefined) throw new OperatorError(`there is no batch ${batchId}: see \`mbongo payout list\``);
  return batch;
}

/** The live batch of that id, which may be acted on. @throws OperatorError when there is none, or it has been archived. */
export async function requireBatch(deps: FindDeps, batchId: string): Promise<PayoutBatch> {
  requireId('batch', batchId, 'batch');
  const batch = await deps.store.payoutBatch.get(shardOf(batchId), batchId);
  if (batch !== undefined) return batch;
  const { id } = await seeBatch(deps, batchId);
  throw new OperatorError(
    `batch ${id} has been archived: \`mbongo payout show\` shows it, and it can no longer change`,
  );
}

/** Changes a batch once, on fresh rows; `decide` throws an OperatorError if it may not be changed. Returns the changed batch. */
export async function changeBatch(
  deps: PayoutOperatorDeps,
  batchId: string,
  decide: (rows: BatchRows, context: BatchContext) => Change | Promise<Change>,
): Promise<PayoutBatch> {
  const { shard, id } = await requireBatch(deps, batchId);
  await decideOnce(deps, shard, ADVICE, async () => {
    const rows = await readBatch(deps, { shard, id });
    if (rows === undefined) throw new Error(`${id} is there no longer`);
    return { change: await decide(rows, batchContext(deps)), answer: undefined };
  });
  return readAfter(deps, () => requireBatch(deps, id), ADVICE);
}

/** When the dates of a batch that have passed without being run were due, in milliseconds, oldest first. */
export function missedRuns({ clock, calendar }: PayoutOperatorDeps, batch: PayoutBatch): number[] {
  const { dates, next_occurrence: next, run_hour: hour, time_zone: zone } = batch;
  const due = (dates ?? []).slice(next - 1).map((date) => calendar.instantOf(date, hour, zone));
  return due.filter((at) => at <= clock.now());
}

/** Logs what an operator did to a batch, with who and why. */
export function logCommand(deps: Pick<Deps, 'log'>, event: string, batch: PayoutBatch, { by, why }: Attribution): void {
  deps.log.warn(event, { batch_id: batch.id, merchant_id: batch.merchant_id, by, why });
}
