/**
 * The SQL of the group commit: one statement per shape (a verb, a table, a set of columns), made from the catalogue.
 *
 * Every statement takes all rows of a batch as one array of a row type. A statement that can lose compares the rows that took
 * effect with those it was given and raises LOST1 with the losers' keys, which rolls the whole batch back. Invariant: rows are
 * locked in the order in which they are given; the losers are found by EXCEPT, because a join back to the rows would become a
 * nested loop under the pinned plan.
 */

import type { TableName } from '../domain/change.ts';
import type { Column } from './columns.ts';
import type { Statement } from './pipeline.ts';
import { type RowWriter, rowWriter, updateWriter } from './row-codec.ts';
import { DEBIT_TYPE, type RowType, rowTypeOf } from './row-types.ts';
import { columnsOf } from './tables.ts';
import { type Layout, layoutOf } from './wire.ts';

/** The keys of losers are `shard id`; this is the same text in SQL. */
const KEY = "shard::text || ' ' || id";

/** A statement of the commit path and how its rows are written. */
export interface Shape {
  readonly statement: Statement;
  /** Writes a row; for an update's shape, the whole update with its guard. */
  readonly write: RowWriter;
  /** Batches send their statements in this order, so that all processes lock in one order. */
  readonly order: string;
  /** The table whose rows it locks one after the other, if it is an update. */
  readonly updates?: TableName;
}

/** Versioned tables begin with these columns, and a guard is a row of them. */
const GUARD: readonly Column[] = [
  { name: 'shard', type: 'int2' },
  { name: 'id', type: 'text' },
  { name: 'version', type: 'int4' },
];

/** The fields of a guard; an update's own columns follow in the same row. */
const UPDATE_KEY_FIELDS = layoutOf(GUARD, new Set(GUARD.map(({ name }) => name))).fields;

/** Deletes rows by shard and id. It cannot lose: a row that is gone already is ignored. */
export function removeShape(table: TableName): Shape {
  const text = `with v as materialized (select * from ${rows(rowTypeOf(table))})
delete from ${table} t using v where t.shard = v.shard and t.id = v.id`;
  const layout = layoutOf(columnsOf(table), new Set(['shard', 'id']));
  return { statement: { name: `remove_${table}`, text }, write: rowWriter(layout), order: `1 ${table}` };
}

/**
 * Sessions are locked first. Statements are ordered by their column sets, so two changes that pay the same session by different
 * payments could lock those payments in opposite order and deadlock; a change that waits for the session holds neither.
 */
function lockRank(table: TableName): 0 | 1 {
  return table === 'session' ? 0 : 1;
}

/**
 * Locks the rows that several statements of a batch will update, in one order. Otherwise two batches could update the same rows
 * in different statements, in opposite order, and deadlock until the server notices, which takes a second. The order is the
 * same whether the plan follows the input or the key's index: rows are given by shard and id, and ids are collated "C".
 */
export function lockShape(table: TableName): Shape {
  const text = `with v as materialized (select * from ${rows(rowTypeOf(table))}),
held as materialized (select t.id from v join ${table} t on t.shard = v.shard and t.id = v.id for no key update of t)
select count(*) from held`;
  const layout = layoutOf(columnsOf(table), new Set(['shard', 'id']));
  return {
    statement: { name: `lock_${table}`, text },
    write: rowWriter(layout),
    order: `2 ${lockRank(table)} ${table}`,
  };
}

/** Updates guarded rows; `number` tells this set of columns from the table's other sets. */
export function updateShape(table: TableName, columns: readonly Column[], number: number): Shape {
  if (!GUARD.every(({ name }, at) => columnsOf(table)[at]?.name === name)) throw new Error(`${table} begins otherwise`);
  const sets = ['version = t.version + 1', ...columns.map(({ name }) => `${name} = v.${name}`)].join(', ');
  const text = `with v as materialized (select * from ${rows(rowTypeOf(table))}),
done as (update ${table} t set ${sets} from v
  where t.shard = v.shard and t.id = v.id and t.version = v.version returning t.shard, t.id)
${loserTest(table)}`;
  const layout = layoutOf(columnsOf(table), new Set(columns.map(({ name }) => name)), GUARD.length);
  return {
    statement: { name: `update_${table}_${number}`, text, writes: true },
    write: updateWriter(UPDATE_KEY_FIELDS, layout),
    order: `2 ${lockRank(table)} ${table} ${number}`,
    updates: table,
  };
}

