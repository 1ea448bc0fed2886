/**
 * The archive's tables compared with the live ones: the same columns and constraints; and a query for one month reads only that.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOfMonth } from '../../src/domain/archive.ts';
import { firstIdAt, makeId, type Prefix } from '../../src/domain/ids.ts';
import {
  ARCHIVED,
  ARCHIVED_TABLES,
  type ArchivedTable,
  makeMonth,
  monthIn,
  monthTable,
  monthTableIn,
} from '../../src/store/archive-tables.ts';
import { keyedShape } from '../../src/store/keyed-shape.ts';
import { openLedgerReads } from '../../src/store/ledger-reads.ts';
import type { Statement } from '../../src/store/pipeline.ts';
import type { Readers } from '../../src/store/read.ts';
import { pageOfRefunds } from '../../src/store/refund-reads.ts';
import { PLAN_SETTINGS } from '../../src/store/session-settings.ts';
import { columnsOf } from '../../src/store/tables.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const MONTHS = ['2024-11', '2024-12', '2025-01'];

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const options = PLAN_SETTINGS.map((setting) => `-c ${setting}`).join(' ');
  client = new pg.Client({ connectionString: database.url, options: `${options} -c TimeZone=UTC` });
  await client.connect();
  await inTransaction(client, 'archive', async () => {
    for (const table of ARCHIVED_TABLES) for (const month of MONTHS) await makeMonth(client, table, month);
  });
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

async function namesOf(sql: string, ...values: string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(sql, values);
  return rows.map(({ name }) => name);
}

/** A migration that adds a column to a live table has to add it to the archive too. */
test.each(ARCHIVED_TABLES)('%s has the same columns, live and archived', async (table) => {
  const columns = `select attname || ' ' || format_type(atttypid, atttypmod) || case when attnotnull then ' not null' else '' end as name
    from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attname`;
  const live = await namesOf(columns, table);
  expect(await namesOf(columns, `archive.${table}`)).toEqual(live);
  expect(live).toHaveLength(columnsOf(table).length);
});

test.each(ARCHIVED_TABLES)('%s has the same constraints, live and archived', async (table) => {
  const rules = `select pg_get_constraintdef(oid) as name from pg_constraint
    where conrelid = $1::regclass and contype = 'c' order by 1`;
  expect(await namesOf(rules, `archive.${table}`)).toEqual(await namesOf(rules, table));
});

test('a month is created once, and its name says which it is', async () => {
  await inTransaction(client, 'archive', () => makeMonth(client, 'payment', '2024-12'));
  expect(monthTable('payment_history', '2024-12')).toBe('payment_history_2024_12');
  expect(monthTableIn('payment_history_2024_12')).toEqual({ table: 'payment_history', month: '2024-12' });
  expect(monthTableIn('payment_2024')).toBeUndefined();
});

test.each(ARCHIVED_TABLES)('the first and the last id of a month of %s are in its table', async (table) => {
  const { column, prefix } = ARCHIVED[table];
  if (prefix === 'instant') return;
  const last = startOfMonth('2025-01') - 1;
  const highest = makeId(prefix, last, new Uint8Array(16).fill(0xff), 63);
  for (const id of [firstIdAt(prefix, startOfMonth('2024-12')), highest]) {
    expect(monthIn(table, id)).toBe('2024-12');
    const { rows } = await client.query<{ ok: boolean }>(
      `select $1 >= split_part(bound, '''', 2) collate "C" and $1 < split_part(bound, '''', 4) collate "C" as ok
       from (select pg_get_expr(relpartbound, oid) as bound from pg_class where oid = $2::regclass) b`,
      [id, `archive.${monthTable(table, '2024-12')}`],
    );
    expect(rows, `${table}.${column} ${id}`).toEqual([{ ok: true }]);
  }
});

/** The relations that a plan reads when it runs: partitions that cannot hold the answer are never read. */
async function readBy(text: string, name: string, parameters: string): Promise<string[]> {
  await client.query(`prepare ${name} as ${text}`);
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (analyze) execute ${name}(${parameters})`);
  const lines = rows.map((row) => row['QUERY PLAN']).filter((line) => !line.includes('never executed'));
  return [...lines.join('\n').matchAll(/Scan(?: Backward)? (?:using|on) (\w+)/g)].map((match) => match[1] ?? '');
}

test.each<[ArchivedTable, string]>([
  ['payment', 'id'],
  ['payment_history', 'payment_id'],
  ['webhook_attempt', 'event_id'],
])('%s is looked up in its own month, by its key', async (table, key) => {
  const id = makeId(ARCHIVED[table].prefix as Prefix, Date.UTC(2024, 11, 7), new Uint8Array(16), 3);
  const { statement } = keyedShape('archive', table, key, key);
  const scans = await readBy(statement.text, statement.name, `'{3}', '{${id}}'`);
  expect(scans.filter((scan) => scan !== 'k')).toEqual([`${table}_2024_12_pkey`]);
});

test('a proof with the same content is looked up by that content, in every month', async () => {
  const { statement } = keyedShape('archive', 'proof', 'digest', 'id');
  const scans = await readBy(statement.text, statement.name, "'{3}', '{some}'");
  expect(scans.filter((scan) => scan !== 'k').toSorted()).toEqual(
    MONTHS.map((month) => `${monthTable('proof', month)}_digest_shard_idx`),
  );
});

test('a merchant’s old refunds are listed month by month, newest first, by its own index', async () => {
  let asked: readonly [Statement, readonly (string | null)[]] | undefined;
  const readers = {
    query: (statement: Statement, _columns: unknown, values: readonly (string | null)[]) => {
      asked = [statement, values];
      return Promise.resolve([{ seen: 0, reached: null, id: null }]);
    },
  } as unknown as Readers;
  const before = makeId('rfd', Date.UTC(2024, 11, 7), new Uint8Array(16), 1);
  await pageOfRefunds(readers, { shard: 1, merchantId: 'mch_a', status: 'failed', before, limit: 20 }, 'archive');
  const [statement, values] = asked ?? [];
  const literals = (values ?? []).map((value) => client.escapeLiteral(value ?? '')).join(', ');
  const scans = await readBy(statement?.text ?? '', 'old_refunds', literals);
  expect(scans.filter((scan) => scan.startsWith('refund_2'))).toEqual([
    'refund_2024_12_merchant_id_id_shard_idx',
    'refund_2024_11_merchant_id_id_shard_idx',
  ]);
});

test('old lines of an account are read in their own months, by their own indexes', async () => {
  const asked: [Statement, readonly (string | null)[]][] = [];
  const from = Date.UTC(2024, 11, 3);
  const readers = {
    query: (statement: Statement, _columns: unknown, values: readonly (string | null)[]) => {
      asked.push([statement, values]);
      return Promise.resolve([]);
    },
  } as unknown as Readers;
  const accounts = ['mch_a:available:usd'];
  const span = { from, until: from + 86_400_000, now: Date.UTC(2026, 1, 1), limit: 50 };
  await openLedgerReads(readers).lines({ shard: 1, accounts, ...span });
  const [statement, values] = asked[0] ?? [];
  const literals = (values ?? []).map((value) => client.escapeLiteral(value ?? '')).join(', ');
  const scans = await readBy(statement?.text ?? '', 'old_lines', literals);
  const archived = scans.filter((scan) => scan.startsWith('ledger_transfer_2'));
  expect(archived.toSorted()).toEqual([
    'ledger_transfer_2024_12_credit_account_at_id_shard_idx',
    'ledger_transfer_2024_12_debit_account_at_id_shard_idx',
  ]);
});
