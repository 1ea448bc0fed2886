/**
 * Pauses the occurrences of a dated batch, and resumes them.
 *
 * Invariant: while a batch is paused no occurrence runs. Occurrences whose date passed meanwhile are skipped or run, as the
 * operator decides, each once and in order; until that is done the batch stays paused.
 */

import type { PayoutBatch } from '../domain/outgoing-records.ts';
import {
  type BatchContext,
  batchStateOf,
  pauseBatch,
  resumeBatch,
  runNextOccurrence,
  runsAt,
  skipNextOccurrence,
} from '../domain/payout-batch.ts';
import { OperatorError } from './operator-error.ts';
import { type Attribution, requireAttribution } from './operator-input.ts';
import { changeBatch, logCommand, missedRuns, type PayoutOperatorDeps } from './payout-operate.ts';

/** @throws OperatorError when there is no such batch, or none of its dates is to come. */
export async function pausePayout(deps: PayoutOperatorDeps, batchId: string, given: Attribution): Promise<PayoutBatch> {
  const attribution = requireAttribution(given);
  const batch = await changeBatch(deps, batchId, ({ batch: found }, { now }) => {
    if (batchStateOf(found) !== 'scheduled') throw new OperatorError(whyNot(found, 'scheduled'));
    return pauseBatch(found, now);
  });
  logCommand(deps, 'payout_paused', batch, attribution);
  return batch;
}

/** A batch that runs again. */
export interface Resumed {
  readonly batch: PayoutBatch;
  /** How many occurrences were skipped. */
  readonly skipped: number;
}

/**
 * `catchUp`: occurrences that came due during the pause are run now; otherwise they are skipped, and their lines called off.
 * Occurrences that were due before the pause are run in either case. `unlessPassed`: the operator has not confirmed what becomes of
 * dates that have passed.
 *
 * @throws OperatorError when there is no such batch, or it is not paused, or, `unlessPassed`, a date has passed. It reports the
 *   dates that this call skipped before another operator was quicker
 */
export async function resumePayout(
  deps: PayoutOperatorDeps,
  batchId: string,
  { catchUp, unlessPassed, ...given }: Attribution & { readonly catchUp: boolean; readonly unlessPassed?: boolean },
): Promise<Resumed> {
  const attribution = requireAttribution(given);
  let skipped = 0;
  for (;;) {
    const taken: { step: Step } = { step: 'resume' };
    const batch = await changeBatch(deps, batchId, (rows, context) => {
      if (batchStateOf(rows.batch) !== 'paused')
        throw new OperatorError(whyNot(rows.batch, 'paused') + skippedBefore(skipped));
      const next = nextStep(rows.batch, context);
      if (unlessPassed === true && next !== 'resume') throw new OperatorError(JUST_PASSED);
      taken.step = catchUp ? 'resume' : next;
      if (taken.step === 'resume') return resumeBatch(rows.batch, context);
      const { batch: found, first } = rows;
      return taken.step === 'run'
        ? runNextOccurrence(found, first, context).change
        : skipNextOccurrence(found, first, context);
    });
    if (taken.step === 'skip') skipped += 1;
    if (taken.step !== 'resume') continue;
    logCommand(deps, 'payout_resumed', batch, attribution);
    return { batch, skipped };
  }
}

/** How many dates of a paused batch have passed without being run: due before the pause, and since. */
export function datesPassed(
  deps: PayoutOperatorDeps,
  batch: PayoutBatch,
): { readonly before: number; readonly meanwhile: number } {
  if (batchStateOf(batch) !== 'paused') return { before: 0, meanwhile: 0 };
  const missed = missedRuns(deps, batch);
  const before = missed.filter((at) => at <= (batch.paused_at ?? 0)).length;
  return { before, meanwhile: missed.length - before };
}

const JUST_PASSED = 'a date has just passed: give it again, to be told what becomes of that';

function skippedBefore(dates: number): string {
  return dates === 0 ? '' : `; dates that were skipped first, because they passed during the pause: ${dates}`;
}

/** What to do with the next occurrence; `resume`: none is due, so the batch resumes. */
type Step = 'skip' | 'run' | 'resume';

function nextStep(batch: PayoutBatch, { now, calendar }: BatchContext): Step {
  const due = runsAt(batch, batch.next_occurrence, calendar);
  if (due === null || due > now) return 'resume';
  return due <= (batch.paused_at ?? 0) ? 'run' : 'skip';
}

const STATES = {
  waiting_for_approval: 'it is waiting for approval, and does not run before that',
  scheduled: 'it is not paused',
  paused: 'it is paused already',
  started:
    'it has no dates left (`mbongo payout cancel` cancels what has not been sent, `mbongo merchant suspend` holds all payouts of its merchant)',
  rejected: 'it has been rejected',
  cancelled: 'it has been cancelled',
} as const;

function whyNot(batch: PayoutBatch, wanted: 'scheduled' | 'paused'): string {
  const verb = wanted === 'scheduled' ? 'paused' : 'resumed';
  return `${batch.id} cannot be ${verb}: ${STATES[batchStateOf(batch)]}`;
}
