/**
 * The group commit on a real database: who wins, who loses, who fails, and that no change fails because of another.
 */
import { setImmediate } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Change, Outcome } from '../../src/domain/change.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  aMerchant,
  anAnswer,
  anEvent,
  aPayment,
  aSession,
  aTransfer,
  MADE_AT,
  moving,
  numbered,
} from '../support/store-records.ts';

let database: TestDatabase;
let store: Store;
let other: Store;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  store = await openStore({ url: database.url });
  other = await openStore({ url: database.url });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

beforeEach(async () => {
  await client.query(`truncate merchant, session, payment, payment_history, account, ledger_transfer, webhook_event,
    idempotency, credential, attempt`);
});

afterAll(async () => {
  await store.close();
  await other.close();
  await client.end();
  await database.drop();
});

const claimAnswer = (id: string): Change => ({ claims: [{ table: 'idempotency', row: anAnswer(id) }] });
const count = (outcomes: readonly Outcome[], outcome: Outcome): number =>
  outcomes.filter((found) => found === outcome).length;
const tally = async (table: string): Promise<number> =>
  Number((await client.query<{ n: string }>(`select count(*) as n from ${table}`)).rows[0]?.n);

/** Polls until that many commits wait for rows that another transaction has locked. */
async function untilSomebodyWaits(many = 1): Promise<void> {
  for (;;) {
    const waiting = await client.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (waiting.rows.length >= many) return;
    // Inside a transaction, statistics are frozen unless the snapshot is cleared.
    await client.query('select pg_stat_clear_snapshot()');
  }
}

test('a record comes back as it was written', async () => {
  const payment = { ...aPayment(1, 63), amount_minor: 9_007_199_254_740_993n, total_minor: 9_223_372_036_854_775_807n };
  const merchant = aMerchant(1, 63);
  const claims = [
    { table: 'payment' as const, row: payment },
    { table: 'merchant' as const, row: merchant },
  ];
  expect(await store.commit({ claims })).toBe('won');
  expect(await store.payment.get(63, payment.id)).toEqual(payment);
  expect(await store.merchant.get(63, merchant.id)).toEqual(merchant);
});

test('an update writes its columns and raises the version; a change that relies on the older version loses', async () => {
  const payment = aPayment(1);
  await store.commit({ claims: [{ table: 'payment', row: payment }] });
  const update = (version: number, carrier: string | null): Change => ({
    updates: [{ table: 'payment', shard: 0, id: payment.id, version, row: { carrier, submitted_at: MADE_AT + 5 } }],
  });
  expect(await store.commit(update(1, 'first'))).toBe('won');
  expect(await store.commit(update(1, 'second'))).toBe('lost');
  expect(await store.payment.get(0, payment.id)).toEqual({
    ...payment,
    version: 2,
    carrier: 'first',
    submitted_at: MADE_AT + 5,
  });
  expect(await store.commit(update(2, null))).toBe('won');
  expect((await store.payment.get(0, payment.id))?.carrier).toBeNull();
});

test('an update without columns only raises the version', async () => {
  await store.commit({ claims: [{ table: 'session', row: aSession(1) }] });
  const change = { updates: [{ table: 'session' as const, shard: 0, id: numbered('ses', 1), version: 1, row: {} }] };
  expect(await store.commit(change)).toBe('won');
  expect(await client.query('select version from session')).toMatchObject({ rows: [{ version: 2 }] });
});

test('a change that loses leaves nothing, whatever else it held', async () => {
  await store.commit(claimAnswer('taken'));
  const change: Change = {
    claims: [
      { table: 'session', row: aSession(1) },
      { table: 'idempotency', row: anAnswer('taken') },
    ],
    inserts: [{ table: 'webhook_event', row: anEvent(1) }],
    transfers: [aTransfer('t1', 'float', 'wallet', 5n)],
    removals: [{ table: 'idempotency', shard: 0, id: 'taken too' }],
  };
  expect(await store.commit(change)).toBe('lost');
  expect([await tally('session'), await tally('webhook_event'), await tally('account')]).toEqual([0, 0, 0]);
});

test('of 64 racing duplicates of a key one wins, within a batch and over two committers', async () => {
  const racers = Array.from({ length: 64 }, (_, n) =>
    (n % 2 === 0 ? store : other).commit({
      claims: [
        { table: 'idempotency', row: anAnswer('key') },
        { table: 'session', row: aSession(n) },
      ],
    }),
  );
  const outcomes = await Promise.all(racers);
  expect(count(outcomes, 'won')).toBe(1);
  expect(await tally('session')).toBe(1);
});

