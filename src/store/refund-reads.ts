/**
 * Lists of refunds: for operators, who execute by hand what no upstream can, and for merchants, of their own.
 *
 * Invariant: a page begins where the one before stopped, at an id, and ids are in the order of creation, so that no refund is left
 * out. A merchant's page has an equality on the merchant, which an index serves.
 */

import type { Refund, RefundStatus } from '../domain/outgoing-records.ts';
import { inStatus, listForOperator } from './operator-lists.ts';
import type { Place } from './place.ts';
import type { Readers } from './read.ts';
import { createdWithin, idsWithin, type ScannedPage, scanPage } from './scanned-page.ts';

/** Which refunds to list. */
export interface RefundFilter {
  readonly merchantId?: string | undefined;
  readonly status?: RefundStatus | undefined;
  /** The last refund of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** In the order of their ids. */
export function listRefunds(readers: Readers, filter: RefundFilter): Promise<Refund[]> {
  const { merchantId, status, after, limit } = filter;
  const state = inStatus('refund', status);
  return listForOperator(readers, { table: 'refund', merchantId, state, conditions: [['id > ?', after]], limit });
}

/** Which refunds of a merchant to list; the instants (ms) are of `created_at`. */
export interface RefundPageFilter {
  readonly shard: number;
  readonly merchantId: string;
  readonly status?: RefundStatus | undefined;
  readonly currency?: string | undefined;
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** Only refunds older than this one: where the page before stopped. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A page of a merchant's refunds, newest first, from one place: the live tables or the archive. */
export function pageOfRefunds(
  readers: Readers,
  filter: RefundPageFilter,
  place: Place = 'live',
): Promise<ScannedPage<Refund>> {
  const { shard, merchantId, status, currency, from, until, before, limit } = filter;
  return scanPage(readers, {
    table: 'refund',
    place,
    range: [
      ['shard = ?::int2', String(shard)],
      ['merchant_id = ?', merchantId],
      ['id < ?', before],
      ...idsWithin('rfd', from, until),
    ],
    fits: [['status = ?', status], ['currency = ?', currency], ...createdWithin(from, until)],
    order: 'newest',
    limit,
  });
}
