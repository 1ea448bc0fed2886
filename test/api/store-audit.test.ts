/**
 * The auditor's statements over closed days: whatever moved when, and however far the days were closed, sound accounts give
 * no finding and a wrong one is found.
 */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { aTransfer, MADE_AT, moving } from '../support/store-records.ts';

const DAY = 24 * 60 * 60_000;
const DAYS = 4;
const ACCOUNTS = ['a', 'b', 'c'];

let database: TestDatabase;
let store: Store;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  store = await openStore({ url: database.url });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
beforeEach(() => client.query('truncate account, ledger_transfer, account_day, setting'));
afterAll(async () => {
  await store.close();
  await client.end();
  await database.drop();
});

interface Move {
  readonly day: number;
  readonly from: number;
  readonly to: number;
  readonly minor: number;
}

const move: fc.Arbitrary<Move> = fc
  .record({
    day: fc.nat({ max: DAYS - 1 }),
    from: fc.nat({ max: 2 }),
    to: fc.nat({ max: 2 }),
    minor: fc.integer({ min: 1, max: 100 }),
  })
  .filter(({ from, to }) => from !== to);

/** Writes the transfers, the balances, and `closed` closed days. */
async function write(moves: readonly Move[], closed: number): Promise<void> {
  const texts = ['truncate account, ledger_transfer, account_day, setting'];
  for (const [n, { day, from, to, minor }] of moves.entries()) {
    const at = new Date(MADE_AT + day * DAY).toISOString();
    const sides = `0, '${ACCOUNTS[from]}', 0, '${ACCOUNTS[to]}'`;
    texts.push(
      `insert into ledger_transfer values (0, 'trf_${n}', ${sides}, ${minor}, 'usd', 'test', 'test', '${at}')`,
    );
  }
  for (const [index, name] of ACCOUNTS.entries()) {
    const until = (day: number): number =>
      moves
        .filter((one) => one.day <= day)
        .reduce((sum, { from, to, minor }) => sum + (to === index ? minor : 0) - (from === index ? minor : 0), 0);
    texts.push(`insert into account values (0, '${name}', 'usd', ${until(DAYS)}, false)`);
    for (let day = 0; day < closed; day += 1) {
      if (!moves.some((one) => one.day === day && (one.from === index || one.to === index))) continue;
      texts.push(`insert into account_day values (0, '${name}', '${dayOf(day)}', 'usd', ${until(day)})`);
    }
  }
  if (closed > 0) texts.push(`insert into setting values (0, 'last_closed_day', 1, '${dayOf(closed - 1)}')`);
  await client.query(texts.join(';'));
}

function dayOf(day: number): string {
  return new Date(MADE_AT + day * DAY).toISOString().slice(0, 10);
}

test('sound accounts give no finding, and two wrong ones are found, however far the days were closed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 12, size: 'max' }), fc.nat({ max: DAYS }), async (moves, closed) => {
      await write(moves, closed);
      expect((await store.auditAll()).findings).toEqual([]);
      expect((await store.auditRecent(0)).findings).toEqual([]);
      // In a shard whose turn it is not, only recent movements are read, and these are sound too.
      expect((await store.auditRecent(1)).findings).toEqual([]);
      await client.query(`update account set balance = balance + case id when 'a' then 1 else -1 end where id <> 'c'`);
      const found = (await store.auditRecent(0)).findings;
      expect(found.map((one) => (one.kind === 'balance' ? one.account : one.kind)).toSorted()).toEqual(['a', 'b']);
    }),
    { numRuns: 25 },
  );
});

test('after the days were closed only later movements are read', async () => {
  await write(
    Array.from({ length: 20 }, (_, n) => ({ day: n < 18 ? 0 : 2, from: n % 2, to: 2, minor: 1 })),
    2,
  );
  expect(await store.auditAll()).toMatchObject({ findings: [], transfers: 20, accounts: 3 });
  expect(await store.auditRecent(1)).toMatchObject({ findings: [], transfers: 2, accounts: 3 });
});

test('an account may hold more than the sum of ninety of the largest amounts, and so may its days', async () => {
  const MAX_AMOUNT_MINOR = 99_999_999_999_999_999n;
  const paid = Array.from({ length: 200 }, (_, n) =>
    moving(`p${n}`, aTransfer(`p${n}`, 'float', 'shop', MAX_AMOUNT_MINOR)),
  );
  expect(new Set(await Promise.all(paid.map((change) => store.commit(change))))).toEqual(new Set(['won']));
  expect((await store.account.get(0, 'shop'))?.balance).toBe(200n * MAX_AMOUNT_MINOR);
  expect(await store.commit(moving('out', aTransfer('out', 'shop', 'bank', MAX_AMOUNT_MINOR)))).toBe('won');
  await store.closeAccountDays([dayOf(0), dayOf(1)]);
  for (const { findings } of [await store.auditAll(), await store.auditRecent(0)]) expect(findings).toEqual([]);
  const { rows } = await client.query(`select balance from account_day where account = 'shop'`);
  expect(rows).toEqual([{ balance: String(199n * MAX_AMOUNT_MINOR) }]);
  await client.query(`update account set balance = 2 * balance where id = 'shop'`);
  expect((await store.auditAll()).findings).toMatchObject([
    { kind: 'sum', balance: 199n * MAX_AMOUNT_MINOR },
    { kind: 'balance', account: 'shop', balance: 398n * MAX_AMOUNT_MINOR, transfers: 199n * MAX_AMOUNT_MINOR },
  ]);
});
