/**
 * Brings a database to this version's schema: plain .sql files, applied in the order of their numbers, and the row types
 * that follow from the catalogue.
 *
 * Invariant: each file is applied once, whole or not at all, by one process at a time; a file that was applied never differs from
 * the one in this version.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { ARCHIVED_TABLES } from './archive-tables.ts';
import { connectWithin } from './deadline.ts';
import { codeOf, DEADLOCK, LOCKED } from './errors.ts';
import { createRowType, ROW_TYPES } from './row-types.ts';
import { TABLES } from './tables.ts';
import { inTransaction } from './transaction.ts';

/**
 * A schema change waits for the transactions that use its table, and all others wait behind it: so it gives up soon, lets them
 * pass, and tries again for some minutes.
 */
const LOCK_TIMEOUT = '1s';
const TRIES = 120;
const PAUSE_MS = 1_000;
/** How long a server may take to answer a new connection. */
const MAX_CONNECT_MS = 10_000;
const NAME_PATTERN = /^\d{4}-[a-z0-9-]+\.sql$/;

/** One migration: its file name, its text and the SHA-256 of the text. */
export type Migration = { name: string; sql: string; checksum: string };

/**
 * Applies the missing migrations and returns their names, in order. Safe to run from many processes at once, and through a proxy
 * that pools transactions (the lock lives as long as its transaction). A database with newer migrations than this code knows is
 * left as it is: during a deployment both versions run.
 *
 * @param url connection string of the database. Its role must own the database if anything is missing in it; otherwise it is
 *   enough that it may add to the tables, and read the archive's
 * @throws Error when the server is too old, the database's encoding cannot hold every text, or its tables lie in another schema;
 *   Error that names the file when one is missing and this role may not create tables, was edited after it was applied, comes too
 *   late, or fails
 */
export async function migrate(url: string, migrations: Migration[] = readMigrations()): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'mbongo migrate' });
  client.on('error', () => undefined); // The query that was under way reports it.
  await connectWithin(MAX_CONNECT_MS, client);
  try {
    await requireServer(client);
    await requireSchema(client);
    const known = await appliedBefore(client);
    const missing = migrations.filter(({ name, checksum }) => known.get(name) !== checksum);
    const [next] = missing;
    if (next !== undefined && known.size > 0) {
      requireUnedited(next, known.get(next.name));
      await requireCreator(client, `migration ${next.name}`);
    }
    const applied: string[] = [];
    for (const migration of missing) {
      if (await applyPatiently(client, migration)) applied.push(migration.name);
    }
    await makeRowTypes(client);
    return applied;
  } finally {
    await client.end();
  }
}

/** Reads the migrations in order: from the sources, or from the build, which carries a copy. */
export function readMigrations(): Migration[] {
  const dir = fileURLToPath(new URL('./migrations/', import.meta.url));
  const names = readdirSync(dir)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return names.map((name, index) => {
    if (!NAME_PATTERN.test(name)) throw new Error(`migration ${name} is not named like 0001-some-words.sql`);
    if (name.slice(0, 4) === names[index - 1]?.slice(0, 4)) throw new Error(`migration ${name} repeats a number`);
    const sql = readFileSync(`${dir}/${name}`, 'utf8');
    return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
  });
}

/** Encodings that hold every text; the second one stores whatever bytes it is given. */
const ENCODINGS: readonly unknown[] = ['UTF8', 'SQL_ASCII'];

/** `server_version_num` of the oldest server that is good enough. */
export const OLDEST_POSTGRES = 150_000;

/**
 * An older server may refuse the settings of our connections, which looks as if it could not be reached. In another encoding it would
 * refuse a change for one letter in it, and with it what has become of the money.
 */
async function requireServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ encoding: string; version: number }>(
    "select current_setting('server_encoding') as encoding, current_setting('server_version_num')::int4 as version",
  );
  const { encoding = '', version = 0 } = rows[0] ?? {};
  if (version < OLDEST_POSTGRES) {
    const wayOut = 'upgrade the server, or name another one in DATABASE_URL';
    throw new Error(`the server is ${postgresOf(version)}: version 15 or newer is needed, ${wayOut}`);
  }
  if (ENCODINGS.includes(encoding)) return;
  throw new Error(
    `the database has the encoding ${encoding}: create one with the encoding UTF8, and name that in DATABASE_URL`,
  );
}

/** A `server_version_num` in words: `PostgreSQL 15.18`. */
export function postgresOf(version: number): string {
  return `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000}`;
}

/** SQL: whether migrations have been applied to the schema in which tables are made. */
const BEGUN = `exists (select from pg_class where relname = 'schema_migration' and relkind = 'r'
  and relnamespace = to_regnamespace(quote_ident(current_schema())))`;

/**
 * Tables are made in the first schema of the role's search path. If that has become another one since (a schema named after the role is
 * enough), empty tables there would hide those with the money, from every gateway that connects.
 */
