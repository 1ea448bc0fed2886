import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { openWire } from '../../test/support/wire.ts';
import { type Migration, migrate, readMigrations } from './migrate.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

test('a migrated database needs no further migration, and waits for nobody who migrates it further', async () => {
  const other = await connected();
  await other.query('select pg_advisory_lock(7262646)');
  try {
    expect(await migrate(database.url)).toEqual([]);
  } finally {
    await other.end();
  }
});

test('a database that accepts no changes is refused, although it needs no migration', async () => {
  const url = `${database.url}?options=-c%20default_transaction_read_only%3Don`;
  await expect(migrate(url)).rejects.toMatchObject({ code: '25006' });
});

test('an index whose building was broken off is made anew, before the one whose place it takes goes', async () => {
  const sql = readMigrations()
    .filter(({ name }) => /^003[123]/.test(name))
    .map((one) => one.sql)
    .join('\n');
  await database.pool.query(`update pg_index set indisvalid = false
    where indexrelid in ('payout_line_open_of_batch'::regclass, 'pin_guard_to_reap_of_shard'::regclass)`);
  await migrate(database.url, [...readMigrations(), made('9001-again.sql', sql)]);
  const valid =
    'select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid where i.indisvalid and c.relname like ';
  expect(await read(`${valid}'payout_line_open%'`)).toEqual([{ relname: 'payout_line_open_of_batch' }]);
  expect(await read(`${valid}'pin_guard_to_reap%'`)).toEqual([{ relname: 'pin_guard_to_reap_of_shard' }]);
});

test('missing migrations are applied in order, once, however many processes start at the same moment', async () => {
  const all = [
    ...readMigrations(),
    made('9001-one.sql', 'create table one (n int)'),
    made('9002-two.sql', 'insert into one values (7)'),
  ];
  const answers = await Promise.all([
    migrate(database.url, all),
    migrate(database.url, all),
    migrate(database.url, all),
  ]);
  expect(answers.flat().sort()).toEqual(['9001-one.sql', '9002-two.sql']);
  expect(await read('select n from one')).toEqual([{ n: 7 }]);
});

test('missing migrations are applied once where the database gives another isolation to transactions that name none', async () => {
  const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
  await database.pool.query(`alter database ${rows[0]?.name} set default_transaction_isolation = serializable`);
  const all = [...readMigrations(), made('9001-one.sql', 'create table one (n int); select pg_sleep(0.3)')];
  const answers = await Promise.all([migrate(database.url, all), migrate(database.url, all)]);
  expect(answers.flat()).toEqual(['9001-one.sql']);
});

test('missing migrations are applied once where the database limits how long a statement takes or waits', async () => {
  const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
  const limits = await database.pool.query<{ name: string }>(
    `select name from pg_settings where name in
       ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`,
  );
  for (const { name } of limits.rows) {
    await database.pool.query(`alter database ${rows[0]?.name} set ${name} = '1s'`);
  }
  const all = [...readMigrations(), made('9001-one.sql', 'create table one (n int); select pg_sleep(1.2)')];
  const answers = await Promise.all([migrate(database.url, all), migrate(database.url, all)]);
  expect(answers.flat()).toEqual(['9001-one.sql']);
});

test('a transaction is not ended by a limit on its way to lifting it, however slowly it hears from the database', async () => {
  const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
  await database.pool.query(`alter database ${rows[0]?.name} set idle_in_transaction_session_timeout = '1s'`);
  const wire = await openWire(database.url);
  let hasBegun = false;
  wire.judge = (_, bytes) => {
    if (!bytes.includes('begin isolation level')) return 'carried';
    return () => {
      // The first answer, and all that follows, waits.
      if (!hasBegun) wire.stall();
      hasBegun = true;
      return false;
    };
  };
  try {
    const migrating = migrate(wire.url, [...readMigrations(), made('9001-one.sql', 'create table one (n int)')]);
    migrating.catch(() => undefined);
    const idle = `select state_change < clock_timestamp() - interval '1.2s' as long from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`;
    await until(async () => (await read(idle)).length === 1);
    // Longer than the limit, or ended by it.
    await until(async () => JSON.stringify(await read(idle)) !== '[{"long":false}]');
    wire.resume();
    expect(await migrating).toEqual(['9001-one.sql']);
  } finally {
    await wire.close();
  }
});

test('a file that fails leaves nothing behind and is named with its line', async () => {
  const bad = made('9001-bad.sql', 'create table half (n int);\ninsert into nowhere values (1);');
  await expect(migrate(database.url, [...readMigrations(), bad])).rejects.toThrow(/9001-bad\.sql failed at line 2/);
  expect(await read("select to_regclass('half') as half")).toEqual([{ half: null }]);
});

test('an applied file that was edited is an error that names it', async () => {
  const all = readMigrations();
  await migrate(database.url, [...all, made('9001-one.sql', 'create table one (n int)')]);
  const edited = [...all, made('9001-one.sql', 'create table one (n bigint)')];
  await expect(migrate(database.url, edited)).rejects.toThrow(/9001-one\.sql was edited/);
});

test('a file numbered before an applied one comes too late', async () => {
  const all = readMigrations();
  await migrate(database.url, [...all, made('9002-two.sql', 'create table two (n int)')]);
  const late = [...all, made('9001-one.sql', 'create table one (n int)')];
  await expect(migrate(database.url, late)).rejects.toThrow(/9001-one\.sql comes too late/);
});

