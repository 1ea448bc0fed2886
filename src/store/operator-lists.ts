/**
 * Lists for operators, of one merchant or of all: webhook events, refunds, proofs, payout batches, and customers' wallets; in the order of their ids.
 *
 * Invariant: however many rows the table has, no more of a shard are read than a page holds, or than an index holds of a rare
 * status. More are read only for what no index holds: a rare status (declined proofs, say), or the batches of one credential.
 */

import type { Tables } from '../domain/change.ts';
import { SHARDS, shardOf } from '../domain/ids.ts';
import { listOf } from './columns.ts';
import { asked, type Condition } from './conditions.ts';
import type { Statement } from './pipeline.ts';
import type { Readers } from './read.ts';
import { columnsOf } from './tables.ts';

type Listed = 'webhook_event' | 'refund' | 'proof' | 'payout_batch' | 'wallet';
type WithStatus = Exclude<Listed, 'payout_batch' | 'wallet'>;

/** Rare statuses, each with an index of its own that is not in the order of ids: all its rows are read, and sorted. */
const FEW: { readonly [table in WithStatus]: readonly string[] } = {
  webhook_event: ['waiting'],
  refund: ['pending', 'processing'],
  proof: ['waiting'],
};

/** The rows in one state. The condition is SQL without parameters: only then does the planner know which index holds them. */
export interface InState {
  readonly name: string;
  readonly condition: string;
  /** There are few, and their index is not in the order of ids. */
  readonly isFew: boolean;
}

/** The rows of an operator's list by their status; undefined: rows in any. */
export function inStatus<T extends WithStatus>(table: T, status: Tables[T]['status'] | undefined): InState | undefined {
  if (status === undefined) return undefined;
  return { name: status, condition: `status = '${status}'`, isFew: FEW[table].includes(status) };
}

export interface OperatorList<T extends Listed> {
  readonly table: T;
  readonly merchantId: string | undefined;
  /** Undefined: in any state. */
  readonly state: InState | undefined;
  readonly conditions: readonly Condition[];
  readonly limit: number;
}

/** Reads a page. @throws RangeError if the merchant's id is not an id. */
export async function listForOperator<T extends Listed>(readers: Readers, list: OperatorList<T>): Promise<Tables[T][]> {
  const { table, merchantId, state, limit } = list;
  const shard = merchantId === undefined ? undefined : shardOf(merchantId);
  const shards = shard === undefined ? [0, SHARDS - 1] : [shard, shard];
  const { conditions, values, name } = asked([['merchant_id = ?', merchantId], ...list.conditions], shards.length);
  const most = `limit $${shards.length + values.length + 1}::int8`;
  const inShard = ['shard = s.shard::int2', ...(state === undefined ? [] : [state.condition])];
  const rows = (of: string, where: readonly string[]): string =>
    `select * from ${of}${where.length === 0 ? '' : ` where ${where.join(' and ')}`}`;
  // Of the few rows in that state, the rest is picked afterwards: by merchant, PostgreSQL would read all rows of that merchant.
  const found =
    state?.isFew === true
      ? rows(`(${rows(table, inShard)} offset 0) few`, conditions)
      : rows(table, [...inShard, ...conditions]);
  const statement: Statement = {
    name: `list_${table}_${state?.name ?? 'any'}_${name}`,
    text: `select ${listOf(columnsOf(table), 't')} from generate_series($1::int4, $2::int4) s(shard)
cross join lateral (
  ${found} order by id ${most}) t
order by t.id ${most}`,
  };
  return readers.query(statement, columnsOf(table), [...shards.map(String), ...values, String(limit)]);
}
