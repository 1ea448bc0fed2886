/**
 * Reads records that may have been archived: the live tables and the archive as one.
 *
 * Invariant: the live tables are read first, and for recent records nothing else. A record only ever moves to the archive, so
 * reading in this order finds it; a record found in both places while it moves counts once.
 */

import { mayBeArchived } from '../domain/archive.ts';
import { SHARDS, timeOfId } from '../domain/ids.ts';
import type { PayoutBatch, PayoutLine, Refund } from '../domain/outgoing-records.ts';
import type { Attempt, OneTimeCode, Payment, PaymentHistory } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import type { BatchFilter } from '../store/payout-list-reads.ts';
import type { ScannedPage } from '../store/scanned-page.ts';
import type { Deps } from './deps.ts';

/** What reading the archive needs. */
export type FindDeps = Pick<Deps, 'store' | 'clock'>;

/** Whether the record with this id is old enough to have been archived. */
export function isOld({ clock }: Pick<Deps, 'clock'>, id: string): boolean {
  return mayBeArchived(timeOfId(id), clock.now());
}

/** The record with a well-formed id, live or archived. */
async function find<R>(
  deps: FindDeps,
  { live, archive }: { readonly live: Get<R>; readonly archive: Get<R> },
  shard: number,
  id: string,
): Promise<R | undefined> {
  const found = await live.get(shard, id);
  return found === undefined && isOld(deps, id) ? archive.get(shard, id) : found;
}

interface Get<R> {
  get(shard: number, id: string): Promise<R | undefined>;
}

/** The payment of a transaction_id, live or archived; the caller checks whose it is. */
export function findPayment(deps: FindDeps, shard: number, id: string): Promise<Payment | undefined> {
  return find(deps, { live: deps.store.payment, archive: deps.store.archive.payment }, shard, id);
}

/** The payment's one-time code, live or archived. */
export function findCode(
  deps: FindDeps,
  { shard, id }: Pick<Payment, 'shard' | 'id'>,
): Promise<OneTimeCode | undefined> {
  return find(deps, { live: deps.store.code, archive: deps.store.archive.code }, shard, id);
}

/** The attempt of that id, live or archived. */
export function findAttempt(deps: FindDeps, shard: number, id: string): Promise<Attempt | undefined> {
  return find(deps, { live: deps.store.attempt, archive: deps.store.archive.attempt }, shard, id);
}

/**
 * Whether what a live attempt moves money for is live, too. Attempts before an order's last are archived in a later step than the
 * order: nothing can be booked on such an attempt any more.
 */
export async function isOrderLive(
  deps: FindDeps,
  { id: attemptId, shard, payment_id: id, purpose }: Attempt,
): Promise<boolean> {
  if (!isOld(deps, attemptId)) return true;
  const { payment, payoutLine, refund } = deps.store;
  return (await { payment, payout: payoutLine, refund }[purpose].get(shard, id)) !== undefined;
}

/** The merchant's newest payment with that customer reference, by any method. */
export async function findNewestPayment(
  deps: FindDeps,
  shard: number,
  merchantId: string,
  reference: string,
): Promise<Payment | undefined> {
  const { payment, archive } = deps.store;
  const live = await payment.newest(shard, merchantId, reference);
  if (live !== undefined && !isOld(deps, live.id)) return live;
  // An old payment may still be live while a newer one has been archived.
  const old = await archive.payment.newest(shard, merchantId, reference);
  return live !== undefined && (old === undefined || live.id > old.id) ? live : old;
}

/** The refund of that id, live or archived; the caller checks whose it is. */
export function findRefund(deps: FindDeps, shard: number, id: string): Promise<Refund | undefined> {
  return find(deps, { live: deps.store.refund, archive: deps.store.archive.refund }, shard, id);
}

/** The webhook event of that id, live or archived; the caller checks whose it is. */
export function findEvent(deps: FindDeps, shard: number, id: string): Promise<WebhookEvent | undefined> {
  return find(deps, { live: deps.store.event, archive: deps.store.archive.event }, shard, id);
}

/** The payout line of a transaction_id, live or archived; the caller checks whose it is. */
export function findPayoutLine(deps: FindDeps, shard: number, id: string): Promise<PayoutLine | undefined> {
  return find(deps, { live: deps.store.payoutLine, archive: deps.store.archive.payoutLine }, shard, id);
}

