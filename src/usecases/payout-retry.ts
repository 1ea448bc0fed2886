/**
 * Pays failed lines again, in a batch of their own that starts at once.
 *
 * Invariant: a failed line is paid again at most once: each is guarded, and names the batch that pays it. What failed in that
 * batch can be paid again from there, ten times in all.
 */

import type { Update } from '../domain/change.ts';
import { isId, shardOf } from '../domain/ids.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { guardLine } from '../domain/payout-again.ts';
import {
  BENEFICIARIES_MOST,
  hasMore,
  type OrderedLine,
  PAID_AGAIN_MOST,
  type PayoutOrder,
} from '../domain/payout-order.ts';
import type { Merchant } from '../domain/records.ts';
import { Refusal, type RefusalDetail } from '../domain/refusal.ts';
import { findCounts, isOld } from './archive-find.ts';
import type { MerchantCaller } from './callers.ts';
import type { Deps } from './deps.ts';
import { urlFaults } from './payment-collect.ts';
import { readOwnBatch, standingOf } from './payout-read.ts';
import { payoutRoute, type Routing } from './payout-route.ts';
import { availableTo, makePayout, type PayoutSent, payoutIds } from './payout-send.ts';
import { type Answering, perform, type Reply } from './perform.ts';
import { currencyFault } from './session-create.ts';

interface Rows {
  readonly batch: PayoutBatch;
  /** Those that were named, or all that can be paid again; undefined: there is none of that name. */
  readonly lines: readonly (PayoutLine | undefined)[];
  /** Of these, the ids of those of which an earlier one, that they were to pay again, was paid or taken after all. */
  readonly paidBefore: ReadonlySet<string>;
  /** The earlier ones of all of them. */
  readonly earlier: readonly PayoutLine[];
  /** How often the one that has been paid again most often has been. */
  readonly timesAgain: number;
  /** Whether lines of it have left: they can be read, and nothing more. */
  readonly isArchived: boolean;
  /** How the batch stands, for the refusal. */
  readonly status: string;
  readonly availableMinor: bigint;
}

/**
 * Makes the batch. What `send` asks of a payout is asked again: settings and carriers may have changed since.
 *
 * @throws Refusal (through `answering`) 1102, 1103, 1110, 1201, 1204, 1205.
 */
