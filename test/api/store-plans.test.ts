/**
 * How rows are found on tables that have no statistics yet: by their primary key, and nothing else.
 *
 * A plan that looks rows up by the shard alone reads a whole shard for each of them, and stays so for as long as the
 * connection lives; it made one merchant three times as slow as a hundred.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TableName } from '../../src/domain/change.ts';
import { PLAN_SETTINGS } from '../../src/store/line.ts';
import { updateShape } from '../../src/store/statements.ts';
import { columnsOf, TABLES } from '../../src/store/tables.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({
    connectionString: database.url,
    options: PLAN_SETTINGS.map((setting) => `-c ${setting}`).join(' '),
  });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

const tables = Object.keys(TABLES) as TableName[];
const has = (table: TableName, name: string): boolean => columnsOf(table).some((column) => column.name === name);
const versioned = tables.filter((table) => has(table, 'id') && has(table, 'version'));

/** The indexes that a statement's plan reads, sequential scans by the name of their table. */
async function scansOf(text: string, name: string, parameters: string): Promise<string[]> {
  await client.query(`prepare ${name} as ${text}`);
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute ${name}(${parameters})`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  return [
    ...plan.matchAll(/(?:Index Scan|Index Only Scan|Bitmap Index Scan)(?: using| on) (\w+)|Seq Scan on (\w+)/g),
  ].map((match) => match[1] ?? match[2] ?? '');
}

test.each(versioned)('a guarded update of %s goes by its primary key', async (table) => {
  const columns = columnsOf(table).filter(({ name }) => !['shard', 'id', 'version'].includes(name));
  const { statement } = updateShape(table, columns.slice(0, 1), 0);
  expect(await scansOf(statement.text, `update_${table}`, `'{}'`)).toEqual([`${table}_pkey`]);
});

test.each(tables.filter((table) => has(table, 'id')))('a keyed read of %s goes by its primary key', async (table) => {
  const text = `select t.* from unnest($1::int2[], $2::text[]) as k(shard, key)
    join ${table} t on t.shard = k.shard and t.id = k.key`;
  expect(await scansOf(text, `read_${table}`, `'{1}', '{x}'`)).toEqual([`${table}_pkey`]);
});
