/**
 * Reads what may have left for the archive: there and here, as one.
 *
 * Invariant: what is live is read first, and what is young only there. A record moves one way, so that whoever looks in this
 * order finds it; whoever finds it in both places while it moves takes it once.
 */

import { mayBeArchived } from '../domain/archive.ts';
import { SHARDS, timeOfId } from '../domain/ids.ts';
import type { PayoutBatch, PayoutLine, Refund } from '../domain/outgoing-records.ts';
import type { Attempt, Payment, WebhookEvent } from '../domain/records.ts';
import type { Proof } from '../domain/transfer-records.ts';
import type { BatchFilter } from '../store/payout-list-reads.ts';
import type { ScannedPage } from '../store/scanned-page.ts';
import type { Deps } from './deps.ts';

/** What reading the archive takes. */
export type FindDeps = Pick<Deps, 'store' | 'clock'>;

/** Whether what has this id may have left. */
export function isOld({ clock }: Pick<Deps, 'clock'>, id: string): boolean {
  return mayBeArchived(timeOfId(id), clock.now());
}

/** The record of a well-formed id, wherever it lies. */
async function find<R>(
  deps: FindDeps,
  places: { readonly live: Get<R>; readonly archive: Get<R> },
  shard: number,
  id: string,
): Promise<R | undefined> {
  const found = await places.live.get(shard, id);
  return found === undefined && isOld(deps, id) ? places.archive.get(shard, id) : found;
}

interface Get<R> {
  get(shard: number, id: string): Promise<R | undefined>;
}

/** The payment of a transaction_id, live or archived; whose it is, the caller checks. */
export function findPayment(deps: FindDeps, shard: number, id: string): Promise<Payment | undefined> {
  return find(deps, { live: deps.store.payment, archive: deps.store.archive.payment }, shard, id);
}

/** The attempt of that id, live or archived. */
export function findAttempt(deps: FindDeps, shard: number, id: string): Promise<Attempt | undefined> {
  return find(deps, { live: deps.store.attempt, archive: deps.store.archive.attempt }, shard, id);
}

/** The merchant's newest payment of that reference, by whatever method. */
export async function findNewestPayment(
  deps: FindDeps,
  shard: number,
  merchantId: string,
  reference: string,
): Promise<Payment | undefined> {
  const { payment, archive } = deps.store;
  const live = await payment.newest(shard, merchantId, reference);
  if (live !== undefined && !isOld(deps, live.id)) return live;
  // An old one may have stayed while a newer one has left.
  const old = await archive.payment.newest(shard, merchantId, reference);
  return live !== undefined && (old === undefined || live.id > old.id) ? live : old;
}

/** The refund of that id, live or archived; whose it is, the caller checks. */
export function findRefund(deps: FindDeps, shard: number, id: string): Promise<Refund | undefined> {
  return find(deps, { live: deps.store.refund, archive: deps.store.archive.refund }, shard, id);
}

/** The webhook event of that id, live or archived; whose it is, the caller checks. */
export function findEvent(deps: FindDeps, shard: number, id: string): Promise<WebhookEvent | undefined> {
  return find(deps, { live: deps.store.event, archive: deps.store.archive.event }, shard, id);
}

/** The payout line of a transaction_id, live or archived; whose it is, the caller checks. */
export function findPayoutLine(deps: FindDeps, shard: number, id: string): Promise<PayoutLine | undefined> {
  return find(deps, { live: deps.store.payoutLine, archive: deps.store.archive.payoutLine }, shard, id);
}

/** The batch of a batch_id, live or archived; whose it is, the caller checks. */
export function findPayoutBatch(deps: FindDeps, shard: number, id: string): Promise<PayoutBatch | undefined> {
  return find(deps, { live: deps.store.payoutBatch, archive: deps.store.archive.payoutBatch }, shard, id);
}

/** Rows that leave together: where none is live, all may have left. */
export async function findRows<R>(
  deps: FindDeps,
  places: { readonly live: () => Promise<R[]>; readonly archive: () => Promise<R[]> },
  id: string,
): Promise<R[]> {
  const found = await places.live();
  return found.length === 0 && isOld(deps, id) ? places.archive() : found;
}

/** The proofs of that content, every merchant's, live and archived. What was moved between the two reads is there twice. */
export async function findProofsOf({ store }: Pick<Deps, 'store'>, digest: string): Promise<Proof[]> {
  const inAllShards = (place: Pick<Deps['store']['proof'], 'ofDigest'>) =>
    Promise.all(Array.from({ length: SHARDS }, (_, shard) => place.ofDigest(shard, digest)));
  const live = await inAllShards(store.proof);
  return [...live, ...(await inAllShards(store.archive.proof))].flat();
}

/** How the occurrences of a batch stand: each lies in one place, with all of its lines. */
export async function findCounts(deps: FindDeps, { shard, id }: Pick<PayoutBatch, 'shard' | 'id'>) {
  const live = await deps.store.payoutBatch.counts(shard, id);
  if (!isOld(deps, id)) return live;
  const known = new Set(live.map(({ occurrence }) => occurrence));
  const archived = await deps.store.archive.payoutBatch.counts(shard, id);
  const left = archived.filter(({ occurrence }) => !known.has(occurrence));
  return [...live, ...left].toSorted((a, b) => a.occurrence - b.occurrence);
}

/** A page of lists that are read newest first, of both places. */
export async function pageOfBoth<R extends { readonly id: string }>(
  deps: FindDeps,
  limit: number,
  live: () => Promise<ScannedPage<R>>,
  archive: () => Promise<ScannedPage<R>>,
): Promise<ScannedPage<R>> {
  const page = await live();
  // Whatever has left is older than where this page ends.
  if (page.next !== undefined && !isOld(deps, page.next)) return page;
  const old = await archive();
  // Beyond the nearer end, one of the two has not been looked at.
  const reached = later(page.next, old.next);
  const rows = newestFirst(page.rows, old.rows).filter(({ id }) => reached === undefined || id >= reached);
  if (rows.length <= limit) return { rows, next: reached };
  return { rows: rows.slice(0, limit), next: rows[limit - 1]?.id };
}

/** The merchant's newest batches that fit, of both places. */
export async function findBatches(deps: FindDeps, filter: BatchFilter): Promise<PayoutBatch[]> {
  const live = await deps.store.payouts.batches(filter);
  const last = live.at(-1);
  if (live.length === filter.limit && last !== undefined && !isOld(deps, last.id)) return live;
  const old = await deps.store.archive.payoutBatch.page(filter);
  return newestFirst(live, old).slice(0, filter.limit);
}

/** Ids sort by time. What was moved between the two reads is in both. */
function newestFirst<R extends { readonly id: string }>(live: readonly R[], old: readonly R[]): R[] {
  const known = new Set(live.map(({ id }) => id));
  return [...live, ...old.filter(({ id }) => !known.has(id))].toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

function later(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}
