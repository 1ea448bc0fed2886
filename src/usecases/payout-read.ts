/**
 * Reads payouts: a line by its transaction_id, as payments are, and a merchant's batches.
 *
 * Invariant: another merchant's payout, a malformed id and an unknown one are answered alike (1204). Pages of batches are stable
 * whatever is made meanwhile: each begins after an id, and newer batches come before all that have been read.
 */

import { firstIdAt, isIdIn } from '../domain/ids.ts';
import type { PayoutBatch, PayoutLine } from '../domain/outgoing-records.ts';
import { type BatchStatus, batchStatus, type PayoutCounts, sumOfCounts } from '../domain/payout.ts';
import { hasMore } from '../domain/payout-order.ts';
import type { Merchant, Payment, ReceiptMode } from '../domain/records.ts';
import { Refusal, refuseField } from '../domain/refusal.ts';
import { type FindDeps, findBatches, findCounts, findPayoutBatch, findPayoutLine, findRows } from './archive-find.ts';
import type { MerchantCaller, Reader } from './callers.ts';
import type { Deps } from './deps.ts';
import { type PaymentDetail, readByTransactionId, readDetail } from './payment-read.ts';

/** The payment or the payout line with that transaction_id. */
export function readTransaction(deps: Deps, caller: Reader, id: string): Promise<Payment | PayoutLine> {
  return orLine(deps, caller, id, readByTransactionId(deps, caller, id));
}

/** A payout line, and whether its batch waits for an operator. */
export interface LineDetail {
  readonly line: PayoutLine;
  readonly approval: PayoutBatch['approval'];
}

/** A payment, by its transaction_id or payment_id, or a payout line, with everything that is shown of it. */
export async function readTransactionDetail(
  deps: Deps,
  caller: Reader,
  id: string,
): Promise<PaymentDetail | LineDetail> {
  const found = await orLine(deps, caller, id, readDetail(deps, caller, id));
  return 'payment' in found ? found : { line: found, approval: await approvalOf(deps, found) };
}

/** The approval that a line waits for; a line that has begun or ended waits for none. */
async function approvalOf(deps: Deps, line: PayoutLine): Promise<PayoutBatch['approval']> {
  if (line.status !== 'pending' || line.next_start_at !== null) return 'none';
  return (await findPayoutBatch(deps, line.shard, line.batch_id))?.approval ?? 'none';
}

/** Most reads are of payments, so a line is looked up only if there is no payment. */
async function orLine<T>(deps: Deps, { merchant }: Reader, id: string, payment: Promise<T>): Promise<T | PayoutLine> {
  try {
    return await payment;
  } catch (error) {
    const line = error instanceof Refusal ? await readOwnLine(deps, merchant, id) : undefined;
    if (line === undefined) throw error;
    return line;
  }
}

async function readOwnLine(deps: Deps, merchant: Merchant, id: string): Promise<PayoutLine | undefined> {
  if (!isIdIn(merchant.shard, 'txn', id)) return undefined;
  const line = await findPayoutLine(deps, merchant.shard, id);
  return line?.merchant_id === merchant.id ? line : undefined;
}

/** A batch with the state of its lines. */
export interface BatchStanding {
  readonly batch: PayoutBatch;
  readonly counts: PayoutCounts;
  readonly status: BatchStatus;
  /** When the last line became final, if nothing is open any more. */
  readonly completedAt: number | null;
}

/** The state of one occurrence. */
export interface RunStanding extends Omit<BatchStanding, 'batch'> {
  readonly occurrence: number;
  readonly scheduledDate: string | null;
}

/** A batch with the state of its occurrences, and the lines of one of them. */
export interface BatchDetail extends BatchStanding {
  readonly runs: readonly RunStanding[];
  readonly occurrence: number;
  /** The lines of that occurrence. */
  readonly lines: readonly PayoutLine[];
}

/** @throws Refusal 1204 when the merchant has no such batch, 1110 when the batch has no such occurrence. */
export async function readPayout(
  deps: Deps,
  { merchant }: MerchantCaller,
  batchId: string,
  occurrence: number,
): Promise<BatchDetail> {
  const batch = await readOwnBatch(deps, merchant, batchId);
  if (occurrence > batch.occurrences) {
    throw refuseField(1110, 'occurrence', 'OUT_OF_RANGE', { minimum: 1, maximum: batch.occurrences });
  }
  const [counted, lines] = await Promise.all([findCounts(deps, batch), linesOf(deps, batch, occurrence)]);
  const runs = counted.map((run) => ({
    occurrence: run.occurrence,
    scheduledDate: run.scheduled_date,
    ...progressOf([run], { more: false }),
  }));
  return { runs, occurrence, lines, ...standingOf(batch, counted) };
}

/** The lines of one occurrence, in the order of the call, live or archived; none where it has not been made. */
export function linesOf(
  deps: FindDeps,
  { shard, id }: Pick<PayoutBatch, 'shard' | 'id'>,
  occurrence: number,
): Promise<PayoutLine[]> {
  const { payoutBatch, archive } = deps.store;
  const sources = {
    live: () => payoutBatch.lines(shard, id, occurrence),
    archive: () => archive.payoutBatch.lines(shard, id, occurrence),
  };
  return findRows(deps, sources, id);
}

/** A batch of the merchant's own. @throws Refusal 1204. */
export async function readOwnBatch(deps: FindDeps, merchant: Merchant, id: string): Promise<PayoutBatch> {
  if (!isIdIn(merchant.shard, 'batch', id)) throw new Refusal(1204);
  const batch = await findPayoutBatch(deps, merchant.shard, id);
  if (batch === undefined || batch.merchant_id !== merchant.id) throw new Refusal(1204);
  return batch;
}

