/**
 * Lists of refunds: for operators, who execute by hand what no upstream can, and for a merchant's own.
 *
 * Invariant: a page begins after an id, and ids are in the order of creation, so that no refund is left out.
 */

import type { Refund, RefundStatus } from '../domain/outgoing-records.ts';
import { inStatus, listForOperator } from './operator-lists.ts';
import type { Readers } from './read.ts';

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
  return listForOperator(readers, { table: 'refund', merchantId, state, conditions: [['id > ?', after, 'a']], limit });
}