describe('a caller that has its answer continues, whatever the others wait for', () => {
  const wallet = aTransfer('fund', 'float', 'wallet', 9n);
  /** A debit that waits as long as the wallet is locked. */
  const debit = (): Promise<Outcome> => store.commit(moving('debit', aTransfer('debit', 'wallet', 'shop', 9n)));
  const lock = async (): Promise<void> => {
    await store.commit(moving('fund', wallet));
    await client.query('begin');
    await client.query(`update account set balance = balance where id = 'wallet'`);
  };
  // Outside a transaction this only gives a warning.
  afterEach(async () => {
    await client.query('rollback');
  });
  const unlock = async (): Promise<void> => {
    await untilSomebodyWaits();
    await client.query('commit');
  };

  test('in the next batch', async () => {
    await lock();
    const first = ['a', 'b', 'c', 'd'].map((id) => store.commit(claimAnswer(id)));
    await setImmediate();
    const second = [debit(), store.commit(claimAnswer('e'))];
    expect(count(await Promise.all(first), 'won')).toBe(4);
    await unlock();
    expect(count(await Promise.all(second), 'won')).toBe(2);
  });

  test('in the rest of the batch, once it has been rolled back', async () => {
    await store.commit({ claims: [{ table: 'session', row: aSession(1) }] });
    await client.query('update session set version = 9');
    await lock();
    const update = { table: 'session' as const, shard: 0, id: numbered('ses', 1), version: 1, row: { payments: 9 } };
    const [loser, other] = [store.commit({ updates: [update] }), debit()];
    expect(await loser).toBe('lost');
    await unlock();
    expect(await other).toBe('won');
  });

  test('in the other half of a batch with a bad change', async () => {
    await lock();
    const bad = { ...aSession(2), amount_minor: -5n };
    const changes: Change[] = [claimAnswer('a'), claimAnswer('b'), { claims: [{ table: 'session', row: bad }] }];
    const [first, second, refused] = changes.map((change) => store.commit(change));
    const waits = debit();
    expect([await first, await second]).toEqual(['won', 'won']);
    await expect(refused).rejects.toMatchObject({ name: 'StoreRefused' });
    await unlock();
    expect(await waits).toBe('won');
  });
});

test('of racing updates of a row, one wins', async () => {
  await store.commit({ claims: [{ table: 'session', row: aSession(1) }] });
  const racers = Array.from({ length: 16 }, (_, n) =>
    (n % 2 === 0 ? store : other).commit({
      updates: [{ table: 'session', shard: 0, id: numbered('ses', 1), version: 1, row: { payments: n } }],
    }),
  );
  expect(count(await Promise.all(racers), 'won')).toBe(1);
  expect(await client.query('select version from session')).toMatchObject({ rows: [{ version: 2 }] });
});

test('two committers that write different columns of the same rows in opposite orders wait, and never deadlock', async () => {
  const payments = [1, 2, 3, 4].map((n) => ({ table: 'payment' as const, row: aPayment(n) }));
  await store.commit({ claims: payments });
  const resends = () => store.stats().commit.resends + other.stats().commit.resends;
  const before = resends();
  /** Writes a payment's carrier, another's carrier and phone number, and a locked one's carrier, in two statements. */
  const crosswise = (one: number, both: number, held: number): Change => ({
    updates: [one, both, held].map((n) => ({
      table: 'payment',
      shard: 0,
      id: numbered('txn', n),
      version: 1,
      row: n === both ? { carrier: 'mtn', msisdn: '+243810000042' } : { carrier: 'mtn' },
    })),
  });
  await client.query('begin');
  await client.query('select 1 from payment where id = any($1) for update', [[numbered('txn', 3), numbered('txn', 4)]]);
  const commits = [store.commit(crosswise(1, 2, 3)), other.commit(crosswise(2, 1, 4))];
  await untilSomebodyWaits(2);
  await client.query('commit');
  expect((await Promise.all(commits)).sort()).toEqual(['lost', 'won']);
  expect(resends()).toBe(before);
});

test('two committers, each debiting an account that the other then credits, wait, and never deadlock', async () => {
  const accounts = ['wallet 1', 'wallet 2', 'held 1', 'held 2'];
  await store.commit(moving('fund', ...accounts.map((to) => aTransfer(`fund ${to}`, 'float', to, 10n))));
  const resends = () => store.stats().commit.resends + other.stats().commit.resends;
  const before = resends();
  /** Pays from one wallet into the other, and into a locked account. */
  const crosswise = (from: number, to: number): Change =>
    moving(
      `from ${from}`,
      aTransfer(`paid ${from}`, `wallet ${from}`, `wallet ${to}`, 3n),
      aTransfer(`held ${from}`, `wallet ${from}`, `held ${from}`, 1n),
    );
  await client.query('begin');
  await client.query('select 1 from account where id = any($1) for update', [['held 1', 'held 2']]);
  const commits = [store.commit(crosswise(1, 2)), other.commit(crosswise(2, 1))];
  await untilSomebodyWaits(2);
  await client.query('commit');
  expect(await Promise.all(commits)).toEqual(['won', 'won']);
  expect(resends()).toBe(before);
  const balances = await Promise.all(accounts.map(async (id) => (await store.account.get(0, id))?.balance));
  expect(balances).toEqual([9n, 9n, 11n, 11n]);
});

