/**
 * How rows are found in tables that have no statistics yet: by their primary key, and nothing else.
 *
 * A plan that looks rows up by the shard alone reads a whole shard for each of them, and is kept for as long as the
 * connection lives; it made one merchant three times as slow as a hundred.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TableName } from '../../src/domain/change.ts';
import { makeId } from '../../src/domain/ids.ts';
import { openConnection } from '../../src/store/connection.ts';
import { type EventPageFilter, pageOfEvents } from '../../src/store/event-lists.ts';
import { keyedShape } from '../../src/store/keyed-shape.ts';
import { openLedgerReads } from '../../src/store/ledger-reads.ts';
import { openNouns } from '../../src/store/noun-reads.ts';
import type { Nouns } from '../../src/store/nouns.ts';
import { lineSearch, paymentSearch } from '../../src/store/order-search.ts';
import { listPayments, type PaymentFilter } from '../../src/store/payment-lists.ts';
import { attemptsAt, paymentsBeside, transfersFor } from '../../src/store/payment-trail.ts';
import { pageOfBatches, RETRYABLE } from '../../src/store/payout-list-reads.ts';
import type { Execution, Statement } from '../../src/store/pipeline.ts';
import type { Question, Readers } from '../../src/store/read.ts';
import type { ReadShape } from '../../src/store/read-keyed.ts';
import { openRecent } from '../../src/store/recent.ts';
import { pageOfRefunds, type RefundPageFilter } from '../../src/store/refund-reads.ts';
import { rowReader } from '../../src/store/row-codec.ts';
import { DEAD_EVENTS, FAILING_RECEIVERS } from '../../src/store/server-reads.ts';
import { PLAN_SETTINGS } from '../../src/store/session-settings.ts';
import { lockShape, updateShape } from '../../src/store/statements.ts';
import { suspensePage, suspenseSums, undecided } from '../../src/store/suspense-reads.ts';
import { columnsOf, TABLES } from '../../src/store/tables.ts';
import { readUpstreamCalls } from '../../src/store/upstream-calls.ts';
import { namedQuestion } from '../../src/store/upstream-span.ts';
import { ATTEMPTS, OVERDUE, WAITING } from '../../src/store/watch-reads.ts';
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

/** The indexes that a statement's plan reads; a sequential scan is listed by its table's name. */
async function scansOf(text: string, name: string, parameters: string): Promise<string[]> {
  await client.query(`prepare ${name} as ${text}`);
  const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute ${name}(${parameters})`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  return [
    ...plan.matchAll(/(?:Index (?:Only )?Scan(?: Backward)?|Bitmap Index Scan)(?: using| on) (\w+)|Seq Scan on (\w+)/g),
  ].map((match) => match[1] ?? match[2] ?? '');
}

test.each(versioned)('rows of %s are locked and updated by their primary key', async (table) => {
  const columns = columnsOf(table).filter(({ name }) => !['shard', 'id', 'version'].includes(name));
  const { statement } = updateShape(table, columns.slice(0, 1), 0);
  expect(await scansOf(statement.text, `update_${table}`, `'{}'`)).toEqual([`${table}_pkey`]);
  expect(await scansOf(lockShape(table).statement.text, `lock_${table}`, `'{}'`)).toEqual([`${table}_pkey`]);
});

test.each(tables.filter((table) => has(table, 'id')))('a keyed read of %s goes by its primary key', async (table) => {
  const { statement } = keyedShape('live', table, 'id', 'id');
  expect(await scansOf(statement.text, `read_${table}`, `'{1}', '{x}'`)).toEqual([`${table}_pkey`]);
});

test('a plan that was made while a table was known to be empty is not kept', async () => {
  await client.query('analyze payment_history');
  const line = openConnection({ url: database.url, name: 'plans', onError: () => undefined });
  const { statement } = keyedShape('live', 'payment_history', 'payment_id', 'version');
  const read: Execution = { statement: { ...statement, name: 'history' }, values: () => ['{1}', '{x}'] };
  const planned = async (): Promise<string> => {
    const rows: string[] = [];
    const explain = { name: 'explained', text: `explain execute history('{1}', '{x}')` };
    await line.run([{ statement: explain, values: () => [], onRow: ([row]) => rows.push(row ?? '') }]);
    return rows.join(' ');
  };
  await line.run([read]);
  expect(await planned()).not.toContain('Index Cond');
  await client.query(`insert into payment_history (shard, payment_id, version, status, at)
    select n % 64, 'txn_' || n, 1, 'pending', now() from generate_series(1, 5000) n`);
  for (let runs = 0; runs < 64; runs += 1) await line.run([read]);
  expect(await planned()).toMatch(/Index Cond: \(\(shard = k\.shard\) AND \(payment_id = /);
  await line.close();
});

/** Records the statement and the parameters that a read sends. */
async function askedBy(read: (readers: Readers) => Promise<unknown>): Promise<[Statement, string]> {
  const asked: [Statement, string][] = [];
  const never = () => Promise.reject(new Error('a read that is not asked here'));
  await read({
    stats: { keys: 0, statements: 0 },
    waiting: () => 0,
    keyed: () => never,
    plan: never,
    close: never,
    query: (statement, columns, values) => {
      asked.push([
        statement,
        values.map((value) => (value === null ? 'null' : client.escapeLiteral(value))).join(', '),
      ]);
      // One row, all of whose columns are null.
      return Promise.resolve([rowReader(columns)(columns.map(() => null))]);
    },
  });
  const [first] = asked;
  if (first === undefined) throw new Error('nothing was asked');
  return first;
}

const NOW = Date.UTC(2026, 10, 20, 12);
const MERCHANT = makeId('mch', NOW, new Uint8Array(16), 1);
const ACCOUNTS = ['mch_a:available:usd', 'mch_a:reserved:usd', 'mch_a:held:usd'];

test.each([1, 3])('the lines of %i accounts are read in the order of their own indexes', async (accounts) => {
  const shown = ACCOUNTS.slice(0, accounts);
  const [{ text, name }, values] = await askedBy((readers) =>
    openLedgerReads(readers).lines({
      shard: 1,
      accounts: shown,
      from: NOW - 86_400_000,
      until: NOW,
      limit: 100,
      now: NOW,
    }),
  );
  const sides = shown.flatMap(() => ['ledger_of_debited_merchant', 'ledger_of_credited_merchant']);
  const names = ['payment_pkey', 'payout_line_pkey', 'refund_pkey', 'payment_pkey'];
  expect((await scansOf(text, name, values)).toSorted()).toEqual([...sides, ...names].toSorted());
});

test.each([
  ['from the last closed day', NOW - 12 * 60 * 60_000, 'account_day_pkey'],
  ['from now', NOW - 60_000, 'account_pkey'],
])('a balance %s is computed from the lines of its own account', async (_side, at, begun) => {
  const [{ text, name }, values] = await askedBy((readers) =>
    openLedgerReads(readers).balancesBefore(1, ACCOUNTS, at, NOW),
  );
  expect((await scansOf(text, name, values)).toSorted()).toEqual(
    [begun, 'ledger_of_credited_merchant', 'ledger_of_debited_merchant'].toSorted(),
  );
});

test.each<[string, Partial<PaymentFilter>]>([
  ['payment_of_merchant', {}],
  ['payment_of_merchant', { status: 'approved', currency: 'usd', before: 'txn_7', from: 0, until: NOW }],
  ['payment_by_reference', { reference: 'order-1' }],
  ['payment_by_reference', { reference: 'order-1', method: 'card', before: 'txn_7' }],
])('payments are listed by %s: %j', async (index, filter) => {
  const [{ text, name }, values] = await askedBy((readers) =>
    listPayments(readers, { shard: 1, merchantId: 'mch_a', limit: 20, ...filter }),
  );
  expect((await scansOf(text, name, values)).toSorted()).toEqual([index, 'payment_pkey'].toSorted());
});

test('the newest payment of a reference is found by that reference', async () => {
  const [{ text, name }, values] = await askedBy((readers) =>
    openNouns(readers, openRecent()).payment.newest(1, 'mch_a', 'order-1'),
  );
  expect(await scansOf(text, name, values)).toEqual(['payment_by_reference']);
});

test.each<[string, keyof Pick<Nouns['attempt'], 'ofCardPayment' | 'turnedAway'>]>([
  ['attempt_of_card_payment', 'ofCardPayment'],
  ['attempt_turned_away', 'turnedAway'],
])('a payment’s tries are found by %s: %s', async (index, read) => {
  let shape: ReadShape<unknown> | undefined;
  const keyed = <Row>(one: ReadShape<Row>) => {
    return () => {
      shape = one;
      return Promise.resolve([]);
    };
  };
  const never = () => Promise.reject(new Error('a read that is not asked here'));
  const readers = {
    stats: { keys: 0, statements: 0 },
    waiting: () => 0,
    keyed,
    query: never,
    plan: never,
    close: never,
  };
  await openNouns(readers, openRecent()).attempt[read](1, 'txn_7');
  if (shape === undefined) throw new Error('nothing was asked');
  const { text, name } = shape.statement;
  expect(await scansOf(text, name, "'{1}', '{x}'")).toEqual([index]);
});

test.each([
  [{}, 'payout_batch_of_merchant'],
  [{ before: 'batch_z', from: 'batch_0' }, 'payout_batch_of_merchant'],
  [{ customerReference: 'x', before: 'batch_z' }, 'payout_batch_by_reference'],
])('a page of a merchant’s batches (%j) uses the index that has it in order', async (more, index) => {
  const { statement, values } = pageOfBatches({ shard: 1, merchantId: 'mch_x', limit: 20, ...more });
  expect(await scansOf(statement.text, statement.name, values.map((value) => `'${value}'`).join(', '))).toEqual([
    index,
  ]);
});

test('lines that can be paid again are found by their batch', async () => {
  expect(await scansOf(RETRYABLE.text, RETRYABLE.name, "1, 'batch_x'")).toEqual(['payout_line_of_batch']);
});

test.each<[string, Partial<EventPageFilter>]>([
  ['webhook_event_of_merchant', {}],
  ['webhook_event_of_merchant', { status: 'dead', type: 'payment.approved', beyond: 'evt_7', from: 0, until: NOW }],
  ['webhook_event_of_merchant', { notStatus: 'no_target', beyond: 'evt_7', from: 0, until: NOW, order: 'oldest' }],
  ['webhook_event_of_transaction', { transactionId: 'txn_7' }],
  ['webhook_event_of_transaction', { transactionId: 'txn_7', status: 'dead', beyond: 'evt_7', from: 0, until: NOW }],
])('events are listed by %s: %j', async (index, filter) => {
  const [{ text, name }, values] = await askedBy((readers) =>
    pageOfEvents(readers, { shard: 1, merchantId: 'mch_a', order: 'newest', limit: 20, ...filter }),
  );
  expect((await scansOf(text, name, values)).toSorted()).toEqual([index, 'webhook_event_pkey'].toSorted());
});

test.each<Partial<RefundPageFilter>>([{}, { status: 'failed', before: 'rfd_7', from: 0, until: NOW }])(
  'a merchant’s refunds are listed by its own index: %j',
  async (filter) => {
    const [{ text, name }, values] = await askedBy((readers) =>
      pageOfRefunds(readers, { shard: 1, merchantId: 'mch_a', limit: 20, ...filter }),
    );
    expect((await scansOf(text, name, values)).toSorted()).toEqual(['refund_of_merchant', 'refund_pkey']);
  },
);

test('the refunds of a payment are found by that payment', async () => {
  const { statement } = keyedShape('live', 'refund', 'payment_id', 'id');
  expect(await scansOf(statement.text, 'refunds_of_payment', `'{1}', '{x}'`)).toEqual(['refund_of_payment']);
});

const OF_SHOP = { merchantId: MERCHANT, currency: 'usd', before: NOW } as const;

test.each<[string[], Question]>([
  [['attempt_late_money'], suspensePage({ limit: 50 })],
  [['attempt_late_money'], suspensePage({ ...OF_SHOP, after: 'att_7', limit: 50 })],
  [['account_pkey', 'attempt_late_money'], suspenseSums({ currency: 'usd' })],
  [['account_pkey', 'attempt_late_money'], suspenseSums(OF_SHOP)],
  [['attempt_to_inquire', 'payment_pkey', 'proof_waiting', 'refund_open'], undecided({}, NOW)],
  [['attempt_to_inquire', 'payment_pkey', 'proof_waiting', 'refund_open'], undecided(OF_SHOP, NOW)],
])('what waits for a person is found by %j', async (indexes, { statement: { text, name }, values }) => {
  const parameters = values.map((value) => client.escapeLiteral(value)).join(', ');
  expect((await scansOf(text, name, parameters)).toSorted()).toEqual(indexes);
});

const SEEN = {
  shard: 1,
  id: 'txn_7',
  merchant_id: MERCHANT,
  customer_reference: 'order-1',
  session_id: 'ses_7',
  created_at: NOW,
};

const SENT = { through: { connector: 'mtn-momo', carrier: 'mtn' }, purpose: 'refund', currency: 'usd' } as const;

test.each<[string[], Question]>([
  [['payment_of_merchant'], paymentSearch({ merchantId: MERCHANT, msisdn: '+1', before: 'txn_7', limit: 50 })],
  [['payment_by_reference'], paymentSearch({ merchantId: MERCHANT, reference: 'order-1', limit: 50 })],
  [['payment_pkey'], paymentSearch({ from: 0, limit: 50 })],
  [['payment_pkey'], paymentSearch({ from: 0, until: NOW, msisdn: '+1', status: 'approved', limit: 50 })],
  [
    ['attempt', 'attempt_of_order', 'payment', 'payment_pkey', 'refund', 'transfer_reference'],
    paymentSearch({ upstreamReference: 'a', from: 0, limit: 50 }),
  ],
  [['payout_line_pkey'], lineSearch({ from: 0, until: NOW, msisdn: '+1', limit: 50 })],
  [['payout_line_pkey'], lineSearch({ merchantId: MERCHANT, from: 0, status: 'failed', limit: 50 })],
  [['attempt_of_order', 'payout_line_pkey'], lineSearch({ upstreamReference: 'a', from: 0, limit: 50 })],
  [['attempt_by_time'], namedQuestion({ ...SENT, itself: 'rfd_7', reference: 'a', from: NOW })],
  [['attempt_pkey'], attemptsAt(SEEN)],
  [['payment_by_reference'], paymentsBeside(SEEN)],
  [['ledger_transfer_pkey'], transfersFor(1, ['txn_7', 'rfd_7'], NOW)],
])('orders, and what belongs to one, are found for people by %j', async (indexes, { statement, values }) => {
  const parameters = values.map((value) => client.escapeLiteral(value)).join(', ');
  expect((await scansOf(statement.text, statement.name, parameters)).toSorted()).toEqual(indexes);
});

test.each<[string, (nouns: Nouns) => Promise<unknown>]>([
  ['webhook_event_pkey', ({ event }) => event.list({ limit: 50 })],
  ['webhook_event_pkey', ({ event }) => event.list({ status: 'delivered', from: 0, after: 'evt_7', limit: 50 })],
  ['webhook_event_pkey', ({ event }) => event.list({ from: 0, until: NOW, limit: 50 })],
  ['webhook_event_dead', ({ event }) => event.list({ status: 'dead', limit: 50 })],
  ['webhook_event_gone', ({ event }) => event.list({ status: 'gone', merchantId: MERCHANT, from: 0, limit: 50 })],
  ['webhook_event_due', ({ event }) => event.list({ status: 'waiting', limit: 50 })],
  ['webhook_event_due', ({ event }) => event.list({ status: 'waiting', merchantId: MERCHANT, after: 'x', limit: 50 })],
  ['webhook_event_of_merchant', ({ event }) => event.list({ merchantId: MERCHANT, after: 'evt_7', limit: 50 })],
  ['refund_pkey', ({ refund }) => refund.list({ limit: 50 })],
  ['refund_open', ({ refund }) => refund.list({ status: 'pending', limit: 50 })],
  ['refund_open', ({ refund }) => refund.list({ status: 'processing', merchantId: MERCHANT, after: 'x', limit: 50 })],
  ['refund_of_merchant', ({ refund }) => refund.list({ merchantId: MERCHANT, limit: 50 })],
  ['proof_pkey', ({ proof }) => proof.list({ limit: 50 })],
  ['proof_waiting', ({ proof }) => proof.list({ status: 'waiting', limit: 50 })],
  ['proof_waiting', ({ proof }) => proof.list({ status: 'waiting', merchantId: MERCHANT, limit: 50 })],
  ['proof_of_merchant', ({ proof }) => proof.list({ merchantId: MERCHANT, limit: 50 })],
  ['proof_of_merchant', ({ proof }) => proof.list({ status: 'declined', merchantId: MERCHANT, after: 'x', limit: 50 })],
  ['payout_batch_pkey', ({ payoutBatch }) => payoutBatch.list({ limit: 50 })],
  ['payout_batch_pkey', ({ payoutBatch }) => payoutBatch.list({ state: 'started', after: 'x', limit: 50 })],
  ['payout_batch_open', ({ payoutBatch }) => payoutBatch.list({ state: 'waiting_for_approval', limit: 50 })],
  ['payout_batch_open', ({ payoutBatch }) => payoutBatch.list({ state: 'paused', limit: 50 })],
  ['payout_batch_open', ({ payoutBatch }) => payoutBatch.list({ state: 'scheduled', after: 'x', limit: 50 })],
  ['payout_batch_of_merchant', ({ payoutBatch }) => payoutBatch.list({ merchantId: MERCHANT, after: 'x', limit: 50 })],
])('operators’ lists use %s: %s', async (index, list) => {
  const [{ text, name }, values] = await askedBy((readers) => list(openNouns(readers, openRecent())));
  expect(await scansOf(text, name, values)).toEqual([index]);
});

test('the events of a shard, of all its merchants, are paged by the primary key', async () => {
  const filter = { shard: 1, merchantId: undefined, order: 'oldest', limit: 500 } as const;
  const [{ text, name }, values] = await askedBy((readers) =>
    pageOfEvents(readers, { ...filter, status: 'dead', beyond: 'evt_7', from: 0, until: NOW }),
  );
  expect(await scansOf(text, name, values)).toEqual(['webhook_event_pkey', 'webhook_event_pkey']);
});

test.each<[string[], (nouns: Nouns) => Promise<unknown>]>([
  [['idempotency_pkey', 'idempotency_to_reap_of_shard'], ({ idempotency }) => idempotency.reap(NOW, 100)],
  [['pin_guard_pkey', 'pin_guard_to_reap_of_shard'], ({ limitCounter }) => limitCounter.reap(NOW, 100)],
  [
    ['payout_batch_to_close', 'payout_line_open_of_batch', 'payout_line_open_of_batch'],
    ({ payoutBatch }) => payoutBatch.toClose(NOW, 100),
  ],
])('rounds look shard by shard, and batch by batch, with %j', async (indexes, read) => {
  const [{ text, name }, values] = await askedBy((readers) => read(openNouns(readers, openRecent())));
  expect((await scansOf(text, name, values)).toSorted()).toEqual(indexes);
});

test('the newest calls of each shard are found by the attempts’ primary key', async () => {
  const [{ text, name }, values] = await askedBy((readers) => readUpstreamCalls(readers, NOW));
  expect(await scansOf(text, name, values)).toEqual(['attempt_pkey']);
});

test('open and overdue rows are found by the indexes of the rounds', async () => {
  const now = `'${new Date(NOW).toISOString()}'`;
  expect((await scansOf(OVERDUE.text, OVERDUE.name, `${now}, '[]'`)).toSorted()).toEqual(
    [
      'attempt_to_inquire',
      'webhook_event_due',
      'payout_line_to_start',
      'merchant_pkey',
      'payout_batch_pkey',
      'refund_to_start',
      'payout_batch_to_run',
      'merchant_pkey',
      'payment_to_expire',
    ].toSorted(),
  );
  const ages = [now, now, now, now].join(', ');
  expect(await scansOf(ATTEMPTS.text, ATTEMPTS.name, ages)).toEqual(['attempt_to_inquire']);
  for (const [{ text, name }, values, indexes] of [
    [
      WAITING,
      `(${now})`,
      ['webhook_event_due', 'payout_line_to_start', 'refund_to_start', 'refund_by_hand', 'attempt_late_money'],
    ],
    [FAILING_RECEIVERS, '', ['webhook_event_due']],
    [DEAD_EVENTS, '', ['webhook_event_dead']],
  ] as const) {
    await client.query(`prepare ${name} as ${text}`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain execute ${name}${values}`);
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toContain('Seq Scan');
    for (const index of indexes) expect(plan).toContain(index);
  }
});
