/**
 * A merchant's refunds, newest first, a page at a time, each with its payment, as a single one is read.
 *
 * Invariant: no filter or cursor leads to another merchant's refunds.
 */

import type { Refund } from '../domain/outgoing-records.ts';
import type { Merchant } from '../domain/records.ts';
import type { RefundRows } from '../domain/refund.ts';
import type { RefundPageFilter } from '../store/refund-reads.ts';
import type { ScannedPage } from '../store/scanned-page.ts';
import { type FindDeps, findPayment, findRefundsOf, pageOfBoth } from './archive-find.ts';
import type { MerchantCaller } from './callers.ts';

/** Which refunds to list. */
export interface RefundListing extends Omit<RefundPageFilter, 'shard' | 'merchantId'> {
  /** Only refunds of this payment. */
  readonly transactionId?: string | undefined;
}

/** A page of the merchant's refunds, newest first, live and archived. */
export async function listRefunds(
  deps: FindDeps,
  { merchant }: MerchantCaller,
  { transactionId, ...listing }: RefundListing,
): Promise<ScannedPage<RefundRows>> {
  const { rows, next } =
    transactionId === undefined
      ? await pageOfAll(deps, { ...listing, shard: merchant.shard, merchantId: merchant.id })
      : await pageOfPayment(deps, merchant, transactionId, listing);
  return { rows: await withPayments(deps, rows), next };
}

function pageOfAll(deps: FindDeps, filter: RefundPageFilter): Promise<ScannedPage<Refund>> {
  const { store } = deps;
  return pageOfBoth(
    deps,
    filter.limit,
    () => store.pageOfRefunds(filter),
    () => store.archive.refund.page(filter),
  );
}

/** A payment has few refunds, and they are archived together: all are read, by the index of the payment. */
async function pageOfPayment(
  deps: FindDeps,
  { shard, id: merchantId }: Merchant,
  transactionId: string,
  { status, currency, from = 0, until = Number.POSITIVE_INFINITY, before, limit }: Omit<RefundListing, 'transactionId'>,
): Promise<ScannedPage<Refund>> {
  const fitting = (await findRefundsOf(deps, { shard, id: transactionId })).filter(
    (one) =>
      one.merchant_id === merchantId &&
      (status === undefined || one.status === status) &&
      (currency === undefined || one.currency === currency) &&
      one.created_at >= from &&
      one.created_at < until &&
      (before === undefined || one.id < before),
  );
  const rows = fitting.toReversed().slice(0, limit);
  return { rows, next: fitting.length > limit ? rows.at(-1)?.id : undefined };
}

/** Each refund with its payment. One whose payment went with a dropped month is left out: it is not found by its id either. */
async function withPayments(deps: FindDeps, refunds: readonly Refund[]): Promise<RefundRows[]> {
  // Reads of one round are coalesced into one statement, and a payment is asked for once, however many refunds it has.
  const shards = new Map(refunds.map(({ payment_id, shard }) => [payment_id, shard]));
  const found = await Promise.all([...shards].map(([id, shard]) => findPayment(deps, shard, id)));
  const payments = new Map(found.flatMap((payment) => (payment === undefined ? [] : [[payment.id, payment]])));
  return refunds.flatMap((refund) => {
    const payment = payments.get(refund.payment_id);
    return payment === undefined ? [] : [{ refund, payment }];
  });
}