async function requireSchema(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ schema: string | null; elsewhere: boolean }>(
    `select current_schema() as schema, to_regclass('archive.payment') is not null and not ${BEGUN} as elsewhere`,
  );
  if (rows[0]?.elsewhere !== true) return;
  const { schema } = rows[0];
  if (schema === null) {
    throw new Error(
      "the search_path of the database's role leads to no schema that this role may use: grant it usage on that of the gateway's tables, and begin the search_path with it",
    );
  }
  throw new Error(
    `the search_path of the database's role leads to the schema ${schema}, but the gateway's tables lie in another one: set the search_path so that it begins with that one`,
  );
}

/** SQL: whether this role may read, and add to, each of the tables `$1` that exist, and may read the archive's tables `$2`. */
const MAY_USE_TABLES = `(select bool_and(has_table_privilege(to_regclass(name), 'select')
    and has_table_privilege(to_regclass(name), 'insert')) from unnest($1::text[]) name)
  and (select bool_and(has_table_privilege(to_regclass('archive.' || name), 'select')) is not false from unnest($2::text[]) name)`;

/**
 * The migrations that are recorded, with their checksums, read without the lock: a record never changes. One that is not found here
 * is looked for again under the lock. On a standby, or for a role that may not use one of the tables, this returns nothing, so that
 * the first migration fails at once and says why, even if none is missing.
 */
async function appliedBefore(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows: looks } = await client.query<{ knows: boolean }>(
    `select ${BEGUN} and current_setting('transaction_read_only') = 'off'
       and has_table_privilege(to_regclass('schema_migration'), 'select') and ${MAY_USE_TABLES} as knows`,
    [[...Object.keys(TABLES), 'account_day'], ARCHIVED_TABLES],
  );
  if (looks[0]?.knows !== true) return new Map();
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migration',
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/** Refuses a role that cannot make what is missing, so that a gateway can run as a role that owns nothing. */
async function requireCreator(client: pg.Client, what: string): Promise<void> {
  const { rows } = await client.query<{ schema: string; may_create: boolean }>(
    "select current_schema() as schema, has_schema_privilege(current_schema(), 'create') as may_create",
  );
  if (rows[0]?.may_create === true) return;
  throw new Error(
    `the database lacks ${what}, and this role may not create anything in the schema ${rows[0]?.schema}: run \`mbongo migrate\` of this version first, as the role that owns the database`,
  );
}

/** Makes the row types that are missing. Usually none are, and then the lock is not taken. */
async function makeRowTypes(client: pg.Client): Promise<void> {
  const [missing] = await missingRowTypes(client);
  if (missing === undefined) return;
  await requireCreator(client, `the type ${missing.name}`);
  await inTransaction(client, 'migrate', async () => {
    for (const type of await missingRowTypes(client)) await client.query(createRowType(type));
  });
}

async function missingRowTypes(client: pg.Client) {
  const names = ROW_TYPES.map(({ name }) => name);
  const found = await client.query<{ name: string }>(
    'select typname as name from pg_type where typname = any($1) and pg_type_is_visible(oid)',
    [names],
  );
  const known = new Set(found.rows.map(({ name }) => name));
  return ROW_TYPES.filter(({ name }) => !known.has(name));
}

/** Tries again, because a table that a running gateway uses is seldom free at the first try. */
async function applyPatiently(client: pg.Client, migration: Migration): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await inTransaction(client, 'migrate', () => applyOnce(client, migration));
    } catch (error) {
      const code = codeOf(error instanceof Error ? error.cause : undefined);
      // A deadlock: the transaction whose table we waited for has waited for one of ours.
      if (tries === TRIES || (code !== LOCKED && code !== DEADLOCK)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** `applied`: the checksum with which it was applied; undefined if it was not. */
function requireUnedited({ name, checksum }: Migration, applied: string | undefined): void {
  if (applied === undefined || applied === checksum) return;
  throw new Error(`migration ${name} was edited after it was applied: restore it, and put the change in a new file`);
}

async function applyOnce(client: pg.Client, migration: Migration): Promise<boolean> {
  const { name, sql, checksum } = migration;
  await client.query(`create table if not exists schema_migration (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`);
  const known = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from schema_migration where name >= $1 order by name = $1 desc, name limit 1',
    [name],
  );
  const found = known.rows[0];
  if (found !== undefined && found.name !== name) {
    throw new Error(`migration ${name} comes too late: ${found.name} has been applied`);
  }
  requireUnedited(migration, found?.checksum);
  if (found === undefined) {
    await client.query(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
    await run(client, name, sql);
    await client.query('insert into schema_migration (name, checksum) values ($1, $2)', [name, checksum]);
  }
  return found === undefined;
}

async function run(client: pg.Client, name: string, sql: string): Promise<void> {
  try {
    await client.query(sql);
  } catch (cause) {
    const at =
      cause instanceof pg.DatabaseError && cause.position !== undefined ? Number.parseInt(cause.position, 10) : 0;
    const line = sql.slice(0, at).split('\n').length;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`migration ${name} failed${at > 0 ? ` at line ${line}` : ''}: ${reason}`, { cause });
  }
}
