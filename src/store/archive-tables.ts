/**
 * The archive's tables: a partitioned one of each name, with one partition per month.
 *
 * Invariant: a month's table is made whole and attached in one transaction, before the first row is moved into it, so that no
 * table ever holds other rows than its name says, and every reader knows of it in time.
 */

import type pg from 'pg';
import { monthOf, monthsLater, startOfMonth } from '../domain/archive.ts';
import type { TableName } from '../domain/change.ts';
import { firstIdAt, type Prefix, timeOfId } from '../domain/ids.ts';
import { instantParameter } from './wire.ts';

/** The column that tells in which month a row lies: it holds an id with this prefix, or an instant. */
type MonthColumn = { readonly column: string; readonly prefix: Prefix | 'instant' };

/** Every table of the archive. The ones that a merchant reads come first. */
export const ARCHIVED = {
  payment: { column: 'id', prefix: 'txn' },
  payment_history: { column: 'payment_id', prefix: 'txn' },
  attempt: { column: 'id', prefix: 'att' },
  one_time_code: { column: 'id', prefix: 'txn' },
  refund: { column: 'id', prefix: 'rfd' },
  proof: { column: 'id', prefix: 'prf' },
  proof_file: { column: 'id', prefix: 'prf' },
  webhook_event: { column: 'id', prefix: 'evt' },
  webhook_attempt: { column: 'event_id', prefix: 'evt' },
  checkout: { column: 'id', prefix: 'chk' },
  session: { column: 'id', prefix: 'ses' },
  payout_batch: { column: 'id', prefix: 'batch' },
  payout_line: { column: 'id', prefix: 'txn' },
  ledger_transfer: { column: 'at', prefix: 'instant' },
} as const satisfies { readonly [table in TableName]?: MonthColumn };

export type ArchivedTable = keyof typeof ARCHIVED;

export const ARCHIVED_TABLES = Object.keys(ARCHIVED) as readonly ArchivedTable[];

/** SQL for what tells a row's month: an id, or the month itself. */
export function monthSource(table: ArchivedTable, alias: string): string {
  const { column, prefix } = ARCHIVED[table];
  return prefix === 'instant' ? `to_char(${alias}.${column} at time zone 'UTC', 'YYYY-MM')` : `${alias}.${column}`;
}

/** The month that such a source names. */
export function monthIn(table: ArchivedTable, source: string): string {
  return ARCHIVED[table].prefix === 'instant' ? source : monthOf(timeOfId(source));
}

/** The name of a month's table, without its schema. */
export function monthTable(table: ArchivedTable, month: string): string {
  return `${table}_${month.replace('-', '_')}`;
}

/** The parts of the name of a month's table; undefined if it is not one of ours. */
export function monthTableIn(name: string): { readonly table: ArchivedTable; readonly month: string } | undefined {
  const found = /^(.+)_(\d{4})_(\d{2})$/.exec(name);
  const table = ARCHIVED_TABLES.find((known) => known === found?.[1]);
  return table === undefined ? undefined : { table, month: `${found?.[2]}-${found?.[3]}` };
}

/**
 * Makes a month's table if there is none, in the caller's transaction. Readers and this function wait for each other, up to
 * `lock_timeout`: otherwise PostgreSQL may let a session that is just resolving a table's partitions miss one attached at that
 * moment, and keep missing it until the next change; to that connection the month's rows would be in neither place.
 */
export async function makeMonth(client: pg.ClientBase, table: ArchivedTable, month: string): Promise<void> {
  if (await hasMonth(client, table, month)) return;
  const name = monthTable(table, month);
  await client.query(`lock table only archive.${table} in access exclusive mode`);
  const [from, to] = [month, monthsLater(month, 1)].map((bound) => client.escapeLiteral(boundOf(table, bound)));
  await client.query(`create table archive.${name}
    (like archive.${table} including defaults including constraints including indexes including storage)`);
  await client.query(
    `alter table archive.${table} attach partition archive.${name} for values from (${from}) to (${to})`,
  );
}

/** Whether there is a table of that month. */
export async function hasMonth(client: pg.ClientBase, table: ArchivedTable, month: string): Promise<boolean> {
  const name = `archive.${monthTable(table, month)}`;
  const known = await client.query('select from pg_class where oid = to_regclass($1)', [name]);
  return known.rowCount !== 0;
}

function boundOf(table: ArchivedTable, month: string): string {
  const { prefix } = ARCHIVED[table];
  const at = startOfMonth(month);
  return prefix === 'instant' ? instantParameter(at) : firstIdAt(prefix, at);
}
