/**
 * Moves final, old rows into the archive, some at a time.
 *
 * Invariant: one statement deletes a row here and inserts it there, and rows that belong together move in one transaction: a
 * process that dies midway has moved nothing. Rows that another transaction has locked are never waited for, and rows that this
 * one has locked are checked once more before they leave.
 */

import pg from 'pg';
import { firstIdAt } from '../domain/ids.ts';
import { GROUPS, type Group } from './archive-groups.ts';
import { type ArchivedTable, hasMonth, makeMonth, monthIn, monthSource } from './archive-tables.ts';
import { listOf } from './columns.ts';
import { codeOf, LOCKED } from './errors.ts';
import { beginningWith } from './session-settings.ts';
import { columnsOf } from './tables.ts';
import { inTransaction } from './transaction.ts';
import { instantParameter } from './wire.ts';

/** How many rows of each table left. */
export type Moved = ReadonlyMap<ArchivedTable, number>;

/** A part of a group: the next roots of one shard. */
export interface Slice {
  readonly shard: number;
  /** The last root of the slice before; empty for the first slice. */
  readonly after: string;
  /** Roots must have been final before this instant, milliseconds. */
  readonly cutoff: number;
}

export interface SliceMoved {
  readonly moved: Moved;
  /** The last root that was examined; undefined: there are no more in this shard. */
  readonly reached: string | undefined;
  /** Another transaction held a row, so rows that could have left stayed. */
  readonly busy: boolean;
}

/** A dry run of one shard: the ids of the roots that would have left so far. */
export type WouldLeave = Set<string>;

export interface Archiver {
  /** Moves the roots of a slice that may leave; in a dry run (with `wouldLeave`) it only counts them, and adds them to that set. */
  slice(group: Group, slice: Slice, wouldLeave: WouldLeave | undefined): Promise<SliceMoved>;
  close(): Promise<void>;
}

/** How many roots a slice examines. With all that belongs to them it takes about a tenth of a second. */
const ROOTS_PER_SLICE = 200;
const ids = (rows: readonly { readonly id: string }[]): string[] => rows.map(({ id }) => id);

/** Opens a connection of its own, which may take its time without blocking others. */
export async function connectArchiver(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...beginningWith(url, ['TimeZone=UTC', 'DateStyle=ISO', 'statement_timeout=60s', 'lock_timeout=2s', 'jit=off']),
    application_name: 'mbongo archive',
  });
  client.on('error', () => undefined); // The query that was under way reports it.
  await client.connect();
  return client;
}

/** Connects to the database of that URL. The caller must close the archiver. */
export async function openArchiver(url: string): Promise<Archiver> {
  const client = await connectArchiver(url);
  return {
    async slice(group, slice, wouldLeave) {
      const task: Task = { client, group, slice, wouldLeave };
      const { seen, fits } = await nextRoots(task);
      const reached = seen.length < ROOTS_PER_SLICE ? undefined : seen.at(-1);
      const roots = fits.length === 0 ? [] : await withCompanions(task, fits);
      if (roots.length === 0) return { moved: new Map(), reached, busy: false };
      if (wouldLeave !== undefined) return { moved: await count(task, roots, wouldLeave), reached, busy: false };
      try {
        await makeMonths(task, roots);
        const moved = await inTransaction(client, 'archive', () => move(task, roots));
        return { moved, reached, busy: false };
      } catch (error) {
        if (codeOf(error) !== LOCKED) throw error;
        return { moved: new Map(), reached, busy: true };
      }
    },
    close: () => client.end(),
  };
}

/** What one call of `slice` is about. */
interface Task {
  readonly client: pg.ClientBase;
  readonly group: Group;
  readonly slice: Slice;
  /** The roots that would have left; undefined: this is no dry run. */
  readonly wouldLeave: WouldLeave | undefined;
}

/** A root as it was read: in a dry run, `first` are the roots that would have to leave before it. */
interface RootSeen {
  readonly id: string;
  readonly fits: boolean | null;
  readonly first: readonly string[] | null;
}

/** SQL: the columns of `RootSeen`. A dry run finds roots that only would have left, so it cannot ask whether they are there. */
function seenSql({ finalSql, firstSql }: Group, isDry: boolean): string {
  if (firstSql === undefined) return `t.id, ${finalSql} as fits, null::text[] as first`;
  if (!isDry) return `t.id, (${finalSql}) and not exists (${firstSql}) as fits, null::text[] as first`;
  return `t.id, ${finalSql} as fits, array(${firstSql}) as first`;
}

/** The roots that may leave; in a dry run also because others would have left, and each once. */
function leavingOf(rows: readonly RootSeen[], wouldLeave: WouldLeave | undefined): string[] {
  const leaving = rows.filter(({ fits, first }) => fits === true && (first ?? []).every((id) => wouldLeave?.has(id)));
  return ids(wouldLeave === undefined ? leaving : leaving.filter(({ id }) => !wouldLeave.has(id)));
}

/** The next roots, and which of them may leave. Ids sort by time: roots that are too young are not read. */
async function nextRoots({
  client,
  group,
  slice,
  wouldLeave,
}: Task): Promise<{ readonly seen: readonly string[]; readonly fits: readonly string[] }> {
  const { root, prefix } = group;
  const { shard, after, cutoff } = slice;
  const found = await client.query<RootSeen>(
    `select ${seenSql(group, wouldLeave !== undefined)} from ${root} t
     where t.shard = $1 and t.id > $2 and t.id < $4 order by t.id limit ${ROOTS_PER_SLICE}`,
    [shard, after, instantParameter(cutoff), firstIdAt(prefix, cutoff)],
  );
  return { seen: ids(found.rows), fits: leavingOf(found.rows, wouldLeave) };
}

