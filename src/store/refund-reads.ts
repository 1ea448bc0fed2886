/**
 * Lists of refunds: for whoever executes by hand what no upstream can, and for a merchant's own.
 *
 * Invariant: a page begins after an id, and ids are in the order of their making, so that no refund is left out.
 */

import type { Refund, RefundStatus } from '../domain/outgoing-records.ts';
import { asked, ofMerchant, whereAll } from './conditions.ts';
import type { Statement } from './pipeline.ts';
import type { Readers } from './read.ts';
import { columnsOf, listOf } from './tables.ts';

/** Which refunds to list. */
export interface RefundFilter {
  readonly merchantId?: string | undefined;
  readonly status?: RefundStatus | undefined;
  /** The last refund of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** In the order of their ids. */
export async function listRefunds(readers: Readers, filter: RefundFilter): Promise<Refund[]> {
  const { merchantId, status, after, limit } = filter;
  const columns = columnsOf('refund');
  const { conditions, values, name } = asked([
    ...ofMerchant(merchantId),
    ['status = ?', status, 's'],
    ['id > ?', after, 'a'],
  ]);
  const statement: Statement = {
    name: `list_refunds_${name}`,
    text: `select ${listOf(columns)} from refund ${whereAll(conditions)} order by id limit $${values.length + 1}::int8`,
  };
  return (await readers.query(statement, columns, [...values, String(limit)])) as unknown as Refund[];
}
