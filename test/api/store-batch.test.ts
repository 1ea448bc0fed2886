/**
 * Changes that are sent together, as one batch: each is judged as if it had come alone, in its turn.
 */
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Outcome } from '../../src/domain/change.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anAnswer, aSession, aTransfer, moving, numbered } from '../support/store-records.ts';
import { until } from '../support/waiting.ts';

let database: TestDatabase;
let store: Store;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  store = await openStore({ url: database.url });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

beforeEach(async () => {
  await client.query('truncate session, account, ledger_transfer, idempotency');
});

afterAll(async () => {
  await store.close();
  await client.end();
  await database.drop();
});

test('of debits that come together, the first are served for as long as the account covers them', async () => {
  await store.commit(moving('fund', aTransfer('fund', 'float', 'wallet', 10n)));
  const debits = Array.from({ length: 20 }, (_, n) =>
    store.commit(moving(`debit ${n}`, aTransfer(`debit ${n}`, 'wallet', 'shop', 1n))),
  );
  expect(await Promise.all(debits)).toEqual(Array.from({ length: 20 }, (_, n) => (n < 10 ? 'won' : 'lost')));
});

test('a change that loses to another one of its batch is told so once that one has been committed', async () => {
  await store.commit({ claims: [{ table: 'session', row: aSession(1) }] });
  const update = { table: 'session' as const, shard: 0, id: numbered('ses', 1), version: 1, row: {} };
  const answers: Outcome[] = [];
  await Promise.all([1, 2].map(async () => answers.push(await store.commit({ updates: [update] }))));
  expect(answers).toEqual(['won', 'lost']);
});

test('rows of two shards that have the same id are two rows, also where they are written together', async () => {
  const shards = [0, 1];
  await Promise.all(
    shards.map((shard) =>
      store.commit({
        claims: [
          { table: 'session', row: aSession(1, shard) },
          { table: 'idempotency', row: anAnswer('key', shard) },
        ],
        transfers: [
          aTransfer(`wallet ${shard}`, 'float', 'wallet', shard === 0 ? 10n : 3n, shard),
          aTransfer(`purse ${shard}`, 'float', 'purse', 6n, shard),
        ],
      }),
    ),
  );
  const paying = (id: string, shard: number, from: string, amount: bigint): Promise<Outcome> =>
    store.commit(moving(id, aTransfer(id, from, 'shop', amount, shard)));
  const outcomes = [
    paying('a', 0, 'wallet', 5n),
    paying('b', 1, 'wallet', 3n),
    paying('c', 1, 'wallet', 1n),
    paying('d', 0, 'purse', 6n),
    store.commit({
      updates: [{ table: 'session', shard: 0, id: numbered('ses', 1), version: 1, row: { payments: 7 } }],
      removals: [{ table: 'idempotency', shard: 0, id: 'key' }],
    }),
  ];
  expect(await Promise.all(outcomes)).toEqual(['won', 'won', 'lost', 'won', 'won']);
  const sessions = await client.query('select shard, version, payments from session order by shard');
  expect(sessions.rows).toEqual([
    { shard: 0, version: 2, payments: 7 },
    { shard: 1, version: 1, payments: 0 },
  ]);
  const keys = await Promise.all(shards.map((shard) => store.idempotency.get(shard, 'key')));
  expect(keys.map((row) => row?.shard)).toEqual([undefined, 1]);
  const held = ['wallet', 'purse', 'shop', 'float'].map((id) =>
    Promise.all(shards.map(async (shard) => (await store.account.get(shard, id))?.balance)),
  );
  expect(await Promise.all(held)).toEqual([
    [5n, 0n],
    [0n, 6n],
    [11n, 3n],
    [-16n, -9n],
  ]);
});

test.each(['cdf', 'xaf'] as const)(
  'a debit in %s is refused alone, beside one in the account’s own currency',
  async (currency) => {
    await store.commit(moving('fund', aTransfer('fund', 'float', 'wallet', 10n)));
    const foreign = moving('x', { ...aTransfer('x', 'wallet', 'shop abroad', 1n), currency });
    const [good, bad] = await Promise.allSettled([
      store.commit(moving('y', aTransfer('y', 'wallet', 'shop', 1n))),
      store.commit(foreign),
    ]);
    expect([good, bad]).toMatchObject([{ value: 'won' }, { reason: { code: '23502' } }]);
    expect((await store.account.get(0, 'wallet'))?.balance).toBe(9n);
  },
);

test('a batch with debits locks its accounts in the order of shard and id, so that no two batches can deadlock', async () => {
  const places = [
    [10, 'a'],
    [2, 'd'],
    [10, 'B'],
    [2, 'b'],
    [2, 'A'],
    [10, 'c'],
    [2, 'C'],
  ] as const;
  const funds = places.map(([shard, id]) => aTransfer(`fund ${shard} ${id}`, 'float', id, 1n, shard));
  await store.commit(moving('fund', ...funds));
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query("select 1 from account where shard = 2 and id = 'b' for update");
    const debits = Promise.all(
      places.map(([shard, id]) => {
        const name = `debit ${shard} ${id}`;
        return store.commit(moving(name, aTransfer(name, id, 'float', 1n, shard)));
      }),
    );
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await until(async () => (await client.query(waiting)).rows[0]);
    const free = await client.query<{ place: string }>(
      "select shard || ' ' || id as place from account where id <> 'float' order by shard, id for update skip locked",
    );
    // Capitals come before small letters.
    expect(free.rows.map(({ place }) => place)).toEqual(['2 d', '10 B', '10 a', '10 c']);
    await holder.query('rollback');
    expect(new Set(await debits)).toEqual(new Set(['won']));
  } finally {
    await holder.end();
  }
});