/** Inserts rows; a row that exists already loses. */
export function claimShape(table: TableName): Shape {
  const { names, layout } = wholeRow(table);
  const text = `with v as materialized (select * from ${rows(rowTypeOf(table))}),
done as (insert into ${table} (${names}) select ${names} from v on conflict do nothing returning shard, id)
${loserTest(table)}`;
  return { statement: { name: `claim_${table}`, text, writes: true }, write: rowWriter(layout), order: `3 ${table}` };
}

/** Inserts rows that must not exist: one that does is an error. */
export function insertShape(table: TableName): Shape {
  const { names, layout } = wholeRow(table);
  const text = `insert into ${table} (${names}) select ${names} from ${rows(rowTypeOf(table))}`;
  return { statement: { name: `insert_${table}`, text }, write: rowWriter(layout), order: `4 ${table}` };
}

const TRANSFER = wholeRow('ledger_transfer');

/** Inserts transfers. One into a day that is closed or being closed is an error (`DAY_CLOSED`), and nothing is written. */
export const TRANSFER_SHAPE: Shape = {
  statement: {
    name: 'insert_ledger_transfer',
    text: `with v as materialized (select * from ${rows(rowTypeOf('ledger_transfer'))}),
fence as materialized (select may_transfer(min(at)) as open from v)
insert into ledger_transfer (${TRANSFER.names}) select ${TRANSFER.names} from v, fence where fence.open`,
  },
  write: rowWriter(TRANSFER.layout),
  order: '4 ledger_transfer',
};

function wholeRow(table: TableName): { readonly names: string; readonly layout: Layout } {
  const names = columnsOf(table).map(({ name }) => name);
  return { names: names.join(', '), layout: layoutOf(columnsOf(table), new Set(names)) };
}

/**
 * One change's debit of one floored account; `n` is the change's number in the batch. An amount of zero only locks: the accounts
 * that the batch will credit are listed so.
 */
export interface Debit {
  readonly n: number;
  readonly shard: number;
  readonly id: string;
  readonly currency: string;
  readonly amount: bigint;
}

/**
 * Debits accounts that may not go below zero. Changes are served in order as long as the balance covers their running sum; a
 * change that exceeds it loses. An account that has never been used holds nothing. A currency that is not the account's becomes
 * null, which the column refuses: a rule that mixes currencies must not pass.
 *
 * All accounts of the batch are locked here in one order: otherwise two committers, each debiting an account that the other
 * then credits, would deadlock until the server notices, which takes a second.
 *
 * The new balance is computed from the locked row. The updated row's own value would be the statement's snapshot from before it
 * waited for the lock, and the floor's CHECK could refuse that.
 */
export const DEBIT_SHAPE: Shape = {
  statement: {
    name: 'debit_account',
    text: `with v as materialized (select * from ${rows(DEBIT_TYPE)}),
need as materialized (select shard, id, sum(amount) as total, min(currency) as least, max(currency) as greatest
  from v group by shard, id order by shard, id collate "C"),
held as materialized (select a.shard, a.id, a.balance, need.total, need.least, need.greatest
  from need join account a on a.shard = need.shard and a.id = need.id for update of a),
done as (update account t set balance = held.balance - held.total,
    currency = case when held.least = t.currency and held.greatest = t.currency then t.currency end
  from held where held.total > 0 and t.shard = held.shard and t.id = held.id and held.balance >= held.total
  returning t.id)
select lost('floor', array(select distinct r.n::text from (
    select v.n, v.amount, held.balance - sum(v.amount) over (partition by v.shard, v.id order by v.n) as rest
    from v left join held on held.shard = v.shard and held.id = v.id) r
  where r.amount > 0 and (r.rest is null or r.rest < 0)))
where (select count(*) from done) < (select count(*) from need where total > 0)`,
  },
  write: rowWriter(layoutOf(DEBIT_TYPE.columns, new Set(DEBIT_TYPE.columns.map(({ name }) => name)))),
  order: '5 account',
};

/**
 * Adds everything else that a batch moves, one row per account, and opens accounts at their first use. It comes last, so that
 * accounts shared by many changes are locked for the shortest time.
 */
export const BALANCE_SHAPE: Shape = {
  statement: {
    name: 'balance_account',
    text: `insert into account as t (shard, id, currency, balance, floored)
select shard, id, currency, balance, floored from ${rows(rowTypeOf('account'))}
on conflict (shard, id) do update set balance = t.balance + excluded.balance,
  currency = case when t.currency = excluded.currency then t.currency end`,
  },
  write: rowWriter(wholeRow('account').layout),
  order: '6 account',
};

function rows({ name }: RowType): string {
  return `unnest($1::${name}[])`;
}

function loserTest(table: TableName): string {
  return `select lost('${table}', array(select ${KEY} from v except select ${KEY} from done))
where (select count(*) from done) < (select count(*) from v)`;
}
