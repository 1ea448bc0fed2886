/**
 * The reads of `doctor`: the database itself, receivers that do not acknowledge their webhooks, and dead webhooks.
 *
 * Invariant: it reads a bounded number of rows, by indexes that the rounds and lists use.
 */

import { columnList } from './columns.ts';
import { IN_EACH_SHARD } from './each-shard.ts';
import { StoreRefused } from './errors.ts';
import type { Statement } from './pipeline.ts';
import type { Readers } from './read.ts';
import { STALLED } from './stall.ts';
import { MAX_WATCHED } from './watch-reads.ts';

export interface Server {
  /** PostgreSQL's version number: 180000 for 18.0. */
  readonly version: number;
  /** Bytes. */
  readonly size: number;
  /** Those settings that are off without which a commit that was acknowledged may be lost when the server crashes. */
  readonly unsafe: readonly string[];
  /** How many commits of the gateway wait for a synchronous standby; undefined: this role may not look. */
  readonly stalled: number | undefined;
  /** The replication slots that hold back most write-ahead log, at most twenty; undefined: this role may not look. */
  readonly slots: readonly Slot[] | undefined;
  /** The names of the migrations that have been applied, in their order. */
  readonly migrations: readonly string[];
}

/** A replication slot: the server keeps its write-ahead log until the slot's reader has read it. */
export interface Slot {
  readonly name: string;
  /** Whether its reader is connected. */
  readonly isActive: boolean;
  /** Bytes of write-ahead log that are kept for it. */
  readonly held: number;
}

const SERVER: Statement = {
  name: 'server',
  text: `select current_setting('server_version_num')::int4, pg_database_size(current_database())::text,
  (select string_agg(name, ' ' order by name) from schema_migration),
  (select string_agg(name, ' ' order by name) from pg_settings
   where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off')`,
};

interface ServerRow {
  readonly version: number;
  readonly size: string;
  /** Separated by spaces; null: there are none. */
  readonly migrations: string | null;
  /** Separated by spaces, too; null: there are none. */
  readonly unsafe: string | null;
}

const SERVER_COLUMNS = columnList<ServerRow>({
  version: 'int4',
  size: 'text',
  migrations: 'text',
  unsafe: 'text',
});

const STALLED_COUNT: Statement = { name: 'stalled_count', text: `select count(*)::int4 ${STALLED}` };
const COUNT_COLUMNS = columnList<{ readonly count: number }>({ count: 'int4' });

const MAX_SLOTS = 20;

/**
 * A standby, which writes no log of its own, is asked for what it has received. For a slot that has been invalidated ("lost") nothing
 * is kept, though PostgreSQL 16 and newer still say where it stood.
 */
const SLOTS: Statement = {
  name: 'replication_slots',
  text: `select slot_name::text, active, pg_wal_lsn_diff(
    case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end, restart_lsn)::text as held
from pg_replication_slots where restart_lsn is not null and wal_status <> 'lost'
order by restart_lsn limit ${MAX_SLOTS}`,
};

interface SlotRow {
  readonly slot_name: string;
  readonly active: boolean;
  readonly held: string | null;
}

const SLOT_COLUMNS = columnList<SlotRow>({ slot_name: 'text', active: 'bool', held: 'text' });

/** SQLSTATE: the role lacks a privilege. */
const NOT_PERMITTED = '42501';

/** What is read, or undefined where this role may not. */
function ifPermitted<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (error instanceof StoreRefused && error.code === NOT_PERMITTED) return undefined;
    throw error;
  });
}

/** Version and size of the database, its migrations, and what its replication holds up. */
export async function readServer(readers: Readers): Promise<Server> {
  const [[row], stalled, slots] = await Promise.all([
    readers.query(SERVER, SERVER_COLUMNS, []),
    ifPermitted(readers.query(STALLED_COUNT, COUNT_COLUMNS, [])),
    ifPermitted(readers.query(SLOTS, SLOT_COLUMNS, [])),
  ]);
  return {
    version: Number(row?.version),
    size: Number(row?.size),
    migrations: row?.migrations?.split(' ') ?? [],
    unsafe: row?.unsafe?.split(' ') ?? [],
    stalled: stalled?.[0]?.count,
    slots: slots?.map(({ slot_name, active, held }) => ({ name: slot_name, isActive: active, held: Number(held) })),
  };
}

/** A receiver that has not acknowledged events that still wait. */
export interface FailingReceiver {
  /** Scheme, host and port. */
  readonly origin: string;
  /** How many events that were tried wait for it. */
  readonly count: number;
  /** The error of the last try. */
  readonly lastError: string | null;
}

/** How many receivers are listed. */
const MAX_RECEIVERS = 20;

export const FAILING_RECEIVERS: Statement = {
  name: 'failing_receivers',
  text: `select origin, count(*)::int4, (array_agg(last_error order by next_at desc))[1]
${IN_EACH_SHARD} (
  select split_part(url, '/', 1) || '//' || split_part(url, '/', 3) as origin, last_error, next_at from (
    select url, attempts, last_error, next_at from webhook_event
    where shard = s.shard::int2 and status = 'waiting' order by next_at limit ${MAX_WATCHED}) e
  where attempts > 0) d
group by origin order by count(*) desc, origin limit ${MAX_RECEIVERS}`,
};

interface FailingRow {
  readonly origin: string;
  readonly count: number;
  readonly last_error: string | null;
}

const FAILING_COLUMNS = columnList<FailingRow>({ origin: 'text', count: 'int4', last_error: 'text' });

/** Receivers that do not acknowledge their webhooks, those with the most waiting events first: twenty at most. */
export async function readFailingReceivers(readers: Readers): Promise<FailingReceiver[]> {
  const rows = await readers.query(FAILING_RECEIVERS, FAILING_COLUMNS, []);
  return rows.map(({ origin, count, last_error }) => ({ origin, count, lastError: last_error }));
}

/** The events that are dead: every try has failed, and no further one follows. */
export interface DeadEvents {
  readonly count: number;
  /** When the newest of them was made, ms; null: there are none. */
  readonly newest: number | null;
}

/** Each shard's newest dead events. Those whose receiver answered 410 have another status. */
export const DEAD_EVENTS: Statement = {
  name: 'dead_events',
  text: `select count(*)::int4, max(created_at)
${IN_EACH_SHARD} (
  select created_at from webhook_event
  where shard = s.shard::int2 and status = 'dead' order by id desc limit ${MAX_WATCHED}) d`,
};

const DEAD_COLUMNS = columnList<DeadEvents>({ count: 'int4', newest: 'timestamptz' });

/** Counts the dead events, at most 256 of each shard. */
export async function readDeadEvents(readers: Readers): Promise<DeadEvents> {
  const [row] = await readers.query(DEAD_EVENTS, DEAD_COLUMNS, []);
  return row ?? { count: 0, newest: null };
}