test('a removal makes room for a claim of the same key in the same change', async () => {
  await store.commit(claimAnswer('old'));
  const row = { ...anAnswer('old'), status: 200 };
  const change: Change = {
    claims: [{ table: 'idempotency', row }],
    removals: [{ table: 'idempotency', shard: 0, id: 'old' }],
  };
  expect(await store.commit(change)).toBe('won');
  expect(await store.idempotency.get(0, 'old')).toEqual(row);
});

test('one bad change fails alone, with its own constraint, and no value in the message', async () => {
  const bad = (n: number): Change => ({
    claims: [{ table: 'session', row: { ...aSession(n), amount_minor: -5n, customer_reference: 'private' } }],
  });
  const again: Change = { ...claimAnswer('x'), inserts: [{ table: 'session', row: aSession(1) }] };
  await store.commit({ claims: [{ table: 'session', row: aSession(1) }] });
  const changes = Array.from({ length: 64 }, (_, n): Change => {
    if (n === 7) return again;
    return n % 20 === 9 ? bad(n + 100) : { claims: [{ table: 'session', row: aSession(n + 100) }] };
  });
  const outcomes = await Promise.allSettled(changes.map((change) => store.commit(change)));
  const failed = outcomes.flatMap((outcome, n) => (outcome.status === 'rejected' ? [{ n, ...outcome.reason }] : []));
  expect(failed).toMatchObject([
    { n: 7, name: 'StoreRefused', code: '23505', constraint: 'session_pkey' },
    { n: 9, code: '23514', constraint: 'session_amount_minor_check' },
    { n: 29, code: '23514' },
    { n: 49, code: '23514' },
  ]);
  expect(JSON.stringify(outcomes)).not.toContain('private');
  expect(await tally('session')).toBe(61);
});

test.each([
  ['a NUL', { customer_reference: 'a\u0000b' }],
  ['half a character', { customer_reference: 'a\ud800b' }],
  ['a time that is none', { issued_at: Number.NaN }],
  ['a count that is none', { payments: Number.POSITIVE_INFINITY }],
  ['too much money', { amount_minor: 2n ** 63n }],
])('%s fails alone', async (_, wrong) => {
  const commits = Array.from({ length: 8 }, (__, n) =>
    store.commit({ claims: [{ table: 'session', row: n === 3 ? { ...aSession(n), ...wrong } : aSession(n) }] }),
  );
  const outcomes = await Promise.allSettled(commits);
  expect(outcomes.map(({ status }, n) => status === (n === 3 ? 'rejected' : 'fulfilled'))).not.toContain(false);
  expect(await tally('session')).toBe(7);
});

test('a change without guard or claim is refused, and so is one that contradicts itself', async () => {
  await expect(store.commit({ inserts: [{ table: 'session', row: aSession(1) }] })).rejects.toThrow('guard or a claim');
  const [claim] = claimAnswer('twice').claims ?? [];
  if (claim === undefined) throw new Error('there is a claim');
  await expect(store.commit({ claims: [claim, claim] })).rejects.toThrow('twice');
});

test('a floor holds: of 20 debits of 1 from 10, exactly 10 pass', async () => {
  await store.commit(moving('fund', aTransfer('fund', 'float', 'wallet', 10n)));
  const debits = Array.from({ length: 20 }, (_, n) =>
    (n % 2 === 0 ? store : other).commit(moving(`debit ${n}`, aTransfer(`debit ${n}`, 'wallet', 'shop', 1n))),
  );
  expect(count(await Promise.all(debits), 'won')).toBe(10);
  expect((await store.account.get(0, 'wallet'))?.balance).toBe(0n);
  expect((await store.account.get(0, 'shop'))?.balance).toBe(10n);
  expect((await store.auditAll()).findings).toEqual([]);
});

test('a change is judged by its net debit, and an account that has never been used holds nothing', async () => {
  const empty = moving('a', aTransfer('a', 'nobody', 'shop', 1n));
  expect(await store.commit(empty)).toBe('lost');
  const through = moving('b', aTransfer('b1', 'float', 'wallet', 7n), aTransfer('b2', 'wallet', 'shop', 7n));
  expect(await store.commit(through)).toBe('won');
  const twice = moving('c', aTransfer('c1', 'shop', 'wallet', 4n), aTransfer('c2', 'shop', 'wallet', 4n));
  expect(await store.commit(twice)).toBe('lost');
  expect((await store.auditAll()).findings).toEqual([]);
});

