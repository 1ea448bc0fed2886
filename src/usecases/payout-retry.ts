/**
 * Retries failed lines, in a new batch that starts at once.
 *
 * Invariant: a failed line is retried at most once: each is guarded, and names the batch that retries it. Lines that fail in that
 * batch can be retried from there, ten times in all.
 */

import { guard, guardedUpdate } from '../domain/change.ts';
import { isIdIn } from '../domain/ids.ts';
import { currencyFault } from '../domain/merchant-currency.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { MAX_BENEFICIARIES, MAX_PAID_AGAIN, type OrderedLine, type PayoutOrder } from '../domain/payout-order.ts';
import type { Merchant } from '../domain/records.ts';
import { Refusal, type RefusalDetail } from '../domain/refusal.ts';
import { findCounts, isOld } from './archive-find.ts';
import { readAvailable } from './balances-read.ts';
import type { MerchantCaller } from './callers.ts';
import type { Deps } from './deps.ts';
import { urlFaults } from './merchant-urls.ts';
import { readOwnBatch, standingOf } from './payout-read.ts';
import { payoutRoute, type Routing } from './payout-route.ts';
import { makePayout, type PayoutSent, payoutIds } from './payout-send.ts';
import { type Answering, decisionOf, perform, type Reply } from './perform.ts';

interface Rows {
  readonly batch: PayoutBatch;
  /** The lines named by the caller, or all that can be retried; undefined for an id without a live line. */
  readonly lines: readonly (PayoutLine | undefined)[];
  /** Ids of lines that were paid, or accepted, after all, or that retry such a line. */
  readonly takenUp: ReadonlySet<string>;
  /** The earlier lines that any of the lines retries. */
  readonly earlier: readonly PayoutLine[];
  /** The highest number of retries behind any of the lines. */
  readonly timesAgain: number;
  /** Whether lines of the batch have been archived: they can only be read. */
  readonly isArchived: boolean;
  /** The batch's status, for the refusal. */
  readonly status: string;
  readonly availableMinor: bigint;
}

/**
 * Makes the new batch. The checks of `send` are made again: settings and carriers may have changed since.
 *
 * @throws Refusal (through `answering`) 1102, 1103, 1110, 1201, 1204, 1205.
 */
export function retryPayout(
  deps: Deps,
  caller: MerchantCaller,
  batchId: string,
  transactionIds: readonly string[] | undefined,
  answering: Answering<PayoutSent>,
): Promise<Reply> {
  const { merchant } = caller;
  const ids = payoutIds(deps, merchant.shard, MAX_BENEFICIARIES);
  const read = (): Promise<Rows> => readRows(deps, merchant, batchId, transactionIds);
  const fieldOf = (at: number): string => (transactionIds === undefined ? 'batch_id' : `transaction_ids[${at}]`);
  return perform<Rows, PayoutSent>(deps.store, answering, read, (rows) => {
    const { batch, availableMinor } = rows;
    const failed = requireRetryable(rows, fieldOf);
    requireRetriesLeft(rows);
    requireOrderable(deps, merchant, batch);
    const order = orderOf(batch, orderedLines(deps, failed, fieldOf));
    const decision = decisionOf<PayoutSent>(() => {
      const made = makePayout(deps, caller, order, ids, availableMinor);
      const updates = failed.map((line) => guardedUpdate('payout_line', line, { retried_by: made.batch.id }));
      // A change that marks an earlier line as paid late, or books that money, writes the line: then this is decided again.
      const guards = rows.earlier.map((line) => guard('payout_line', line));
      return { change: { ...made.change, updates: [...updates, ...guards] }, answer: { ...made, dryRun: false } };
    });
    if (decision.refusal === undefined) return decision;
    // Another call may have retried the lines since they were read, and so taken the money: then this is decided again, too.
    return { change: { updates: failed.map((line) => guard('payout_line', line)) }, refusal: decision.refusal };
  });
}

async function readRows(
  deps: Deps,
  merchant: Merchant,
  batchId: string,
  transactionIds: readonly string[] | undefined,
): Promise<Rows> {
  const batch = await readOwnBatch(deps, merchant, batchId);
  const { shard, id } = batch;
  const [found, counts, archived] = await Promise.all([
    transactionIds === undefined ? deps.store.payouts.retryable(shard, id) : namedLines(deps, shard, transactionIds),
    findCounts(deps, batch),
    isOld(deps, id) ? deps.store.archive.payoutBatch.counts(shard, id) : [],
  ]);
  // Read after the lines: a line that has failed by then has returned its money.
  const availableMinor = await readAvailable(deps, merchant, batch.currency);
  const { status } = standingOf(batch, counts);
  const before = await Promise.all(found.map(async (line) => ({ line, earlier: await earlierOf(deps, line) })));
  const isTaken = (one: PayoutLine | undefined): boolean => one !== undefined && one.late_attempt_id !== null;
  const taken = before.filter(({ line, earlier }) => isTaken(line) || earlier.some(isTaken));
  const takenUp = new Set(taken.flatMap(({ line }) => line?.id ?? []));
  const isOpen = (line: PayoutLine | undefined): boolean => line === undefined || !takenUp.has(line.id);
  const kept = before.filter(({ line }) => transactionIds !== undefined || isOpen(line));
  return {
    batch,
    lines: kept.map(({ line }) => line),
    takenUp,
    earlier: kept.flatMap(({ earlier }) => earlier),
    timesAgain: Math.max(0, ...kept.map(({ earlier }) => earlier.length)),
    isArchived: archived.length > 0,
    status,
    availableMinor,
  };
}

async function earlierOf({ store }: Deps, line: PayoutLine | undefined): Promise<readonly PayoutLine[]> {
  return line === undefined ? [] : store.payouts.earlier(line);
}

