/** Coalesced reads: every caller gets the rows of its own key, whatever the others ask for. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Account, Credential } from '../../src/domain/records.ts';
import { columnList, NO_COLUMNS } from '../../src/store/columns.ts';
import { openConnection } from '../../src/store/connection.ts';
import { keyedShape } from '../../src/store/keyed-shape.ts';
import { openReaders } from '../../src/store/read.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  aMerchant,
  anAnswer,
  aPayment,
  aSession,
  aTransfer,
  MADE_AT,
  moving,
  numbered,
} from '../support/store-records.ts';

let database: TestDatabase;
let store: Store;

const HOSTILE = ['', 'NULL', 'null', '{}', '"', '\\', '\\"', "'", ',', 'a,b', ' a', 'é', '\u{1f600}', '\n', '$1', '%'];

const credential: Credential = {
  shard: 0,
  id: numbered('key', 1),
  version: 1,
  merchant_id: numbered('mch', 1),
  secret_hash: 'h',
  status: 'RETIRING',
  retires_at: MADE_AT + 1,
  expires_at: null,
  allowed_addresses: ['10.0.0.0/8'],
  created_at: MADE_AT,
};

const ONE = { name: 'one', text: 'select 1' };
const NUMBER = columnList<{ readonly n: number }>({ n: 'int4' });

beforeAll(async () => {
  database = await createTestDatabase();
  store = await openStore({ url: database.url });
  const inserts = HOSTILE.map((id) => ({ table: 'idempotency' as const, row: anAnswer(id) }));
  const claims = [
    { table: 'merchant' as const, row: aMerchant(1) },
    { table: 'credential' as const, row: credential },
    { table: 'session' as const, row: aSession(1) },
  ];
  expect(await store.commit({ claims, inserts })).toBe('won');
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

test('hostile keys are treated like any other', async () => {
  const rows = await Promise.all(HOSTILE.map((id) => store.idempotency.get(0, id)));
  expect(rows.map((row) => row?.id)).toEqual(HOSTILE);
});

test('impossible keys do not disturb other reads', async () => {
  const [nul, half, far, odd, good] = await Promise.all([
    store.idempotency.get(0, 'a\u0000'),
    store.idempotency.get(0, '\ud800'),
    store.idempotency.get(99_999, 'a'),
    store.idempotency.get(0.5, 'a'),
    store.idempotency.get(0, 'NULL'),
  ]);
  expect([nul, half, far, odd]).toEqual([undefined, undefined, undefined, undefined]);
  expect(good?.id).toBe('NULL');
});

test('two thousand callers of a thousand keys, of several kinds of row, each get their own', async () => {
  const payments = Array.from({ length: 1_000 }, (_, n) => aPayment(n, n % 64));
  const claims = [{ table: 'idempotency' as const, row: anAnswer('many') }];
  await store.commit({ claims, inserts: payments.map((row) => ({ table: 'payment', row })) });
  const asked = [...payments, ...payments].map(async ({ shard, id }, n) => {
    const [payment, stranger, session] = await Promise.all([
      store.payment.get(shard, id),
      store.payment.get((shard + 1) % 64, id),
      n % 10 === 0 ? store.session.caller(0, numbered('ses', 1)) : undefined,
    ]);
    expect(payment?.id).toBe(id);
    expect(stranger).toBeUndefined();
    if (n % 10 === 0) expect(session?.id).toBe(numbered('ses', 1));
  });
  await Promise.all(asked);
  expect((await store.payment.ofSession(5, numbered('ses', 1))).map(({ id }) => id)).toEqual(
    payments.filter(({ shard }) => shard === 5).map(({ id }) => id),
  );
});

test('of more reads than one statement takes, the first to come are answered first', async () => {
  const line = openConnection({ url: database.url, onError: () => undefined, name: 'read' });
  const readers = openReaders([line]);
  const byId = readers.keyed(keyedShape('live', 'payment', 'id', 'id'));
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 3_000 }, async (_, n) => {
      await byId(1, numbered('txn', 100_000 + n));
      order.push(n);
    }),
  );
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  await readers.close();
  await line.close();
});

test('callers that share an answer may each do with its rows as they like', async () => {
  const row = { ...aPayment(9_002, 3), session_id: numbered('ses', 2) };
  await store.commit({ claims: [{ table: 'payment', row }] });
  const read = () => store.payment.ofSession(row.shard, row.session_id);
  const [taken, left] = await Promise.all([read(), read()]);
  expect(taken.splice(0)).toEqual([row]);
  expect(left).toEqual([row]);
});

test('reads that are asked again, because one beside them has failed, have each of their rows once', async () => {
  const row = aPayment(9_001, 3);
  await store.commit({ claims: [{ table: 'payment', row }] });
  const line = openConnection({ url: database.url, onError: () => undefined, name: 'read' });
  const readers = openReaders([line]);
  const byId = readers.keyed(keyedShape('live', 'payment', 'id', 'id'));
  const bad = { name: 'bad', text: 'select 1 / 0' };
  const answers = await Promise.allSettled([
    byId(3, row.id),
    readers.query(ONE, NUMBER, []),
    readers.query(bad, NO_COLUMNS, []),
  ]);
  expect(answers).toMatchObject([
    { value: [row] },
    { value: [{ n: 1 }] },
    { reason: { name: 'StoreRefused', code: '22012' } },
  ]);
  await readers.close();
  await line.close();
});

test('closing waits for the reads that were asked before', async () => {
  const line = openConnection({ url: database.url, onError: () => undefined, name: 'read' });
  const readers = openReaders([line]);
  const asked = readers.query(ONE, NUMBER, []);
  await readers.close();
  await line.close();
  expect(await asked).toEqual([{ n: 1 }]);
  await expect(readers.query(ONE, NUMBER, [])).rejects.toMatchObject({ name: 'StoreUnavailable' });
});

test('the reads that wait are bounded', async () => {
  // Without a connection, all of them wait.
  const readers = openReaders([]);
  const byId = readers.keyed(keyedShape('live', 'payment', 'id', 'id'));
  for (let n = 0; n < 50_000; n += 1) void byId(1, numbered('txn', n));
  expect(readers.waiting()).toBe(50_000);
  await expect(byId(1, 'one more')).rejects.toMatchObject({ name: 'StoreBusy' });
  for (let n = 1; n < 2_000; n += 1) void readers.query(ONE, NUMBER, []);
  await expect(readers.query(ONE, NUMBER, [])).rejects.toMatchObject({ name: 'StoreBusy' });
  expect(readers.waiting()).toBe(51_999);
});

test('a session is read with everything that its caller’s check needs', async () => {
  expect(await store.session.caller(0, numbered('ses', 1))).toEqual({
    ...aSession(1),
    credential_status: 'RETIRING',
    credential_retires_at: MADE_AT + 1,
    credential_expires_at: null,
    merchant_status: 'ALLOWED',
    merchant_version: 1,
  });
  expect(await store.credential.caller(0, credential.id)).toEqual({
    ...credential,
    merchant_status: 'ALLOWED',
    merchant_version: 1,
  });
  expect(await store.credential.list(numbered('mch', 0))).toEqual([]);
});

test('a merchant’s accounts are those whose id begins with the merchant’s', async () => {
  const id = numbered('mch', 1);
  const own = ['available', 'held'].map((what) => `${id}:${what}:usd`);
  await store.commit(moving('m', ...own.map((to, n) => aTransfer(`m${n}`, 'float:usd', to, 3n))));
  await store.commit(moving('o', aTransfer('o', 'float:usd', `${id}0:available:usd`, 3n)));
  const accounts = own.map((name): Account => ({ shard: 0, id: name, currency: 'usd', balance: 3n, floored: true }));
  expect(await store.accounts.ofMerchant(0, id)).toEqual(accounts);
});

test('a merchant is cached until a newer version is asked for', async () => {
  const { id } = aMerchant(1);
  expect(await store.merchant.at(0, id, 1)).toEqual(aMerchant(1));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`update merchant set name = 'silently' where id = $1`, [id]);
  await client.end();
  expect((await store.merchant.at(0, id, 1))?.name).toBe(aMerchant(1).name);
  const update = { table: 'merchant' as const, shard: 0, id, version: 1, row: { name: 'new' } };
  expect(await store.commit({ updates: [update] })).toBe('won');
  expect(await store.merchant.at(0, id, 2)).toMatchObject({ name: 'new', version: 2 });
  expect(await store.merchant.at(0, id, 1)).toMatchObject({ name: 'new', version: 2 });
});

test('expired payments are found, and no others', async () => {
  const due = { ...aPayment(5_001, 9), expires_at: MADE_AT - 1 };
  const waits = { ...aPayment(5_002, 10), expires_at: MADE_AT, status: 'pending_otp_verification' as const };
  const paid = { ...aPayment(5_003, 9), expires_at: MADE_AT - 1, status: 'approved' as const, completed_at: MADE_AT };
  const claims = [due, waits, paid].map((row) => ({ table: 'payment' as const, row }));
  await store.commit({ claims });
  const found = await store.payment.toExpire(MADE_AT, 10);
  expect(found.map(({ id }) => id).sort()).toEqual([due.id, waits.id]);
  expect(await store.payment.toExpire(MADE_AT, 1)).toHaveLength(1);
  expect(await store.payment.toExpire(MADE_AT - 1, 10)).toEqual([due]);
  expect(await store.payment.toExpire(MADE_AT - 1, 10, due.expires_at)).toEqual([due]);
  expect(await store.payment.toExpire(MADE_AT - 1, 10, MADE_AT)).toEqual([]);
});

test('a brief store reads everything over one connection, and opens another only for what it commits', async () => {
  const own = await createTestDatabase();
  const brief = await openStore({ url: own.url, brief: true });
  const open = async () => {
    const { rows } = await own.pool.query<{ name: string }>(
      `select application_name as name from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() order by 1`,
    );
    return rows.map(({ name }) => name);
  };
  try {
    await Promise.all([brief.merchant.get(0, 'mch'), brief.wallet.get(0, 'w'), brief.server(), brief.time()]);
    expect(await brief.failingReceivers()).toEqual([]);
    await brief.ping();
    expect(await open()).toEqual(['mbongo read']);
    expect(await brief.commit({ claims: [{ table: 'merchant', row: aMerchant(1) }] })).toBe('won');
    expect(await open()).toEqual(['mbongo commit', 'mbongo read']);
  } finally {
    await brief.close();
    await own.drop();
  }
});

test('plans what can be planned: a table that somebody has locked is read later', async () => {
  const starting = await openStore({ url: database.url });
  const locking = await database.pool.connect();
  try {
    await locking.query('begin');
    await locking.query('lock table idempotency in access exclusive mode');
    await starting.plan();
    await locking.query('rollback');
    expect((await starting.idempotency.get(0, 'é'))?.id).toBe('é');
  } finally {
    locking.release();
    await starting.close();
  }
});