/** The batch of a batch_id, live or archived; the caller checks whose it is. */
export function findPayoutBatch(deps: FindDeps, shard: number, id: string): Promise<PayoutBatch | undefined> {
  return find(deps, { live: deps.store.payoutBatch, archive: deps.store.archive.payoutBatch }, shard, id);
}

/** Rows that are archived together, with the record of that id: if none is live, all may be in the archive. */
export async function findRows<R>(
  deps: FindDeps,
  { live, archive }: { readonly live: () => Promise<R[]>; readonly archive: () => Promise<R[]> },
  id: string,
): Promise<R[]> {
  const found = await live();
  return found.length === 0 && isOld(deps, id) ? archive() : found;
}

/** A payment's refunds, live or archived, in the order in which they were made. */
export function findRefundsOf(deps: FindDeps, { shard, id }: Pick<Payment, 'shard' | 'id'>): Promise<Refund[]> {
  const { refund, archive } = deps.store;
  const sources = { live: () => refund.ofPayment(shard, id), archive: () => archive.refund.ofPayment(shard, id) };
  return findRows(deps, sources, id);
}

/** A payment's timeline, live or archived, oldest first. */
export function findTimeline(deps: FindDeps, { shard, id }: Pick<Payment, 'shard' | 'id'>): Promise<PaymentHistory[]> {
  const { payment, archive } = deps.store;
  const sources = { live: () => payment.history(shard, id), archive: () => archive.payment.history(shard, id) };
  return findRows(deps, sources, id);
}

/** All merchants' proofs with that content, live and archived. A proof archived between the two reads appears twice. */
export async function findProofsOf({ store }: Pick<Deps, 'store'>, digest: string): Promise<Proof[]> {
  const inAllShards = (source: Pick<Deps['store']['proof'], 'ofDigest'>) =>
    Promise.all(Array.from({ length: SHARDS }, (_, shard) => source.ofDigest(shard, digest)));
  const live = await inAllShards(store.proof);
  return [...live, ...(await inAllShards(store.archive.proof))].flat();
}

/** Counts of lines by occurrence of a batch. An occurrence is either live or archived, with all of its lines. */
export async function findCounts(deps: FindDeps, { shard, id }: Pick<PayoutBatch, 'shard' | 'id'>) {
  const live = await deps.store.payoutBatch.counts(shard, id);
  if (!isOld(deps, id)) return live;
  const known = new Set(live.map(({ occurrence }) => occurrence));
  const archived = await deps.store.archive.payoutBatch.counts(shard, id);
  const left = archived.filter(({ occurrence }) => !known.has(occurrence));
  return [...live, ...left].toSorted((a, b) => a.occurrence - b.occurrence);
}

/** A page of a list, newest first, merged from the live tables and the archive. */
export async function pageOfBoth<R extends { readonly id: string }>(
  deps: FindDeps,
  limit: number,
  live: () => Promise<ScannedPage<R>>,
  archive: () => Promise<ScannedPage<R>>,
): Promise<ScannedPage<R>> {
  const page = await live();
  // Everything archived is older than the end of this page.
  if (page.next !== undefined && !isOld(deps, page.next)) return page;
  const old = await archive();
  // Older than the later of the two ends, one of the two places has not been read yet.
  const reached = later(page.next, old.next);
  const rows = newestFirst(page.rows, old.rows).filter(({ id }) => reached === undefined || id >= reached);
  if (rows.length <= limit) return { rows, next: reached };
  return { rows: rows.slice(0, limit), next: rows[limit - 1]?.id };
}

/** The merchant's newest batches that match the filter, live and archived. */
export async function findBatches(deps: FindDeps, filter: BatchFilter): Promise<PayoutBatch[]> {
  const live = await deps.store.payouts.batches(filter);
  const last = live.at(-1);
  if (live.length === filter.limit && last !== undefined && !isOld(deps, last.id)) return live;
  const old = await deps.store.archive.payoutBatch.page(filter);
  return newestFirst(live, old).slice(0, filter.limit);
}

/** Ids sort by time. A row archived between the two reads is in both lists, and is taken once. */
function newestFirst<R extends { readonly id: string }>(live: readonly R[], old: readonly R[]): R[] {
  const known = new Set(live.map(({ id }) => id));
  return [...live, ...old.filter(({ id }) => !known.has(id))].toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}
