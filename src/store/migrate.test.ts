import { createHash } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { type Migration, migrate, readMigrations } from './migrate.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

test('a migrated database needs nothing more', async () => {
  expect(await migrate(database.url)).toEqual([]);
});

test('what is missing is applied in order, once, however many start at the same moment', async () => {
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

test('a file that fails leaves nothing of itself and is named with its line', async () => {
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

test('older code leaves a newer database as it is', async () => {
  const all = readMigrations();
  await migrate(database.url, [...all, made('9001-one.sql', 'create table one (n int)')]);
  expect(await migrate(database.url, all)).toEqual([]);
});

function made(name: string, sql: string): Migration {
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}

async function read(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
