/**
 * A merchant's payments, newest first, a page at a time.
 *
 * Invariant: no filter or cursor leads to another merchant's payments.
 */

import type { Merchant, Payment } from '../domain/records.ts';
import type { PaymentFilter } from '../store/payment-lists.ts';
import type { ScannedPage } from '../store/scanned-page.ts';
import { type FindDeps, pageOfBoth } from './archive-find.ts';

/** Which payments to list. */
export type TransactionFilter = Omit<PaymentFilter, 'shard' | 'merchantId'>;

/** A page of the merchant's payments, newest first, live and archived. */
export function listTransactions(
  deps: FindDeps,
  { shard, id }: Merchant,
  filter: TransactionFilter,
): Promise<ScannedPage<Payment>> {
  const all = { ...filter, shard, merchantId: id };
  const { store } = deps;
  return pageOfBoth(
    deps,
    filter.limit,
    () => store.listPayments(all),
    () => store.archive.payment.page(all),
  );
}
