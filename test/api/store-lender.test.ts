/** Lines for great questions: how many connections are open while they are asked, and after. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const OPEN = `select pid from pg_stat_activity where datname = current_database() and application_name = 'mbongo patient'`;

let database: TestDatabase;
let store: Store;

beforeAll(async () => {
  database = await createTestDatabase();
  store = await openStore({ url: database.url });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

async function open(): Promise<readonly number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(OPEN);
  return rows.map(({ pid }) => pid);
}

test('questions one after the other share a connection, which is closed when no more of them come', async () => {
  expect(await open()).toEqual([]);
  await store.auditAll();
  const [first] = await open();
  await store.firstTransferDay();
  expect(await open()).toEqual([first]);
  await expect.poll(open).toEqual([]);
});

test('nobody waits for another’s question', async () => {
  const holder = await database.pool.connect();
  await holder.query('begin; lock table ledger_transfer in access exclusive mode');
  const held = store.auditAll();
  await expect.poll(open).toHaveLength(1);
  expect(await store.keyNeeds(0)).toEqual([]);
  expect(await open()).toHaveLength(2);
  await holder.query('rollback');
  holder.release();
  expect((await held).findings).toEqual([]);
});

test('what is under way when the store closes is answered, and leaves no connection', async () => {
  const closing = await openStore({ url: database.url });
  const [answer] = await Promise.all([closing.auditAll(), closing.close()]);
  expect(answer.findings).toEqual([]);
  await expect.poll(open).toEqual([]);
});
