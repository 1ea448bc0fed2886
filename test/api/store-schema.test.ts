/**
 * The catalogue compared with the migrations: the same columns of the same types, and every statement can be prepared.
 */

import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TableName } from '../../src/domain/change.ts';
import { makeId } from '../../src/domain/ids.ts';
import {
  BALANCE_SHAPE,
  claimShape,
  DEBIT_SHAPE,
  insertShape,
  removeShape,
  updateShape,
} from '../../src/store/statements.ts';
import type { Store } from '../../src/store/store.ts';
import { openStore } from '../../src/store/store.ts';
import { columnsOf, TABLES } from '../../src/store/tables.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { schemaText } from '../support/schema-text.ts';
import { aMerchant, anEvent, MADE_AT, numbered } from '../support/store-records.ts';

let database: TestDatabase;
let client: pg.Client;
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  store = await openStore({ url: database.url });
});

afterAll(async () => {
  await store.close();
  await client.end();
  await database.drop();
});

const tables = Object.keys(TABLES) as TableName[];

test('the catalogue matches the schema', async () => {
  // No change writes the records of migrations and of closed days.
  const found = await client.query<{ table_name: string; column_name: string; udt_name: string }>(
    `select table_name, column_name, udt_name from information_schema.columns
     where table_schema = 'public' and table_name not in ('schema_migration', 'account_day') order by table_name, ordinal_position`,
  );
  const schema: Record<string, Record<string, string>> = {};
  for (const { table_name, column_name, udt_name } of found.rows) {
    schema[table_name] = { ...schema[table_name], [column_name]: udt_name };
  }
  expect(TABLES).toEqual(schema);
});

test('the schema is written down, as SQL that makes it', async () => {
  const text = await schemaText(client);
  await expect(text).toMatchFileSnapshot('../../src/store/schema.sql');
  const empty = await createTestDatabase();
  await empty.pool.query('drop schema public, archive cascade');
  await empty.pool.query('create schema public');
  await empty.pool.query(text);
  expect(await schemaText(empty.pool)).toBe(text);
  await empty.drop();
});

test('tables whose due rows are looked for every second are vacuumed before a fifth of them is dead', async () => {
  const { rows } = await client.query<{ relname: string }>(
    `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.reloptions @> array['autovacuum_vacuum_scale_factor=0.05'] order by c.relname`,
  );
  expect(rows.map(({ relname }) => relname)).toEqual([
    'attempt',
    'idempotency',
    'payment',
    'payout_line',
    'refund',
    'session',
    'webhook_event',
  ]);
});

test('no index is in the order of a locale, which changes with the library of the system', async () => {
  const found = await client.query<{ index: string; column: string }>(
    `select i.indexrelid::regclass::text as index, a.attname as column from pg_index i
     join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = i.indexrelid
     join pg_collation l on l.oid = a.attcollation
     where c.relnamespace in ('public'::regnamespace, 'archive'::regnamespace) and l.collname <> 'C'
       and c.relname <> 'schema_migration'`,
  );
  expect(found.rows).toEqual([]);
});

test('every shape of the commit path can be prepared', async () => {
  const keyed = tables.filter((table) => columnsOf(table).some(({ name }) => name === 'id'));
  const versioned = keyed.filter((table) => columnsOf(table).some(({ name }) => name === 'version'));
  const shapes = [
    DEBIT_SHAPE,
    BALANCE_SHAPE,
    ...tables.map(insertShape),
    ...keyed.map(claimShape),
    ...keyed.map(removeShape),
    ...versioned.map((table) => updateShape(table, [], 0)),
    ...versioned.map((table) =>
      updateShape(
        table,
        columnsOf(table).filter(({ name }) => !['shard', 'id', 'version'].includes(name)),
        1,
      ),
    ),
  ];
  for (const { statement } of shapes) {
    expect(Buffer.byteLength(statement.name)).toBeLessThan(64);
    await client.query(`prepare ${statement.name} as ${statement.text}`);
  }
});

test('every read returns an answer', async () => {
  const nothing = numbered('mch', 0);
  const keyed: readonly ((shard: number, id: string) => Promise<unknown>)[] = [
    store.session.caller,
    store.credential.caller,
    store.merchant.get,
    store.payment.get,
    store.attempt.get,
    store.code.get,
    store.wallet.get,
    store.limitCounter.get,
    store.account.get,
    store.event.get,
    store.idempotency.get,
    store.setting.get,
  ];
  for (const read of keyed) expect(await read(0, nothing)).toBeUndefined();
  const lists = [
    store.payment.ofSession,
    store.payment.history,
    store.accounts.ofMerchant,
    store.webhookAttempts.ofEvent,
    store.webhookSecret.ofMerchant,
  ];
  for (const read of lists) expect(await read(0, nothing)).toEqual([]);
  expect(await store.merchant.at(0, nothing, 1)).toBeUndefined();
  expect(await store.credential.list(nothing)).toEqual([]);
  expect(await store.credential.list('nobody')).toEqual([]);
  expect(await store.merchant.list()).toEqual([]);
  expect(await store.payment.toExpire(MADE_AT, 10)).toEqual([]);
  expect(await store.attempt.listOpen(10)).toEqual([]);
  expect(await store.attempt.leaseDue(MADE_AT, MADE_AT, 10)).toEqual([]);
  expect(await store.event.leaseDue(MADE_AT, MADE_AT, 10)).toEqual([]);
  expect(await store.idempotency.reap(MADE_AT, 10)).toBe(0);
  expect(await store.limitCounter.reap(MADE_AT, 10)).toBe(0);
  expect((await store.auditAll()).findings).toEqual([]);
  await store.plan();
  await store.ping();
  expect(await store.time()).toBeGreaterThan(Date.UTC(2020, 0));
});

test('events are listed by every filter', async () => {
  // An id carries its shard in its last characters.
  const merchant = aMerchant(1, 1);
  const events = [1, 2, 3].map((n) => ({
    ...anEvent(n, 1),
    id: makeId('evt', MADE_AT + n, new Uint8Array(16), 1),
    created_at: MADE_AT + n,
    merchant_id: merchant.id,
  }));
  const inserts = events.map((row) => ({ table: 'webhook_event' as const, row }));
  expect(await store.commit({ claims: [{ table: 'merchant', row: merchant }], inserts })).toBe('won');
  expect(await store.event.list({ limit: 2 })).toEqual(events.slice(0, 2));
  expect(await store.event.list({ merchantId: merchant.id, limit: 9 })).toEqual(events);
  expect(await store.event.list({ merchantId: numbered('mch', 2), limit: 9 })).toEqual([]);
  expect(await store.event.list({ status: 'waiting', from: MADE_AT + 2, limit: 1 })).toEqual([events[1]]);
  expect(await store.event.list({ after: events[1]?.id, limit: 9 })).toEqual([events[2]]);
  expect(await store.merchant.list()).toEqual([merchant]);
});