type Counted = PayoutCounts & { readonly completed_at: number | null };

/** A batch with the state of its lines, which are counted by occurrence. */
export function standingOf(batch: PayoutBatch, counted: readonly Counted[]): BatchStanding {
  return { batch, ...progressOf(counted, { more: hasMore(batch) }) };
}

/** The state of lines taken together. `more`: further occurrences are to come. */
function progressOf(counted: readonly Counted[], { more }: { readonly more: boolean }): Omit<BatchStanding, 'batch'> {
  const counts = sumOfCounts(counted);
  const status = batchStatus(counts, more);
  const isOver = status !== 'pending' && status !== 'processing';
  const completedAt = isOver ? Math.max(...counted.map(({ completed_at: at }) => at ?? 0)) : null;
  return { counts, status, completedAt };
}

/** Which of a merchant's batches to list. Instants in milliseconds. */
export interface BatchListing {
  readonly status: BatchStatus | undefined;
  readonly receiptMode: ReceiptMode | undefined;
  readonly currency: string | undefined;
  readonly customerReference: string | undefined;
  /** Inclusive. */
  readonly from: number | undefined;
  /** Exclusive. */
  readonly to: number | undefined;
  /** The id of the last batch that was scanned for the previous page. */
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** A page of batches, newest first. */
export interface BatchPage {
  readonly batches: readonly BatchStanding[];
  /** Undefined: there are no more. */
  readonly nextCursor: string | undefined;
}

/** 100 batches are read at once, and 500 scanned at most, for one page. */
const CHUNK = 100;
const MAX_SCANNED = 500;
/** 50 000 lines at most are counted for one page; a batch may have 36 600. */
const MAX_COUNTED = 50_000;

/**
 * A merchant's batches, newest first. A batch's status is derived from its lines and not stored, so a filter on status, receipt
 * mode or currency scans batches: if few match, a page is short, and the next one continues.
 */
export async function listPayouts(deps: Deps, { merchant }: MerchantCaller, listing: BatchListing): Promise<BatchPage> {
  const batches: BatchStanding[] = [];
  let nextCursor: string | undefined;
  for await (const { standings, isFollowed } of scanBatches(deps, merchant, listing)) {
    for (const [at, standing] of standings.entries()) {
      nextCursor = isFollowed || at + 1 < standings.length ? standing.batch.id : undefined;
      if (fits(listing, standing)) batches.push(standing);
      if (batches.length === listing.limit) return { batches, nextCursor };
    }
    if (!isFollowed) nextCursor = undefined;
  }
  return { batches, nextCursor };
}

/** Some of a merchant's batches, newest first. */
interface BatchChunk {
  readonly standings: readonly BatchStanding[];
  /** Whether older batches follow. */
  readonly isFollowed: boolean;
}

/** Reads a merchant's batches for one page, until there are no more, or as many as one page may cost. */
async function* scanBatches(
  deps: Deps,
  merchant: Merchant,
  { status, receiptMode, currency, customerReference, from, to, cursor, limit }: BatchListing,
): AsyncGenerator<BatchChunk, void, undefined> {
  const everyOneFits = [status, receiptMode, currency].every((one) => one === undefined);
  let before = earlier(cursor, to === undefined ? undefined : firstIdAt('batch', to));
  let scanned = 0;
  let counted = 0;
  while (scanned < MAX_SCANNED && counted < MAX_COUNTED) {
    const wanted = everyOneFits ? limit - scanned : CHUNK;
    const read = await findBatches(deps, {
      shard: merchant.shard,
      merchantId: merchant.id,
      customerReference,
      from: from === undefined ? undefined : firstIdAt('batch', from),
      before,
      // One more than wanted, to learn whether there are others.
      limit: wanted + 1,
    });
    const chunk = affordable(read.slice(0, wanted), MAX_COUNTED - counted);
    const isFollowed = chunk.length < read.length;
    yield { standings: await Promise.all(chunk.map((batch) => readStanding(deps, batch))), isFollowed };
    if (!isFollowed || chunk.length < wanted) return;
    before = chunk.at(-1)?.id;
    scanned += chunk.length;
    counted += chunk.reduce((sum, batch) => sum + linesIn(batch), 0);
  }
}

function fits({ status, receiptMode, currency }: BatchListing, { batch, status: its }: BatchStanding): boolean {
  return (
    (status === undefined || its === status) &&
    (receiptMode === undefined || batch.receipt_mode === receiptMode) &&
    (currency === undefined || batch.currency === currency)
  );
}

async function readStanding(deps: Deps, batch: PayoutBatch): Promise<BatchStanding> {
  return standingOf(batch, await findCounts(deps, batch));
}

/** The first of these batches, as many as have at most `lines` lines in total; at least one. */
function affordable(batches: readonly PayoutBatch[], lines: number): readonly PayoutBatch[] {
  let left = lines;
  const end = batches.findIndex((batch) => {
    left -= linesIn(batch);
    return left < 0;
  });
  return end < 0 ? batches : batches.slice(0, Math.max(1, end));
}

/** How many lines a batch has by now; those of the first occurrence are made with the batch. */
function linesIn({ beneficiaries, next_occurrence: next }: PayoutBatch): number {
  return beneficiaries.length * Math.max(1, next - 1);
}

function earlier(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
