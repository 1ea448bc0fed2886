/**
 * A merchant's payments, newest first, a page at a time.
 *
 * Invariant: no filter and no cursor leads to another merchant's.
 */

import type { Merchant, Payment } from '../domain/records.ts';
import type { PaymentFilter } from '../store/payment-lists.ts';
import type { ScannedPage } from '../store/scanned-page.ts';
import type { Deps } from './deps.ts';

export type TransactionFilter = Omit<PaymentFilter, 'shard' | 'merchantId'>;

export function listTransactions(
  deps: Pick<Deps, 'store'>,
  { shard, id }: Merchant,
  filter: TransactionFilter,
): Promise<ScannedPage<Payment>> {
  return deps.store.listPayments({ ...filter, shard, merchantId: id });
}