export function retryPayout(
  deps: Deps,
  { merchant }: MerchantCaller,
  batchId: string,
  transactionIds: readonly string[] | undefined,
  answering: Answering<PayoutSent>,
): Promise<Reply> {
  const ids = payoutIds(deps, merchant.shard, BENEFICIARIES_MOST);
  const read = (): Promise<Rows> => readRows(deps, merchant, batchId, transactionIds);
  const fieldOf = (at: number): string => (transactionIds === undefined ? 'batch_id' : `transaction_ids[${at}]`);
  return perform<Rows, PayoutSent>(deps.store, answering, read, (rows) => {
    const { batch, availableMinor } = rows;
    const failed = requireRetryable(rows, fieldOf);
    requireRetriesLeft(rows);
    requireOrderable(deps, merchant, batch);
    const order = orderOf(batch, orderedLines(deps, failed, fieldOf));
    const made = makePayout(deps, merchant, order, ids, availableMinor);
    const updates = failed.map(
      ({ shard, id, version }): Update => ({
        table: 'payout_line',
        shard,
        id,
        version,
        row: { retried_by: made.batch.id },
      }),
    );
    // Whoever notes meanwhile that an earlier one was paid, or books that, writes it: then this is decided again.
    const guards = rows.earlier.map(guardLine);
    return { change: { ...made.change, updates: [...updates, ...guards] }, answer: { ...made, dryRun: false } };
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
  const [found, counts, archived, availableMinor] = await Promise.all([
    transactionIds === undefined ? deps.store.payouts.retryable(shard, id) : namedLines(deps, shard, transactionIds),
    findCounts(deps, batch),
    isOld(deps, id) ? deps.store.archive.payoutBatch.counts(shard, id) : [],
    availableTo(deps, merchant, batch.currency),
  ]);
  const { status } = standingOf(counts, hasMore(batch));
  const before = await Promise.all(found.map(async (line) => ({ line, earlier: await earlierOf(deps, line) })));
  const isPaid = before.filter(({ earlier }) => earlier.some((one) => one.late_attempt_id !== null));
  const paidBefore = new Set(isPaid.flatMap(({ line }) => line?.id ?? []));
  const isOpen = (line: PayoutLine | undefined): boolean => line === undefined || !paidBefore.has(line.id);
  const kept = before.filter(({ line }) => transactionIds !== undefined || isOpen(line));
  return {
    batch,
    lines: kept.map(({ line }) => line),
    paidBefore,
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
  const ours = (id: string): boolean => isId('txn', id) && shardOf(id) === shard;
  return Promise.all(ids.map(async (id) => (ours(id) ? deps.store.payoutLine.get(shard, id) : undefined)));
}

/** The field of the call that a line comes from, by its place. */
type FieldOf = (at: number) => string;

/**
 * Lines that failed on their way, each beneficiary once. Who chose them hears which are wrong, and of another batch's line
 * no more than that.
 */
function requireRetryable(
  { batch, lines, paidBefore, isArchived, status }: Rows,
  fieldOf: FieldOf,
): readonly PayoutLine[] {
  const isPaidBefore = ({ id }: PayoutLine): boolean => paidBefore.has(id);
  const faultOf = (field: string, line: PayoutLine | undefined): RefusalDetail =>
    isUnknown(line)
      ? { field, code: 'UNKNOWN_LINE' }
      : line === undefined
        ? archived(field)
        : notRetryable(field, isPaidBefore(line) ? PAID_LATE : stateOf(line));
  const isUnknown = (line: PayoutLine | undefined): boolean =>
    line === undefined ? !isArchived : line.batch_id !== batch.id;
  const good = lines.filter(
    (line): line is PayoutLine => line?.batch_id === batch.id && canRetry(line) && !isPaidBefore(line),
  );
  if (good.length < lines.length || good.length === 0) {
    const wrong = lines.flatMap((line, at): RefusalDetail[] =>
      line !== undefined && good.includes(line) ? [] : [faultOf(fieldOf(at), line)],
    );
    const none = isArchived ? archived('batch_id') : notRetryable('batch_id', status);
    const details = wrong.length > 0 ? wrong : [none];
    throw new Refusal(lines.some(isUnknown) ? 1204 : 1205, { words: { state: status }, details });
  }
  const repeated = good.flatMap(({ position }, at): RefusalDetail[] => {
    const first = good.findIndex((line) => line.position === position);
    return first === at ? [] : [{ field: fieldOf(at), code: 'DUPLICATE_BENEFICIARY' }];
  });
  if (repeated.length > 0) throw new Refusal(1110, { details: repeated });
  return good;
}

/** Lines of one batch have all been paid again equally often. @throws Refusal 1205. */
function requireRetriesLeft({ timesAgain, status }: Pick<Rows, 'timesAgain' | 'status'>): void {
  if (timesAgain < PAID_AGAIN_MOST) return;
  const detail = { field: 'batch_id', code: 'RETRIES_USED', words: { maximum: PAID_AGAIN_MOST } } as const;
  throw new Refusal(1205, { words: { state: status }, details: [detail] });
}

/** What an operator called off is not paid again by its maker alone, and what was paid late all the same by nobody. */
function canRetry({ status, retried_by: by, reason, late_attempt_id: late }: PayoutLine): boolean {
  return status === 'failed' && by === null && late === null && reason !== 'called_off';
}

function archived(field: string): RefusalDetail {
  return { field, code: 'ARCHIVED' };
}

function notRetryable(field: string, state: string): RefusalDetail {
  return { field, code: 'NOT_RETRYABLE', words: { state } };
}

const PAID_LATE = 'paid_late';

function stateOf(line: PayoutLine): string {
  if (line.retried_by !== null) return 'retried';
  if (line.late_attempt_id !== null) return PAID_LATE;
  return line.reason === 'called_off' ? line.reason : line.status;
}

/** The merchant may still use currency and address. @throws Refusal 1102, 1110. */
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

/** The same beneficiaries, by the carriers of today. @throws Refusal 1103 that names each line to which nobody pays out now. */
function orderedLines(routing: Routing, failed: readonly PayoutLine[], fieldOf: FieldOf): readonly OrderedLine[] {
  const faults: RefusalDetail[] = [];
  const lines = failed.map((line, at): OrderedLine => {
    const { id: retry_of, msisdn, wallet_number, amount, amount_minor: amountMinor, currency } = line;
    const ordered = { msisdn, wallet_number, connector: null, carrier: null, amount, amountMinor, retry_of };
    if (msisdn === null) return ordered;
    // Where none was named, by its place in the batch.
    const field = fieldOf(at) === 'batch_id' ? `beneficiaries[${line.position}]` : fieldOf(at);
    const route = payoutRoute(routing, msisdn, currency, field);
    if (route.kind === 'route') return { ...ordered, connector: route.connector, carrier: route.carrier };
    // What is wrong with the whole call is found at each of its lines, and said once.
    if (!faults.some((other) => other.field === route.fault.field)) faults.push(route.fault);
    return ordered;
  });
  if (faults.length > 0) throw new Refusal(1103, { details: faults });
  return lines;
}
