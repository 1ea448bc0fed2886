/**
 * The archive's months: what lies in them, and dropping them.
 *
 * Invariant: months are dropped oldest first, each whole and together with a record of where the ledger now begins, so that the
 * remaining lines always add up, from the balances with which their first day opened.
 */

import type pg from 'pg';
import { monthsLater, startOfMonth } from '../domain/archive.ts';
import { dayOf } from '../domain/day.ts';
import { firstIdAt } from '../domain/ids.ts';
import type { JournalEntry } from '../domain/records.ts';
import { CLOSED_UNTIL } from './account-days.ts';
import { lateSql } from './archive-groups.ts';
import { connectArchiver } from './archive-move.ts';
import { ARCHIVED_TABLES, type ArchivedTable, monthTable, monthTableIn } from './archive-tables.ts';
import { codeOf, LOCKED } from './errors.ts';
import { SESSION_SPAN_MS } from './late-reads.ts';
import { raiseSetting } from './setting-sql.ts';
import { inTransaction } from './transaction.ts';
import { instantParameter } from './wire.ts';

/** The setting (in shard 0) that names the first day whose ledger lines are kept; absent if none have been dropped. */
export const LEDGER_BEGINS = 'ledger_begins';

/** A table of one month. */
export interface MonthTable {
  readonly table: ArchivedTable;
  readonly rows: number;
  /** On disk, with its indexes. */
  readonly bytes: bigint;
}

export interface Month {
  readonly month: string;
  readonly tables: readonly MonthTable[];
}

/** Why a month was not dropped. */
export type NotDropped =
  | { readonly kind: 'unknown' }
  /** An older month is still there. */
  | { readonly kind: 'older'; readonly month: string }
  /** Ledger lines of that time are still in the live table. */
  | { readonly kind: 'live_lines' }
  /** Some of its ledger lines lie on days that are not closed, so no balances could take their place. */
  | { readonly kind: 'open_days' }
  /** Late money of that time's payments waits for a person, who has to see what else has paid their orders. */
  | { readonly kind: 'late_money'; readonly attempts: number }
  /** A reader is using the archive just now. */
  | { readonly kind: 'busy' };

export type Dropped = { readonly kind: 'dropped'; readonly month: Month } | NotDropped;

/** Whether a month can be dropped, as everything is now. */
export type Droppable = { readonly kind: 'droppable'; readonly month: Month } | NotDropped;

/** The archive's months, the oldest first. Counts every row. */
export async function listMonths(url: string): Promise<Month[]> {
  const client = await connectArchiver(url);
  try {
    return await readMonths(client);
  } finally {
    await client.end();
  }
}

/** Whether the month could be dropped now, for the same reasons as `dropMonth`. Nothing is changed. */
export async function examineMonth(url: string, month: string): Promise<Droppable> {
  const client = await connectArchiver(url);
  try {
    return await examine(client, month);
  } finally {
    await client.end();
  }
}

/** Drops the oldest month, if it is the one named, and keeps `entry` in the journal. */
export async function dropMonth(url: string, month: string, entry?: JournalEntry): Promise<Dropped> {
  const client = await connectArchiver(url);
  try {
    return await inTransaction(client, 'archive', async () => {
      const dropped = await drop(client, month);
      if (dropped.kind === 'dropped' && entry !== undefined) await keep(client, entry);
      return dropped;
    });
  } catch (error) {
    if (codeOf(error) === LOCKED) return { kind: 'busy' };
    throw error;
  } finally {
    await client.end();
  }
}

async function keep(client: pg.ClientBase, entry: JournalEntry): Promise<void> {
  const { shard, id, version, verb, said_by, why, about, created_at } = entry;
  await client.query(
    `insert into journal (shard, id, version, verb, said_by, why, about, created_at)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8)`,
    [shard, id, version, verb, said_by, why, JSON.stringify(about), instantParameter(created_at)],
  );
}

async function examine(client: pg.ClientBase, wanted: string): Promise<Droppable> {
  const names = await monthTables(client);
  const months = [...new Set(names.map(({ month }) => month))].toSorted();
  if (!months.includes(wanted)) return { kind: 'unknown' };
  const [oldest] = months;
  if (oldest !== undefined && oldest !== wanted) return { kind: 'older', month: oldest };
  const next = startAfter(wanted);
  const begins = instantParameter(next);
  // Lines leave the live table only once their days are closed, so this comes first: archiving again would not help.
  for (const table of ['ledger_transfer', 'archive.ledger_transfer']) {
    const open = `select from ${table}
    where at < $1::timestamptz and at >= coalesce(${CLOSED_UNTIL}, '-infinity') limit 1`;
    if ((await client.query(open, [begins])).rowCount !== 0) return { kind: 'open_days' };
  }
  const live = await client.query('select from ledger_transfer where at < $1::timestamptz limit 1', [begins]);
  if (live.rowCount !== 0) return { kind: 'live_lines' };
  const attempts = await countLate(client, next);
  if (attempts > 0) return { kind: 'late_money', attempts };
  const tables = names.filter(({ month }) => month === wanted);
  return { kind: 'droppable', month: await readMonth(client, wanted, tables) };
}

/** The instant (ms) with which the month after this one begins. */
function startAfter(month: string): number {
  return startOfMonth(monthsLater(month, 1));
}

async function drop(client: pg.ClientBase, wanted: string): Promise<Dropped> {
  const examined = await examine(client, wanted);
  if (examined.kind !== 'droppable') return examined;
  const { month } = examined;
  await client.query(
    `drop table ${month.tables.map(({ table }) => `archive.${monthTable(table, wanted)}`).join(', ')}`,
  );
  await client.query(raiseSetting('$1', '$2'), [LEDGER_BEGINS, dayOf(startAfter(wanted))]);
  return { kind: 'dropped', month };
}

/** Counts the attempts whose late money waits, of orders that may have begun before this instant. */
async function countLate(client: pg.ClientBase, before: number): Promise<number> {
  const found = await client.query<{ count: string }>(
    `select count(*) from attempt a where ${lateSql('a')} and a.id < $1`,
    [firstIdAt('att', before + SESSION_SPAN_MS)],
  );
  return Number(found.rows[0]?.count);
}

type TableOfMonth = { readonly table: ArchivedTable; readonly month: string };

async function monthTables(client: pg.ClientBase): Promise<TableOfMonth[]> {
  const found = await client.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = any($1::regclass[]::oid[]) order by c.relname`,
    [ARCHIVED_TABLES.map((table) => `archive.${table}`)],
  );
  return found.rows.flatMap(({ name }) => monthTableIn(name) ?? []);
}

async function readMonths(client: pg.ClientBase): Promise<Month[]> {
  const tables = await monthTables(client);
  const months = [...new Set(tables.map(({ month }) => month))].toSorted();
  const read: Month[] = [];
  for (const month of months) {
    const own = tables.filter((table) => table.month === month);
    read.push(await readMonth(client, month, own));
  }
  return read;
}

async function readMonth(client: pg.ClientBase, month: string, own: readonly TableOfMonth[]): Promise<Month> {
  const tables: MonthTable[] = [];
  for (const { table } of own) {
    const name = `archive.${monthTable(table, month)}`;
    const found = await client.query<{ rows: string; bytes: string }>(
      `select count(*) as rows, pg_total_relation_size('${name}') as bytes from ${name}`,
    );
    const [counted] = found.rows;
    tables.push({ table, rows: Number(counted?.rows), bytes: BigInt(counted?.bytes ?? 0) });
  }
  return { month, tables };
}