/** The roots, with all those that may only leave together with them, as far as they may leave. */
async function withCompanions(task: Task, roots: readonly string[]): Promise<string[]> {
  const { client, group, slice } = task;
  if (group.togetherSql === undefined) return [...roots];
  const found = await client.query<{ id: string }>(group.togetherSql, [slice.shard, roots]);
  return stillFinal(task, ids(found.rows));
}

/** Those of the roots that may leave as everything is now. */
async function stillFinal({ client, group, slice, wouldLeave }: Task, roots: readonly string[]): Promise<string[]> {
  const found = await client.query<RootSeen>(
    `select ${seenSql(group, wouldLeave !== undefined)} from ${group.root} t where t.shard = $1 and t.id = any($2::text[])`,
    [slice.shard, roots, instantParameter(slice.cutoff)],
  );
  return leavingOf(found.rows, wouldLeave);
}

/** Tables whose rows are roots of a group, and may be members of another group as well. */
const ROOT_TABLES: ReadonlySet<string> = new Set(GROUPS.map(({ root }) => root));

/** Counts what would leave with the roots; a member that would have left before, as a root of its own, is not counted again. */
async function count({ client, group, slice }: Task, roots: readonly string[], wouldLeave: WouldLeave): Promise<Moved> {
  const counts = new Map<ArchivedTable, number>();
  for (const { table, key, keys } of group.members) {
    const from = `from ${table} t where t.shard = $1 and t.${key} = any(${keys})`;
    if (ROOT_TABLES.has(table)) {
      const found = await client.query<{ id: string }>(`select t.id ${from}`, [slice.shard, roots]);
      add(counts, table, ids(found.rows).filter((id) => !wouldLeave.has(id)).length);
    } else {
      const found = await client.query<{ count: string }>(`select count(*) ${from}`, [slice.shard, roots]);
      add(counts, table, Number(found.rows[0]?.count));
    }
  }
  for (const root of roots) wouldLeave.add(root);
  return counts;
}

/**
 * Makes the tables of the months in which the roots and their members lie, before anything moves: each in a transaction of its
 * own, so that readers wait for one table at a time, and for none while rows are moved.
 */
async function makeMonths(task: Task, roots: readonly string[]): Promise<void> {
  const { client, group } = task;
  await demandKnownColumns(client, group);
  for (const member of group.members) {
    for (const month of await monthsOf(task, member, roots)) {
      if (await hasMonth(client, member.table, month)) continue;
      await inTransaction(client, 'archive', () => makeMonth(client, member.table, month));
    }
  }
}

/** The months in which the roots' rows of one table lie. `locked` is a locking clause for these rows. */
async function monthsOf(
  { client, slice }: Task,
  { table, key, keys }: Group['members'][number],
  roots: readonly string[],
  locked = '',
): Promise<ReadonlySet<string>> {
  const found = await client.query<{ source: string }>(
    `select ${monthSource(table, 't')} as source from ${table} t
     where t.shard = $1 and t.${key} = any(${keys}) ${locked}`,
    [slice.shard, roots],
  );
  return new Set(found.rows.map(({ source }) => monthIn(table, source)));
}

async function move(task: Task, found: readonly string[]): Promise<Moved> {
  const { client, group, slice } = task;
  const locked = await lock(task, found);
  await demandKnownColumns(client, group);
  // A row added since may lie in another month, and a month may have been dropped.
  for (const [table, months] of locked) {
    for (const month of months) await makeMonth(client, table, month);
  }
  const moved = new Map<ArchivedTable, number>();
  const roots = await stillFinal(task, found);
  // Roots that may only leave together never leave in part.
  if (roots.length === 0 || (group.togetherSql !== undefined && roots.length < found.length)) return moved;
  for (const { table, key, keys } of group.members) {
    const columns = listOf(columnsOf(table));
    const done = await client.query(
      `with gone as (
         delete from ${table} t where t.shard = $1 and t.${key} = any(${keys}) returning ${listOf(columnsOf(table), 't')})
       insert into archive.${table} (${columns}) select ${columns} from gone`,
      [slice.shard, roots],
    );
    add(moved, table, done.rowCount ?? 0);
  }
  return moved;
}

/** Locks every row that may leave, or fails at once; returns the months in which these rows lie. */
async function lock(task: Task, roots: readonly string[]) {
  const months = new Map<ArchivedTable, ReadonlySet<string>>();
  // The roots first: a change to a member also changes its root, or holds the next lock.
  for (const member of task.group.members.toReversed()) {
    months.set(member.table, await monthsOf(task, member, roots, 'for update nowait'));
  }
  return months;
}

/**
 * A newer schema may have columns that this program does not know, and would leave behind. The locks that are held keep any
 * further migration of these tables waiting.
 *
 * @throws Error that says what to do
 */
async function demandKnownColumns(client: pg.ClientBase, { members }: Group): Promise<void> {
  const known = new Map(
    members.flatMap(({ table }) => [table, `archive.${table}`].map((name) => [name, columnsOf(table).length] as const)),
  );
  const found = await client.query<{ name: string; columns: number }>(
    `select n.name, (select count(*)::int4 from pg_attribute a
       where a.attrelid = to_regclass(n.name) and a.attnum > 0 and not a.attisdropped) as columns
     from unnest($1::text[]) as n(name)`,
    [[...known.keys()]],
  );
  if (found.rows.every(({ name, columns }) => columns === known.get(name))) return;
  throw new Error('the database is of another version than this program: run `mbongo archive` of the newest version');
}

function add(counts: Map<ArchivedTable, number>, table: ArchivedTable, rows: number): void {
  counts.set(table, (counts.get(table) ?? 0) + rows);
}
