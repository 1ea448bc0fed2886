/**
 * The reads of `doctor`: the database itself, and receivers that do not acknowledge their webhooks.
 *
 * Invariant: it reads a bounded number of rows, by the indexes that the rounds use.
 */

import { SHARDS } from '../domain/ids.ts';
import { columnList } from './columns.ts';
import type { Statement } from './pipeline.ts';
import type { Readers } from './read.ts';
import { STALLED } from './stall.ts';
import { MOST_WATCHED } from './watch-reads.ts';

export interface Server {
  /** PostgreSQL's version number: 180000 for 18.0. */
  readonly version: number;
  /** Bytes. */
  readonly size: number;
  /** Those settings that are off without which a commit that was acknowledged may be lost when the server crashes. */
  readonly unsafe: readonly string[];
  /** How many commits of the gateway wait for a synchronous standby. */
  readonly stalled: number;
  /** The names of the migrations that have been applied, in their order. */
  readonly migrations: readonly string[];
}

const SERVER: Statement = {
  name: 'server',
  text: `select current_setting('server_version_num')::int4, pg_database_size(current_database())::text,
  (select string_agg(name, ' ' order by name) from schema_migration),
  (select string_agg(name, ' ' order by name) from pg_settings
   where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'),
  (select count(*)::int4 ${STALLED})`,
};

interface ServerRow {
  readonly version: number;
  readonly size: string;
  /** Separated by spaces; null: there are none. */
  readonly migrations: string | null;
  /** Separated by spaces, too; null: there are none. */
  readonly unsafe: string | null;
  readonly stalled: number;
}

const SERVER_COLUMNS = columnList<ServerRow>({
  version: 'int4',
  size: 'text',
  migrations: 'text',
  unsafe: 'text',
  stalled: 'int4',
});

/** Version and size of the database, and its migrations. */
export async function readServer(readers: Readers): Promise<Server> {
  const [row] = await readers.query(SERVER, SERVER_COLUMNS, []);
  return {
    version: Number(row?.version),
    size: Number(row?.size),
    migrations: row?.migrations?.split(' ') ?? [],
    unsafe: row?.unsafe?.split(' ') ?? [],
    stalled: Number(row?.stalled),
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
const MOST_RECEIVERS = 20;

export const FAILING_RECEIVERS: Statement = {
  name: 'failing_receivers',
  text: `select origin, count(*)::int4, (array_agg(last_error order by next_at desc))[1]
from generate_series(0, ${SHARDS - 1}) s(shard) cross join lateral (
  select split_part(url, '/', 1) || '//' || split_part(url, '/', 3) as origin, last_error, next_at from (
    select url, attempts, last_error, next_at from webhook_event
    where shard = s.shard::int2 and status = 'waiting' order by next_at limit ${MOST_WATCHED}) e
  where attempts > 0) d
group by origin order by count(*) desc, origin limit ${MOST_RECEIVERS}`,
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