function namedLines(deps: Deps, shard: number, ids: readonly string[]): Promise<(PayoutLine | undefined)[]> {
  const ours = (id: string): boolean => isIdIn(shard, 'txn', id);
  return Promise.all(ids.map(async (id) => (ours(id) ? deps.store.payoutLine.get(shard, id) : undefined)));
}

/** The field of the request that a line comes from, by its index. */
type FieldOf = (at: number) => string;

/**
 * The failed lines to retry, each beneficiary once. The refusal names every line that is at fault; a line of another batch is
 * reported only as unknown.
 */
function requireRetryable(rows: Rows, fieldOf: FieldOf): readonly PayoutLine[] {
  const { lines, isArchived, status } = rows;
  const wrong = lines.flatMap((line, at) => faultOf(rows, line, fieldOf(at)) ?? []);
  if (wrong.length > 0 || lines.length === 0) {
    const left = rows.takenUp.size > 0 ? takenAfterAll('batch_id') : notRetryable('batch_id', status);
    const none = isArchived ? archived('batch_id') : left;
    const code = wrong.some((fault) => fault.code === 'UNKNOWN_LINE') ? 1204 : 1205;
    throw new Refusal(code, { words: { state: status }, details: wrong.length > 0 ? wrong : [none] });
  }
  const good = lines.filter((line) => line !== undefined);
  const repeated = good.flatMap(({ position }, at): RefusalDetail[] => {
    const first = good.findIndex((line) => line.position === position);
    return first === at ? [] : [{ field: fieldOf(at), code: 'DUPLICATE_BENEFICIARY' }];
  });
  if (repeated.length > 0) throw new Refusal(1110, { details: repeated });
  return good;
}

/** All lines of one batch have been retried equally often, so this refuses all or none. @throws Refusal 1205. */
function requireRetriesLeft({ timesAgain, status }: Pick<Rows, 'timesAgain' | 'status'>): void {
  if (timesAgain < MAX_PAID_AGAIN) return;
  const detail = { field: 'batch_id', code: 'RETRIES_USED', words: { maximum: MAX_PAID_AGAIN } } as const;
  throw new Refusal(1205, { words: { state: status }, details: [detail] });
}

/** Why a line of the request cannot be retried; undefined: it can. */
function faultOf(
  { batch, takenUp, isArchived }: Rows,
  line: PayoutLine | undefined,
  field: string,
): RefusalDetail | undefined {
  if (line === undefined && isArchived) return archived(field);
  if (line?.batch_id !== batch.id) return { field, code: 'UNKNOWN_LINE' };
  if (line.status === 'failed' && line.retried_by === null && takenUp.has(line.id)) return takenAfterAll(field);
  return canRetry(line) ? undefined : notRetryable(field, stateOf(line));
}

/** Whether a line that was not taken up can be retried. One that an operator called off cannot be by its merchant alone. */
function canRetry({ status, retried_by: by, reason }: PayoutLine): boolean {
  return status === 'failed' && by === null && reason !== 'called_off';
}

function archived(field: string): RefusalDetail {
  return { field, code: 'ARCHIVED' };
}

function takenAfterAll(field: string): RefusalDetail {
  return { field, code: 'TAKEN_AFTER_ALL' };
}

function notRetryable(field: string, state: string): RefusalDetail {
  return { field, code: 'NOT_RETRYABLE', words: { state } };
}

function stateOf(line: PayoutLine): string {
  if (line.retried_by !== null) return 'retried';
  return line.reason === 'called_off' ? line.reason : line.status;
}

/** Requires that the merchant may still use the batch's currency and address. @throws Refusal 1102, 1110. */
function requireOrderable(
  deps: Pick<Deps, 'outbound'>,
  merchant: Merchant,
  { currency, notify_url }: PayoutBatch,
): void {
  const wrong = currencyFault('currency', currency, merchant);
  if (wrong !== undefined) throw new Refusal(1102, { details: [wrong] });
  const details = urlFaults(deps, merchant, { notify_url });
  if (details.length > 0) throw new Refusal(1110, { details });
}

function orderOf(batch: PayoutBatch, lines: readonly OrderedLine[]): PayoutOrder {
  const { customer_reference, currency, receipt_mode, notify_url, note, language } = batch;
  return {
    customer_reference,
    currency,
    receipt_mode,
    notify_url,
    note,
    language,
    sending_type: 'immediate',
    dates: null,
    frequency: null,
    retry_of: batch.id,
    lines,
  };
}

/** The same beneficiaries, routed to today's carriers. @throws Refusal 1103 that names each line that no carrier serves now. */
function orderedLines(routing: Routing, failed: readonly PayoutLine[], fieldOf: FieldOf): readonly OrderedLine[] {
  const faults: RefusalDetail[] = [];
  const lines = failed.map((line, at): OrderedLine => {
    const { id: retry_of, msisdn, wallet_number, amount, amount_minor: amountMinor, currency } = line;
    const ordered = { msisdn, wallet_number, connector: null, carrier: null, amount, amountMinor, retry_of };
    if (msisdn === null) return ordered;
    // If the caller named no lines, the fault names the line's place in the batch.
    const field = fieldOf(at) === 'batch_id' ? `beneficiaries[${line.position}]` : fieldOf(at);
    const route = payoutRoute(routing, msisdn, currency, field);
    if (route.kind === 'route') return { ...ordered, connector: route.connector, carrier: route.carrier };
    // A fault of the whole request shows at every line, and is reported once.
    if (!faults.some((other) => other.field === route.fault.field)) faults.push(route.fault);
    return ordered;
  });
  if (faults.length > 0) throw new Refusal(1103, { details: faults });
  return lines;
}