test('a locked table is waited for a little at a time, so that others pass', async () => {
  const holder = await connected();
  await holder.query('begin');
  await holder.query('select from payment');
  const all = [...readMigrations(), made('9001-wider.sql', 'alter table payment add column wider int')];
  const migrating = migrate(database.url, all);
  try {
    // The migration waits, and in its pauses it lets readers through.
    await until(async () => (await waiting()) > 0);
    expect(await read('select from payment')).toEqual([]);
    expect(await waiting()).toBeLessThanOrEqual(1);
  } finally {
    await holder.query('rollback');
    await holder.end();
  }
  expect(await migrating).toEqual(['9001-wider.sql']);
});

test('in a deadlock with a migration the other transaction goes first, and the file is applied after it', async () => {
  const gate = await connected();
  const other = await connected();
  await gate.query('select pg_advisory_lock(1)');
  await other.query('begin');
  // Of the two transactions in the deadlock, ours is to be the one that detects it.
  await other.query("set local deadlock_timeout = '1min'");
  await other.query('select from session');
  const wider = `set local lock_timeout = 0;
    alter table payment add column wider int;
    select pg_advisory_xact_lock_shared(1);
    set local deadlock_timeout = '1ms';
    alter table session add column wider int`;
  const migrating = migrate(database.url, [...readMigrations(), made('9001-wider.sql', wider)]);
  try {
    await until(async () => (await waiting('advisory')) > 0);
    const theirs = other.query('select from payment');
    await until(async () => (await waiting()) > 0);
    await gate.query('select pg_advisory_unlock(1)');
    await theirs;
    await other.query('commit');
    expect(await migrating).toEqual(['9001-wider.sql']);
  } finally {
    await gate.end();
    await other.end();
  }
});

test('tables that would hide those of the gateway are not made: its role has got another search path', async () => {
  const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
  await database.pool.query('create schema mbongo');
  await database.pool.query(`alter database ${rows[0]?.name} set search_path = mbongo, public`);
  await expect(migrate(database.url)).rejects.toThrow(
    /^the search_path .* leads to the schema mbongo, but the .* tables/,
  );
  expect(await read(`select tablename from pg_tables where schemaname = 'mbongo'`)).toEqual([]);
});

test('a database whose encoding lacks most of the world’s letters is refused before anything is written', async () => {
  const name = `mbongo_test_latin_${Date.now()}`;
  await database.pool.query(`create database ${name} encoding latin1 lc_collate 'C' lc_ctype 'C' template template0`);
  try {
    const url = Object.assign(new URL(database.url), { pathname: `/${name}` });
    await expect(migrate(url.href)).rejects.toThrow(/^the database has the encoding LATIN1.*UTF8/);
  } finally {
    await database.pool.query(`drop database ${name} with (force)`);
  }
});

test('another application’s table of the same name, in a later schema of the search path, is not taken for ours', async () => {
  const name = `mbongo_test_beside_${Date.now()}`;
  await database.pool.query(`create database ${name} template template0`);
  const url = Object.assign(new URL(database.url), { pathname: `/${name}` });
  const client = new pg.Client({ connectionString: url.href });
  try {
    await client.connect();
    await client.query('create schema mb; create table schema_migration (version int)');
    url.search = '?options=-c%20search_path%3Dmb,public';
    expect(await migrate(url.href)).toEqual(readMigrations().map((one) => one.name));
    expect(await migrate(url.href)).toEqual([]);
  } finally {
    await client.end();
    await database.pool.query(`drop database ${name} with (force)`);
  }
});

test('a role that may only read is refused, although no migration is missing', async () => {
  const role = `mbongo_reader_${Date.now()}`;
  await database.pool.query(`create role ${role} login password 'x'; grant select on schema_migration to ${role}`);
  try {
    const url = Object.assign(new URL(database.url), { username: role, password: 'x' });
    await expect(migrate(url.href)).rejects.toMatchObject({ code: '42501' });
  } finally {
    await database.pool.query(`drop owned by ${role}; drop role ${role}`);
  }
});

test('a server that is too old is refused before anything is written', async () => {
  const { rows } = await database.pool.query<{ name: string }>('select current_database() as name');
  await database.pool.query(`create schema aged;
    create function aged.current_setting(text) returns text language sql as $$
      select case $1 when 'server_version_num' then '140023' else pg_catalog.current_setting($1) end $$;
    alter database ${rows[0]?.name} set search_path = aged, pg_catalog, public`);
  const all = [...readMigrations(), made('9001-one.sql', 'create table one (n int)')];
  await expect(migrate(database.url, all)).rejects.toThrow(
    /^the server is PostgreSQL 14\.23: version 15 or newer is needed.*DATABASE_URL/,
  );
  expect(await read("select to_regclass('aged.one') as one")).toEqual([{ one: null }]);
});

test('older code leaves a newer database as it is', async () => {
  const all = readMigrations();
  await migrate(database.url, [...all, made('9001-one.sql', 'create table one (n int)')]);
  expect(await migrate(database.url, all)).toEqual([]);
});

function made(name: string, sql: string): Migration {
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return client;
}

async function read(sql: string): Promise<unknown[]> {
  const client = await connected();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** How many sessions of this database wait for a lock of this kind. */
async function waiting(kind: 'relation' | 'advisory' = 'relation'): Promise<number> {
  const rows = await read(`select from pg_stat_activity where datname = current_database() and wait_event = '${kind}'`);
  return rows.length;
}

/** Repeats `ask` until it is true; the database's round trips are the pause. */
async function until(ask: () => Promise<boolean>): Promise<void> {
  while (!(await ask()));
}