test('a debit that has waited for a credit is judged by what the account holds then', async () => {
  await store.commit(moving('fund', aTransfer('fund', 'float', 'wallet', 1n)));
  await client.query('begin');
  await client.query(`update account set balance = balance + 9 where id = 'wallet'`);
  const debit = store.commit(moving('debit', aTransfer('debit', 'wallet', 'shop', 10n)));
  await untilSomebodyWaits();
  await client.query('commit');
  expect(await debit).toBe('won');
  expect((await store.account.get(0, 'wallet'))?.balance).toBe(0n);
});

test('a guarded update that has waited for another one loses', async () => {
  await store.commit({ claims: [{ table: 'session', row: aSession(1) }] });
  await client.query('begin');
  await client.query('update session set version = 2');
  const update = { table: 'session' as const, shard: 0, id: numbered('ses', 1), version: 1, row: { payments: 9 } };
  const late = store.commit({ updates: [update] });
  await untilSomebodyWaits();
  await client.query('commit');
  expect(await late).toBe('lost');
});

test('a currency that is not the account’s is refused, on both sides', async () => {
  await store.commit(moving('fund', aTransfer('fund', 'float', 'wallet', 10n)));
  const credit = { ...aTransfer('x', 'float other', 'wallet', 1n), currency: 'eur' as const };
  const debit = { ...aTransfer('y', 'wallet', 'shop', 1n), currency: 'eur' as const };
  await expect(store.commit(moving('x', credit))).rejects.toMatchObject({ code: '23502' });
  await expect(store.commit(moving('y', debit))).rejects.toMatchObject({ code: '23502' });
  expect((await store.account.get(0, 'wallet'))?.balance).toBe(10n);
});

test('the audit finds what does not add up', async () => {
  await store.commit(moving('fund', aTransfer('fund', 'float', 'wallet', 10n)));
  await client.query(`update account set balance = 11 where id = 'wallet'`);
  expect((await store.auditAll()).findings).toEqual([
    { kind: 'sum', currency: 'usd', balance: 1n },
    { kind: 'balance', shard: 0, account: 'wallet', currency: 'usd', balance: 11n, transfers: 10n },
  ]);
});

test('two committers that debit each other’s accounts in opposite orders get through', async () => {
  await store.commit(moving('fund', aTransfer('f1', 'float', 'a', 500n), aTransfer('f2', 'float', 'b', 500n)));
  const commits = Array.from({ length: 400 }, (_, n) => {
    const [from, to] = n % 3 === 0 ? ['a', 'b'] : ['b', 'a'];
    return (n % 2 === 0 ? store : other).commit(moving(`m${n}`, aTransfer(`m${n}`, from ?? '', to ?? '', 1n)));
  });
  expect(count(await Promise.all(commits), 'won')).toBe(400);
  expect((await store.auditAll()).findings).toEqual([]);
});

test('due events go to one caller each, leased, and their version increases', async () => {
  const events = Array.from({ length: 30 }, (_, n) => anEvent(n, n % 5));
  await store.commit({
    ...claimAnswer('e'),
    inserts: events.map((row) => ({ table: 'webhook_event' as const, row })),
  });
  const taken = await Promise.all([
    store.event.leaseDue(MADE_AT, MADE_AT + 30_000, 20),
    other.event.leaseDue(MADE_AT, MADE_AT + 30_000, 20),
  ]);
  const ids = taken.flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const event of taken.flat()) expect(event).toMatchObject({ version: 2, next_at: MADE_AT + 30_000 });
  const rest = await store.event.leaseDue(MADE_AT, MADE_AT + 30_000, 99);
  expect(ids.length + rest.length).toBe(30);
  expect(await store.event.leaseDue(MADE_AT + 29_999, MADE_AT + 60_000, 99)).toEqual([]);
});

test('old rows are removed, a limited number at a time', async () => {
  const inserts = Array.from({ length: 9 }, (_, n) => {
    const row = { ...anAnswer(`r${n}`, n), created_at: MADE_AT + (n % 3) };
    return { table: 'idempotency' as const, row };
  });
  await store.commit({ ...claimAnswer('young'), inserts });
  expect(await store.idempotency.reap(MADE_AT + 2, 4)).toBe(4);
  expect(await store.idempotency.reap(MADE_AT, 99)).toBe(0);
  expect((await store.idempotency.reap(MADE_AT + 2, 99)) + 4).toBe(7);
});
