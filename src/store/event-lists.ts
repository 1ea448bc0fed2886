/**
 * Webhook events, a page at a time: a merchant's, or those of a shard.
 *
 * Invariant: every page has an equality on the merchant or on the shard, which an index serves.
 */

import type { EventStatus, WebhookEvent } from '../domain/webhook-records.ts';
import type { Place } from './place.ts';
import type { Readers } from './read.ts';
import { createdWithin, idsWithin, type ScannedPage, scanPage } from './scanned-page.ts';

/** Which events of a shard to list; the instants (ms) are of `created_at`. */
export interface EventPageFilter {
  readonly shard: number;
  /** Undefined: of all merchants of the shard. */
  readonly merchantId: string | undefined;
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
  /** Only events after this one in the list: where the page before stopped. */
  readonly beyond?: string | undefined;
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
}

/** A page of events from one place, the live tables or the archive. */
export function pageOfEvents(
  readers: Readers,
  filter: EventPageFilter,
  place: Place = 'live',
): Promise<ScannedPage<WebhookEvent>> {
  const { shard, merchantId, transactionId, status, notStatus, type, from, until, beyond, order, limit } = filter;
  return scanPage(readers, {
    table: 'webhook_event',
    place,
    range: [
      ['shard = ?::int2', String(shard)],
      ['merchant_id = ?', merchantId],
      ['transaction_id = ?', transactionId],
      [order === 'newest' ? 'id < ?' : 'id > ?', beyond],
      ...idsWithin('evt', from, until),
    ],
    fits: [['status = ?', status], ['status <> ?', notStatus], ['type = ?', type], ...createdWithin(from, until)],
    order,
    limit,
  });
}
