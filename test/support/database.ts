/**
 * A real PostgreSQL for the tests: one server per run, one migrated template, one fresh database per request.
 *
 * Invariant: a test database holds exactly what the migrations make, and belongs to the test that made it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { openEmbeddedDatabase } from '../../src/platform/embedded-database.ts';
import { findCluster } from '../../src/platform/embedded-database-cluster.ts';
import { findServer } from '../../src/platform/embedded-database-server.ts';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { ROW_TYPES } from '../../src/store/row-types.ts';
import { memoryFolder } from './database-place.ts';
import { watchDatabase } from './stillness.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the server's maintenance database, and the template that tests are made from. */
    database: { url: string; template: string };
  }
}

/** A database of its own; `drop` closes the connections that are still open. */
export interface TestDatabase {
  readonly url: string;
  /** The test's own connections, opened at first use and kept: opening one costs more than a query. */
  readonly pool: pg.Pool;
  drop(): Promise<void>;
}

/** One per checkout and user; a run that is killed leaves it to the next one. */
const ON_DISK = fileURLToPath(new URL('../../.data/test', import.meta.url));
const IN_MEMORY = `mbongo-${createHash('sha256').update(`${process.getuid?.()} ${ON_DISK}`).digest('hex').slice(0, 12)}`;

/**
 * Vitest's global set-up: starts the embedded server in memory or over `.data/test`, or uses the one of DATABASE_URL, and stops
 * it at the end unless another run is using it too.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.DATABASE_URL;
  const memory = memoryFolder();
  const dataDir = memory === undefined ? ON_DISK : join(memory, IN_MEMORY);
  const log = { making: () => undefined, warn: (message: string) => process.stderr.write(`${message}\n`) };
  const server = given === undefined ? await openEmbeddedDatabase({ dataDir, log }) : undefined;
  const url = withDatabase(given ?? server?.url ?? '', given === undefined ? 'postgres' : undefined);
  project.provide('database', { url, template: await makeTemplate(url, server?.started === true) });
  return async () => {
    await server?.close();
    if (memory !== undefined && given === undefined) giveBack(dataDir);
  };
}

/** Frees the memory, unless another run is using it. Renamed first, so that a run that starts now finds all of it or nothing. */
function giveBack(dataDir: string): void {
  const cluster = findCluster(dataDir);
  if (cluster === undefined || findServer(cluster) !== undefined) return;
  const away = `${dataDir}-${randomBytes(4).toString('hex')}`;
  renameSync(dataDir, away);
  rmSync(away, { recursive: true, force: true });
}

/** Makes a fresh, migrated database in about 50 ms. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url, template } = inject('database');
  watchDatabase(url);
  const name = `mbongo_test_${randomBytes(8).toString('hex')}`;
  await administer(url, async (client) => {
    await client.query(`create database ${name} template ${template} strategy wal_log`);
  });
  const own = withDatabase(url, name);
  const pool = openPool(own);
  return {
    url: own,
    pool,
    drop: async () => {
      await pool.end();
      await administer(url, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, idleTimeoutMillis: 0 });
  // Some tests end all connections; the next query opens a new one.
  pool.on('error', () => undefined);
  return pool;
}

/**
 * The template is named after the migrations and the row types, so that an edit makes a new one. It is built under another name
 * and renamed when complete, so that a killed run leaves no half-built template behind. If we are `alone`, because we have just
 * started the server, what killed runs left is dropped.
 */
async function makeTemplate(url: string, alone: boolean): Promise<string> {
  const migrations = readMigrations();
  const key = createHash('sha256')
    .update([...migrations.map(({ checksum }) => checksum), ...ROW_TYPES.map(({ name }) => name)].join())
    .digest('hex')
    .slice(0, 12);
  const template = `mbongo_template_${key}`;
  await administer(url, async (client) => {
    await client.query(`select pg_advisory_lock(hashtext('mbongo test template'))`);
    const names = await listTestDatabases(client);
    if (alone)
      await dropAll(
        client,
        names.filter((name) => name !== template),
      );
    if (names.includes(template)) return;
    const draft = `mbongo_draft_${randomBytes(4).toString('hex')}`;
    await client.query(`create database ${draft}`);
    await migrate(withDatabase(url, draft), migrations);
    await client.query(`alter database ${draft} rename to ${template}`);
  });
  return template;
}

async function listTestDatabases(client: pg.Client): Promise<string[]> {
  const pattern = '^mbongo_(test|template|draft)_';
  const found = await client.query<{ datname: string }>('select datname from pg_database where datname ~ $1', [
    pattern,
  ]);
  return found.rows.map(({ datname }) => datname);
}

async function dropAll(client: pg.Client, names: string[]): Promise<void> {
  for (const name of names) await client.query(`drop database if exists ${name} with (force)`);
}

async function administer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'mbongo test' });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

function withDatabase(url: string, name: string | undefined): string {
  const changed = new URL(url);
  if (name !== undefined) changed.pathname = `/${name}`;
  return changed.href;
}
