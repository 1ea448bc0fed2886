/**
 * The SQL of the group commit: one statement a shape (a verb, a table, a set of columns), made from the catalogue.
 *
 * Every statement takes all rows of a batch as one JSON array. One that can lose compares what took effect with what
 * was asked and raises LOST1 with the losers' keys, which rolls the whole batch back. Invariant: rows are locked in the
 * order in which they are given; the losers are found by EXCEPT, because a join back to the rows would become a nested
 * loop under the pinned plan.
 */

import type { TableName } from '../domain/change.ts';
import type { Statement } from './pipeline.ts';
import { type Column, columnsOf } from './tables.ts';
import { type Field, fieldsOf } from './wire.ts';

/** The keys of losers are `shard id`; this is the same text in SQL. */
const KEY = "shard::text || ' ' || id";

/** A statement of the commit path and how its rows are written. */
export interface Shape {
  readonly statement: Statement;
  readonly fields: readonly Field[];
  /** Batches send their statements in this order, so that all processes lock in one order. */
  readonly order: string;
}

const KEY_COLUMNS: readonly Column[] = [
  { name: 'shard', type: 'int2' },
  { name: 'id', type: 'text' },
];

const VERSIONED_KEY: readonly Column[] = [...KEY_COLUMNS, { name: 'version', type: 'int4' }];

/** The fields of an update's key; its columns follow in the same object. */
export const UPDATE_KEY_FIELDS = fieldsOf(VERSIONED_KEY);

export function removeShape(table: TableName): Shape {
  const text = `with v as materialized (${recordset(KEY_COLUMNS)})
delete from ${table} t using v where t.shard = v.shard and t.id = v.id`;
  return { statement: { name: `remove_${table}`, text }, fields: fieldsOf(KEY_COLUMNS), order: `1 ${table}` };
}

/** `number` tells this set of columns from the table's others. */
export function updateShape(table: TableName, columns: readonly Column[], number: number): Shape {
  const sets = ['version = t.version + 1', ...columns.map(({ name }) => `${name} = v.new_${name}`)].join(', ');
  const renamed = columns.map(({ name, type }) => ({ name: `new_${name}`, type }));
  const text = `with v as materialized (${recordset([...VERSIONED_KEY, ...renamed])}),
done as (update ${table} t set ${sets} from v
  where t.shard = v.shard and t.id = v.id and t.version = v.version returning t.shard, t.id)
${loserTest(table)}`;
  const fields = fieldsOf(renamed, VERSIONED_KEY.length).map((field, index) => ({
    ...field,
    name: columns[index]?.name ?? field.name,
  }));
  return { statement: { name: `update_${table}_${number}`, text }, fields, order: `2 ${table} ${number}` };
}

export function claimShape(table: TableName): Shape {
  const columns = columnsOf(table);
  const names = columns.map(({ name }) => name).join(', ');
  const text = `with v as materialized (${recordset(columns)}),
done as (insert into ${table} (${names}) select ${names} from v on conflict do nothing returning shard, id)
${loserTest(table)}`;
  return { statement: { name: `claim_${table}`, text }, fields: fieldsOf(columns), order: `3 ${table}` };
}

export function insertShape(table: TableName): Shape {
  const columns = columnsOf(table);
  const names = columns.map(({ name }) => name).join(', ');
  const text = `insert into ${table} (${names}) select ${names} from (${recordset(columns)}) v`;
  return { statement: { name: `insert_${table}`, text }, fields: fieldsOf(columns), order: `4 ${table}` };
}

/**
 * What one change takes from one floored account; `n` numbers the changes of the batch. An amount of zero only locks: so
 * are the accounts named that the batch will credit.
 */
export interface Debit {
  readonly n: number;
  readonly shard: number;
  readonly id: string;
  readonly currency: string;
  readonly amount: bigint;
}

const DEBIT_COLUMNS: readonly Column[] = [
  { name: 'n', type: 'int4' },
  ...KEY_COLUMNS,
  { name: 'currency', type: 'text' },
  { name: 'amount', type: 'int8' },
];

/**
 * Takes from accounts that may not go below zero. Changes are served in their order while the running sum lasts; a
 * change from which on it does not, loses. An account that was never named holds nothing. A currency that is not
 * the account's becomes null, which the column refuses: a rule that mixes currencies must not pass.
 *
 * All accounts of the batch are locked here in one order: two committers that each took from an account which the
 * other one then credited would stand in each other's way for a second, until the server saw it.
 *
 * The new balance is made from the locked row's: from the updated row's own it would first be made from what the
 * statement saw before it waited for the lock, and the floor's CHECK would refuse that.
 */
export const DEBIT_SHAPE: Shape = {
  statement: {
    name: 'debit_account',
    text: `with v as materialized (${recordset(DEBIT_COLUMNS)}),
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
  fields: fieldsOf(DEBIT_COLUMNS),
  order: '5 account',
};

/**
 * Adds what a batch moves in all the rest, one row an account, and opens accounts at their first use. It comes last:
 * the accounts many changes share are locked for the shortest time.
 */
export const BALANCE_SHAPE: Shape = {
  statement: {
    name: 'balance_account',
    text: `insert into account as t (shard, id, currency, balance, floored)
select shard, id, currency, balance, floored from (${recordset(columnsOf('account'))}) v
on conflict (shard, id) do update set balance = t.balance + excluded.balance,
  currency = case when t.currency = excluded.currency then t.currency end`,
  },
  fields: fieldsOf(columnsOf('account')),
  order: '6 account',
};

function recordset(columns: readonly Column[]): string {
  const list = columns.map(({ name, type }) => `${name} ${type}`).join(', ');
  return `select * from jsonb_to_recordset($1::jsonb) as x(${list})`;
}

function loserTest(table: TableName): string {
  return `select lost('${table}', array(select ${KEY} from v except select ${KEY} from done))
where (select count(*) from done) < (select count(*) from v)`;
}
