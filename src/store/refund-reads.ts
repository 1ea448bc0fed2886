/**
 * Lists of refunds: for whoever executes by hand what no upstream can, and for a merchant's own.
 *
 * Invariant: a page begins after an id, and ids are in the order of their making, so that no refund is left out.
 */

import { shardOf } from '../domain/ids.ts';
import type { Refund, RefundStatus } from '../domain/outgoing-records.ts';
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

/** In the order of their ids. A merchant's id carries its shard. */
export async function listRefunds(readers: Readers, filter: RefundFilter): Promise<Refund[]> {
  const { merchantId, status, after, limit } = filter;
  const columns = columnsOf('refund');
  const values: string[] = [];
  const conditions: string[] = [];
  let name = 'list_refunds_';
  if (merchantId !== undefined) {
    conditions.push(`shard = $${values.push(String(shardOf(merchantId)))}::int2`);
    conditions.push(`merchant_id = $${values.push(merchantId)}`);
    name += 'm';
  }
  if (status !== undefined) {
    conditions.push(`status = $${values.push(status)}`);
    name += 's';
  }
  if (after !== undefined) {
    conditions.push(`id > $${values.push(after)}`);
    name += 'a';
  }
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const text = `select ${listOf(columns)} from refund ${where} order by id limit $${values.push(String(limit))}::int8`;
  return (await readers.query({ name, text }, columns, values)) as unknown as Refund[];
}
