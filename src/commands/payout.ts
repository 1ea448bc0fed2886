/**
 * `mbongo payout`: shows batches of payouts, approves or rejects those that wait for it, pauses, resumes and cancels.
 *
 * Invariant: nothing is paid or called off for good without --yes; a phone number is never shown whole.
 */

import { statesOf } from '../domain/machine.ts';
import { formatMinor } from '../domain/money.ts';
import type { Beneficiary, PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { PAYOUT, sumOfCounts } from '../domain/payout.ts';
import { BATCH_STATES } from '../domain/payout-batch.ts';
import { payoutText } from '../messages/payout-text.ts';
import { calendar } from '../platform/calendar.ts';
import type { OccurrenceCounts } from '../store/payout-batch-reads.ts';
import { findCounts } from '../usecases/archive-find.ts';
import { requireCredential } from '../usecases/credential-rotate.ts';
import { readAfter } from '../usecases/operator-commit.ts';
import { OperatorError } from '../usecases/operator-error.ts';
import { requireId, requireMerchant } from '../usecases/operator-input.ts';
import { searchLines } from '../usecases/order-search.ts';
import { approvePayout, rejectPayout, requireApprovable, requireWaiting } from '../usecases/payout-approve.ts';
import { cancelPayout, requireCancellable } from '../usecases/payout-cancel.ts';
import { missedRuns, type PayoutOperatorDeps, requireBatch, seeBatch } from '../usecases/payout-operate.ts';
import { datesPassed, pausePayout, resumePayout } from '../usecases/payout-pause.ts';
import { linesOf } from '../usecases/payout-read.ts';
import { readLimit, readStatus, readWhole } from './options.ts';
import { endOfSearch, type OrderOptions, partyOf, readSearch } from './orders.ts';
import { counted, endOfPage, fieldLines, type Output, table, timeOf } from './output.ts';
import { countsOf, documentOf, tableOf } from './payout-table.ts';
import { attributionOf, type ConfirmedOptions } from './this-user.ts';
import type { Tools } from './tools.ts';

/**
 * The options of `mbongo payout list`. `status`: a state of `BATCH_STATES`. `credential`: a key id; only batches made with it, or
 * by a session that it minted.
 */
export interface PayoutListOptions {
  readonly merchant?: string;
  readonly status?: string;
  readonly credential?: string;
  readonly after?: string;
  readonly limit: string;
}

/**
 * A page of batches, the oldest first, as `{payouts, next}`, each as `payout-table.ts` writes it. `next` is the id for --after;
 * null: the page was not full.
 *
 * @throws OperatorError when an option is wrong, or there is no such merchant or credential.
 */
export async function payoutList({ deps }: Tools, options: PayoutListOptions): Promise<Output> {
  const { merchant, status, credential, after } = options;
  if (after !== undefined) requireId('batch', after, 'batch');
  const owner = credential === undefined ? undefined : (await requireCredential(deps, credential)).merchant_id;
  const limit = readLimit(options.limit);
  const batches = await deps.store.payoutBatch.list({
    merchantId: merchant === undefined ? owner : (await requireMerchant(deps, merchant)).id,
    credentialId: credential,
    state: status === undefined ? undefined : readStatus(status, BATCH_STATES, 'a batch'),
    after,
    limit,
  });
  const end = endOfPage(batches, limit);
  const { payouts, lines } = await tableOf({ deps }, batches);
  return { document: { payouts, next: end.next }, lines: [...lines, ...end.lines] };
}

/**
 * A batch, live or archived, with its `runs` (the counts of each occurrence), its `beneficiaries`, and the `lines` of one
 * `occurrence`: the one that was asked for, or the newest that has any.
 *
 * @throws OperatorError when there is no such batch or occurrence.
 */
export async function payoutShow(
  { deps }: Tools,
  batchId: string,
  options: { readonly occurrence?: string },
): Promise<Output> {
  const batch = await seeBatch(deps, batchId);
  const counts = await findCounts(deps, batch);
  const occurrence = occurrenceOf(options.occurrence, batch, counts);
  const lines = (await linesOf(deps, batch, occurrence)).map(lineOf);
  const summary = documentOf(batch, sumOfCounts(counts));
  const runs = counts.map(runOf);
  const beneficiaries = batch.beneficiaries.map((beneficiary) => beneficiaryOf(batch, beneficiary));
  const { note, frequency, run_hour, time_zone, dates, retry_of } = batch;
  return {
    document: {
      ...summary,
      note,
      frequency,
      run_hour,
      time_zone,
      dates,
      retry_of,
      runs,
      beneficiaries,
      occurrence,
      lines,
    },
    lines: [
      ...fieldLines({
        ...summary,
        ...(dates === null ? {} : { 'runs at': `${run_hour}:00 ${time_zone}, ${frequency ?? 'on dates'}` }),
      }),
      '',
      ...runTable(runs),
      '',
      ...(lines.length === 0 ? beneficiaryTable(beneficiaries) : lineTable(occurrence, lines)),
    ],
  };
}

function runTable(runs: readonly ReturnType<typeof runOf>[]): string[] {
  const head = ['run', 'date', 'pending', 'processing', 'completed', 'failed'];
  const rows = runs.map((run) => Object.values(run).map(textOf));
  return table(head, rows);
}

function beneficiaryTable(beneficiaries: readonly ReturnType<typeof beneficiaryOf>[]): string[] {
  const rows = beneficiaries.map((one) => [one.receiver, textOf(one.carrier), one.amount, one.fee_amount]);
  return table(['receiver', 'carrier', 'amount', 'fee'], rows);
}

function lineTable(occurrence: number, lines: readonly ReturnType<typeof lineOf>[]): string[] {
  const head = [`run ${occurrence}`, 'status', 'receiver', 'carrier', 'amount', 'fee', 'attempt', 'why'];
  return table(
    head,
    lines.map((line) => Object.values(line).map(textOf)),
  );
}

/** The options of `mbongo payout lines`. `status`: a line's, not a batch's. */
export interface PayoutLinesOptions extends OrderOptions {
  readonly status?: string;
}

/** Lines of any batch, by who is paid: a receiver knows nothing of batches. */
export async function payoutLines({ deps }: Tools, options: PayoutLinesOptions): Promise<Output> {
  const { status } = options;
  const search = await readSearch({ deps }, options);
  const found = await searchLines(deps, {
    ...search,
    status: status === undefined ? undefined : readStatus(status, statesOf(PAYOUT), 'a payout'),
  });
  const end = endOfSearch(found, search);
  const lines = found.orders.map((line) => ({
    ...lineOf(line),
    currency: line.currency,
    customer_reference: line.customer_reference,
    merchant_id: line.merchant_id,
    batch_id: line.batch_id,
    occurrence: line.occurrence,
    provider_reference: line.provider_reference,
    created_at: timeOf(line.created_at),
    completed_at: timeOf(line.completed_at),
  }));
  const rows = lines.map((line) => [
    line.transaction_id,
    line.created_at,
    line.status,
    line.receiver,
    `${line.amount} ${line.currency}`,
    line.customer_reference,
    line.merchant_id,
    line.batch_id,
    String(line.occurrence),
    line.provider_reference ?? '',
    line.reason ?? '',
  ]);
  const head = ['transaction', 'made', 'status', 'receiver', 'amount', 'reference', 'merchant', 'batch', 'run'];
  return {
    document: { lines, ...end.document },
    lines: [...table([...head, 'upstream’s reference', 'why'], rows), ...end.lines],
  };
}

/**
 * Approves a batch, which is then paid when it is due (contract §5), and returns it with the counts of its lines. Dates that passed
 * while it waited are paid at once.
 *
 * @throws OperatorError when it does not wait for approval, or is to be paid at once and its merchant's funds do not suffice;
 *   and, without --yes, with what would be paid.
 */
export async function payoutApprove({ deps }: Tools, batchId: string, options: ConfirmedOptions): Promise<Output> {
  if (options.yes !== true) {
    const batch = await requireApprovable(operating({ deps }), batchId);
    const missed = missedRuns(operating({ deps }), batch).length;
    const atOnce = missed === 0 ? '' : `; ${counted(missed, 'date')} passed while it waited, and will be paid at once`;
    throw new OperatorError(`${describe(batch)}${atOnce}: add --yes to approve it`);
  }
  const batch = await approvePayout(operating({ deps }), batchId, attributionOf(options));
  const { merchant_id } = batch;
  const [{ document, lines }, { status }] = await Promise.all([
    outputOf({ deps }, batch),
    requireMerchant(deps, merchant_id),
  ]);
  if (status !== 'SUSPENDED') return { document, lines };
  const held = `held: ${merchant_id} is suspended, and nothing is paid until mbongo merchant allow --merchant ${merchant_id}`;
  return { document, lines: [...lines, held] };
}

/**
 * Rejects a batch that waits for approval, so that nothing of it is ever paid, and returns it with the counts of its lines.
 *
 * @throws OperatorError when it does not wait for approval, and, without --yes, with what would be rejected.
 */
export async function payoutReject({ deps }: Tools, batchId: string, options: ConfirmedOptions): Promise<Output> {
  if (options.yes !== true) {
    const batch = await requireBatch(deps, batchId);
    requireWaiting(batch);
    throw new OperatorError(`${describe(batch)}: add --yes to reject it, for good`);
  }
  return outputOf({ deps }, await rejectPayout(operating({ deps }), batchId, attributionOf(options)));
}

/**
 * Cancels a batch's remaining dates and the lines that have not been sent, and returns it with the counts of its lines. `notTaken`:
 * the operator has checked that the carriers did not pay the lines that they turned away, which are then cancelled too.
 *
 * @throws OperatorError when nothing of it is open, or another operator cancels it at the same moment; and, without --yes, with
 *   what would be cancelled.
 */
export async function payoutCancel(
  { deps }: Tools,
  batchId: string,
  options: ConfirmedOptions & { readonly notTaken?: true },
): Promise<Output> {
  if (options.yes !== true) {
    const batch = await requireBatch(deps, batchId);
    if (batch.cancelled_at === null || options.notTaken !== true) await requireCancellable(deps, batch);
    throw new OperatorError(`${describe(batch)}: add --yes to cancel what has not been sent, for good`);
  }
  const cancelled = await cancelPayout(operating({ deps }), batchId, {
    notTaken: options.notTaken,
    ...attributionOf(options),
  });
  const { document, lines } = await outputOf({ deps }, cancelled);
  const waits =
    'the carrier turned the pending lines away, and is being asked whether it paid them after all; --not-taken cancels them now';
  return { document, lines: document.pending_count === 0 ? lines : [...lines, waits] };
}

/**
 * Holds a batch's dates until it is resumed, and returns it with the counts of its lines. Lines of dates that have run are still
 * paid.
 *
 * @throws OperatorError when there is no such batch, or none of its dates is to come.
 */
export async function payoutPause({ deps }: Tools, batchId: string, options: ConfirmedOptions): Promise<Output> {
  return outputOf({ deps }, await pausePayout(operating({ deps }), batchId, attributionOf(options)));
}

/**
 * Runs a paused batch's dates again, and returns it with the counts of its lines and, as `left_out`, how many dates were skipped
 * because they passed during the pause. `catchUp`: those are paid now instead.
 *
 * @throws OperatorError when it is not paused, and, without --yes, when dates have passed, with what becomes of them.
 */
export async function payoutResume(
  { deps }: Tools,
  batchId: string,
  options: ConfirmedOptions & { readonly catchUp?: true },
): Promise<Output> {
  const attribution = { ...attributionOf(options), catchUp: options.catchUp === true };
  if (options.yes !== true) {
    const batch = await requireBatch(deps, batchId);
    const asks = whatPassed(datesPassed(operating({ deps }), batch), attribution.catchUp);
    if (asks !== undefined) throw new OperatorError(`${describe(batch)}; ${asks}`);
  }
  const unlessPassed = options.yes !== true;
  const { batch, skipped } = await resumePayout(operating({ deps }), batchId, { ...attribution, unlessPassed });
  const { document, lines } = await outputOf({ deps }, batch);
  const told = skipped === 0 ? [] : [`dates skipped because they passed during the pause: ${skipped}`];
  return { document: { ...document, left_out: skipped }, lines: [...lines, ...told] };
}

/** What resuming would pay or call off at once, and the options that confirm it; undefined: nothing. */
function whatPassed({ before, meanwhile }: ReturnType<typeof datesPassed>, catchUp: boolean): string | undefined {
  const dates = (count: number): string => counted(count, 'date');
  if (meanwhile === 0) return before === 0 ? undefined : `${dates(before)} due before the pause: add --yes to pay now`;
  const due = before === 0 ? '' : `${dates(before)} due before the pause will be paid now, and `;
  const way = catchUp
    ? '--yes to pay now for what passed'
    : '--yes to skip for good what passed, or --catch-up --yes to pay it';
  return `${due}${dates(meanwhile)} passed during the pause: add ${way}`;
}

/** Adds what only these commands need, so that other commands do not load it. */
function operating({ deps }: Tools): PayoutOperatorDeps {
  return { ...deps, calendar, payoutText };
}

/** What a command reports that has taken effect. */
async function outputOf({ deps }: Tools, batch: PayoutBatch) {
  const found = await readAfter(deps, () => countsOf({ deps }, batch), 'see `mbongo payout show`');
  const document = documentOf(batch, found);
  const { batch_id, state, pending_count, processing_count, completed_count, failed_count, next_run_at } = document;
  const counts = `${pending_count} pending, ${processing_count} processing, ${completed_count} completed, ${failed_count} failed`;
  const next = next_run_at === null ? [] : [`runs next at ${next_run_at}`];
  return { document, lines: [`${batch_id}  ${state}; lines: ${counts}`, ...next] };
}

function beneficiaryOf({ currency }: PayoutBatch, beneficiary: Beneficiary) {
  const { carrier, amount, fee_minor } = beneficiary;
  return { receiver: receiverOf(beneficiary), carrier, amount, fee_amount: formatMinor(BigInt(fee_minor), currency) };
}

/** One occurrence, with the counts of its lines by their status. */
function runOf({ occurrence, scheduled_date, pending, processing, completed, failed }: OccurrenceCounts) {
  return { occurrence, scheduled_date, pending, processing, completed, failed };
}

/** The occurrence whose lines are shown: the one that was asked for, or the newest that has any. */
function occurrenceOf(
  asked: string | undefined,
  batch: PayoutBatch,
  runs: readonly { readonly occurrence: number }[],
): number {
  if (asked === undefined) return runs.at(-1)?.occurrence ?? 1;
  return readWhole(asked, 'occurrence', 1, batch.occurrences);
}

function lineOf(line: PayoutLine) {
  return {
    transaction_id: line.id,
    status: line.status,
    receiver: receiverOf(line),
    carrier: line.carrier,
    amount: line.amount,
    fee_amount: formatMinor(line.fee_minor, line.currency),
    attempt_id: line.attempt_id,
    reason: line.reason,
  };
}

function receiverOf(paid: Pick<Beneficiary, 'msisdn' | 'wallet_number'>): string {
  return partyOf(paid) ?? '';
}

/** The batch to be decided on, in one sentence. */
function describe(batch: PayoutBatch): string {
  const { total_amount, total_fee, currency, occurrences, merchant_id } = documentOf(batch, sumOfCounts([]));
  const times = batch.dates === null ? '' : `, ${occurrences} times`;
  const people = counted(batch.beneficiaries.length, 'person', 'people');
  return `${batch.id} of ${merchant_id} pays ${total_amount} ${currency} and ${total_fee} in fees to ${people}${times}`;
}

function textOf(value: string | number | null): string {
  return value === null ? '' : String(value);
}
