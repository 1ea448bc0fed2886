/** Connections for large queries: how many are open while they run, and afterwards. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openWire } from '../support/wire.ts';

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

test('queries one after the other share a connection, which is closed when no more of them come', async () => {
  const asked = async (): Promise<readonly number[]> => {
    await store.firstTransferDay();
    return open();
  };
  // If the machine pauses in between, the connection has been closed meanwhile.
  const shared = async (): Promise<boolean> => {
    const [first, second] = [await asked(), await asked()];
    return first.length === 1 && first[0] === second[0];
  };
  await expect.poll(shared).toBe(true);
  await expect.poll(open).toEqual([]);
});

test('no query waits for another', async () => {
  const holder = await database.pool.connect();
  try {
    await holder.query('begin; lock table ledger_transfer in access exclusive mode');
    const held = store.auditAll();
    await expect.poll(open).toHaveLength(1);
    expect(await store.keyNeeds(0)).toEqual([]);
    await holder.query('rollback');
    expect((await held).findings).toEqual([]);
  } finally {
    holder.release(true);
  }
});

test('an idle connection that was ended is not lent', async () => {
  await store.firstTransferDay();
  await database.pool.query(OPEN.replace('select pid', 'select pg_terminate_backend(pid)'));
  await store.closeAccountDays(['2020-01-01']);
  expect(await store.lastClosedDay()).toBe('2020-01-01');
});

test('an idle connection that has fallen silent is not waited for', async () => {
  /** What the next answer waits for. */
  let next = Promise.resolve();
  const wire = await openWire(database.url, () => {
    const waits = next;
    next = Promise.resolve();
    return waits;
  });
  const far = await openStore({ url: wire.url });
  await far.firstTransferDay();
  next = new Promise<void>(() => undefined);
  expect(await far.firstTransferDay()).toBeUndefined();
  await far.close();
  await wire.close();
});

test('a query in progress when the store closes is answered, and leaves no connection', async () => {
  const closing = await openStore({ url: database.url });
  const [answer] = await Promise.all([closing.auditAll(), closing.close()]);
  expect(answer.findings).toEqual([]);
  await expect.poll(open).toEqual([]);
});
