/**
 * A merchant's payments, newest first, a page at a time.
 *
 * Invariant: every page has an equality on the merchant, which an index serves.
 */

import type { Payment, PaymentMethod, PaymentStatus } from '../domain/records.ts';
import type { Place } from './place.ts';
import type { Readers } from './read.ts';
import { createdWithin, idsWithin, type ScannedPage, scanPage } from './scanned-page.ts';

/** Which payments to list; the instants (ms) are of `created_at`. */
export interface PaymentFilter {
  readonly shard: number;
  readonly merchantId: string;
  readonly status?: PaymentStatus | undefined;
  readonly method?: PaymentMethod | 'none' | undefined;
  readonly currency?: string | undefined;
  /** The merchant's own reference, in full. */
  readonly reference?: string | undefined;
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** Only payments older than this one: where the page before stopped. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of a merchant's payments, newest first, from one place: the live tables or the archive. */
export function listPayments(
  readers: Readers,
  filter: PaymentFilter,
  place: Place = 'live',
): Promise<ScannedPage<Payment>> {
  const { shard, merchantId, reference, from, until, before, status, method, currency, limit } = filter;
  return scanPage(readers, {
    table: 'payment',
    place,
    range: [
      ['shard = ?::int2', String(shard)],
      ['merchant_id = ?', merchantId],
      ['customer_reference = ?', reference],
      ['id < ?', before],
      ...idsWithin('txn', from, until),
    ],
    fits: [['status = ?', status], ['method = ?', method], ['currency = ?', currency], ...createdWithin(from, until)],
    order: 'newest',
    limit,
  });
}
