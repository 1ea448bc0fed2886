/**
 * A merchant's webhook events, a page at a time.
 *
 * Invariant: every page begins at an equality on the merchant, which an index holds.
 */

import type { EventStatus, WebhookEvent } from '../domain/records.ts';
import type { Place } from './place.ts';
import type { Readers } from './read.ts';
import { createdWithin, idsWithin, type ScannedPage, scanPage } from './scanned-page.ts';

/** Which events of a merchant to list; the instants (ms) are of `created_at`. */
export interface MerchantEventFilter {
  readonly shard: number;
  readonly merchantId: string;
  readonly transactionId?: string | undefined;
  readonly status?: EventStatus | undefined;
  /** No event of this status. */
  readonly notStatus?: EventStatus | undefined;
  /** For example `payment.approved`. */
  readonly type?: string | undefined;
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** Behind this event: where the page before stopped. */
  readonly beyond?: string | undefined;
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
}

/** A page of a merchant's events from one place, the live tables or the archive. */
export function pageOfEvents(
  readers: Readers,
  filter: MerchantEventFilter,
  place: Place = 'live',
): Promise<ScannedPage<WebhookEvent>> {
  const { shard, merchantId, transactionId, status, notStatus, type, from, until, beyond, order, limit } = filter;
  return scanPage(readers, {
    table: 'webhook_event',
    place,
    range: [
      ['shard = ?::int2', String(shard), ''],
      ['merchant_id = ?', merchantId, ''],
      ['transaction_id = ?', transactionId, 'x'],
      [order === 'newest' ? 'id < ?' : 'id > ?', beyond, 'b'],
      ...idsWithin('evt', from, until),
    ],
    fits: [
      ['status = ?', status, 's'],
      ['status <> ?', notStatus, 'n'],
      ['type = ?', type, 't'],
      ...createdWithin(from, until),
    ],
    order,
    limit,
  });
}
