/**
 * Fills a database with payments that were made and told, table by table: sessions, payments, timelines, attempts, transfers,
 * balances, events and tries, as the gateway itself leaves them.
 *
 * Invariant: what is written adds up, so that an audit finds nothing. The database is thrown away after the run.
 */

import type pg from 'pg';
import { withClient } from './worlds.ts';

export interface Fill {
  readonly payments: number;
  /** How many days the payments are spread over, and how many hours ago those days ended. */
  readonly days: number;
  readonly hoursAgo: number;
  /** How many merchants take part. If there are several, the first gets half of the payments. */
  readonly merchants: number;
  /** Where the webhooks went or are to go: a merchant's port is taken from these in turn. */
  readonly receiverPorts: readonly number[];
  /** Whether the webhooks were delivered, or have failed for an hour and are due at once. */
  readonly webhooks: 'delivered' | 'due';
}

/**
 * Fills empty tables, on two connections. They are truncated first, so that a server with `wal_level = minimal` writes no
 * WAL for the rows that follow; all indexes but the keys are created afterwards.
 */
export async function fillEmpty(databaseUrl: string, fill: Fill): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await draw(client, fill);
    const halves = await Promise.all([
      withClient(databaseUrl, (half) => writeWhole(half, fill, ['payment', 'webhook_attempt', 'ledger_transfer'])),
      withClient(databaseUrl, (half) =>
        writeWhole(half, fill, ['session', 'payment_history', 'attempt', 'webhook_event']),
      ),
    ]);
    await client.query('drop table bench_fill');
    const indexes = halves.flat();
    const later = [indexes.filter((_, at) => at % 2 === 0), indexes.filter((_, at) => at % 2 === 1)];
    await Promise.all(later.map((half) => withClient(databaseUrl, (maker) => makeIndexes(maker, half))));
    const tables = [TABLES.slice(0, 3), TABLES.slice(3)];
    await Promise.all(
      tables.map((half) => withClient(databaseUrl, (cleaner) => cleaner.query(`vacuum (analyze) ${half.join(', ')}`))),
    );
  });
}

/** Adds to the existing rows in one transaction: a gateway that is running sees all of them or none. */
export async function fillBeside(databaseUrl: string, fill: Fill): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    await draw(client, fill);
    await client.query('begin');
    for (const table of TABLES) await client.query(INSERTS[table](fill));
    await client.query(BALANCES);
    await client.query('drop table bench_fill');
    await client.query(`analyze ${TABLES.join(', ')}`);
    // Committed last, so that the caller can measure the gateway's work from its very start.
    await client.query('commit');
  });
}

type Filled =
  | 'session'
  | 'payment'
  | 'payment_history'
  | 'attempt'
  | 'ledger_transfer'
  | 'webhook_event'
  | 'webhook_attempt';

const TABLES = [
  'webhook_event',
  'payment_history',
  'ledger_transfer',
  'payment',
  'session',
  'attempt',
  'webhook_attempt',
] as const satisfies readonly Filled[];

/** What all rows of a payment share: its merchant, when it was made, and the common end of its identifiers. */
async function draw(client: pg.Client, { payments, days, hoursAgo, merchants, receiverPorts }: Fill): Promise<void> {
  await client.query('drop table if exists bench_fill');
  await client.query(
    `create unlogged table bench_fill as
    with owner as materialized (
      select (row_number() over (order by length(m.name), m.name)) - 1 as place, m.shard, m.id, c.id as credential_id
      from merchant m join credential c on c.merchant_id = m.id where m.name like 'bench-%' order by length(m.name), m.name limit $2),
    drawn as (
      select n, case when n % 2 = 0 then 0 else (n / 2) % $2::int8 end as place, md5(n::text) as chance,
        now() - $5::int * interval '1 hour' - $3::int * interval '1 day' * (1 - n::float8 / $1::int8) as at
      from generate_series(1, $1::int8) n)
    select n, o.shard, o.id as merchant_id, o.credential_id, chance,
      ($4::int4[])[1 + o.place % cardinality($4::int4[])] as port,
      ${BODY} collate "C" as body, date_trunc('milliseconds', at) as at
    from (select *, floor(extract(epoch from at) * 1000)::int8 as ms from drawn) d join owner o using (place)
    order by n`,
    [payments, merchants, days, receiverPorts, hoursAgo],
  );
  await client.query('analyze bench_fill');
}

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** The 26 characters of an identifier: ten of time, its UUID's version and variant, random ones, and the shard at the end. */
const BODY = [
  ...[9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((place) => `substr('${DIGITS}', ((ms >> ${5 * place}) & 31)::int + 1, 1)`),
  `'e' || substr(chance, 1, 2) || '8' || substr(chance, 3, 10)`,
  '(o.shard >> 5)::text',
  `substr('${DIGITS}', (o.shard & 31) + 1, 1)`,
].join(' || ');

/** Truncates and fills tables, and returns the statements that create their indexes. */
async function writeWhole(client: pg.Client, fill: Fill, tables: readonly Filled[]): Promise<string[]> {
  await client.query('begin');
  const { rows } = await client.query<{ made: string; name: string }>(
    `select pg_get_indexdef(i.indexrelid) as made, i.indexrelid::regclass::text as name
    from pg_index i where i.indrelid = any($1::regclass[]) and not i.indisprimary and not exists (
      select from pg_constraint c where c.conindid = i.indexrelid)`,
    [tables],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  await client.query(`truncate ${tables.join(', ')}`);
  for (const table of tables) {
    await client.query(INSERTS[table](fill));
    if (table === 'ledger_transfer') await client.query(BALANCES);
  }
  await client.query('commit');
  return rows.map(({ made }) => made);
}

async function makeIndexes(client: pg.Client, indexes: readonly string[]): Promise<void> {
  await client.query(`set maintenance_work_mem = '512MB'`);
  for (const made of indexes) await client.query(made);
}

/** The instants of a payment's steps: `at` and some milliseconds. */
const SUBMITTED = `(at + interval '20 ms')`;
const WAITING = `(at + interval '35 ms')`;
const SETTLED = `(at + interval '50 ms')`;
const TOLD = `(at + interval '60 ms')`;
const PHONE = `'+24381' || lpad((n % 100000)::text, 5, '0') || '01'`;
const CUSTOMER = `'filled-' || n`;
const HOOK = `'http://127.0.0.1:' || port || '/hook'`;
const LIFE = `interval '30 minutes'`;
/** 5 failed tries: what an hour of outage leaves. */
const TRIES_IN_VAIN = 5;

const INSERTS: Readonly<Record<Filled, (fill: Fill) => string>> = {
  session: () => `insert into session (shard, id, version, merchant_id, credential_id, token_hash, status, amount,
    amount_minor, currency, customer_reference, payments, submitting_payment_id, issued_at, expires_at)
  select shard, 'ses_' || body, 4, merchant_id, credential_id, chance || substr(chance, 1, 11), 'CONSUMED', '5.00',
    500, 'usd', ${CUSTOMER}, 1, 'txn_' || body, at, at + ${LIFE}
  from bench_fill order by n`,
  payment:
    () => `insert into payment (shard, id, version, merchant_id, session_id, status, method, amount, amount_minor,
    currency, customer_reference, fee_minor, total_minor, fee_covered_by, delivery_behaviour, notify_url, msisdn, carrier,
    attempt_id, provider_reference, events, language, created_at, submitted_at, completed_at, expires_at)
  select shard, 'txn_' || body, 4, merchant_id, 'ses_' || body, 'approved', 'mobile_money', '5.00', 500,
    'usd', ${CUSTOMER}, 0, 500, 'buyer', 'direct_delivery', ${HOOK}, ${PHONE}, 'Vodacom M-Pesa',
    'att_' || body, (10000000 + n)::text, 1, 'en', at, ${SUBMITTED}, ${SETTLED}, at + ${LIFE}
  from bench_fill order by n`,
  payment_history: () => `insert into payment_history (shard, payment_id, version, status, at)
  select shard, 'txn_' || body, line.version, line.status, line.at
  from bench_fill cross join lateral (values
    (2, 'processing', ${SUBMITTED}),
    (3, 'pending_mobile_money_verification', ${WAITING}),
    (4, 'approved', ${SETTLED})) as line (version, status, at) order by n, line.version`,
  attempt:
    () => `insert into attempt (shard, id, version, merchant_id, payment_id, connector, status, reference, msisdn,
    carrier, amount_minor, fee_minor, currency, provider_reference, inquiries, created_at, settled_at)
  select shard, 'att_' || body, 3, merchant_id, 'txn_' || body, 'mtn-momo', 'approved', chance::uuid::text, ${PHONE},
    'Vodacom M-Pesa', 500, 0, 'usd', (10000000 + n)::text, 0, ${SUBMITTED}, ${SETTLED}
  from bench_fill order by n`,
  // Past days are closed by the running gateway and take no more bookings, so these transfers are dated now.
  ledger_transfer: ({
    webhooks,
  }) => `insert into ledger_transfer (shard, id, debit_shard, debit_account, credit_shard, credit_account,
    amount_minor, currency, cause, cause_id, at)
  select shard, 'trf_' || body, shard, 'transit:mtn-momo:usd', shard, merchant_id || ':available:usd',
    500, 'usd', 'payment', 'txn_' || body, ${webhooks === 'due' ? `date_trunc('milliseconds', now())` : SETTLED}
  from bench_fill order by n`,
  webhook_event: ({
    webhooks,
  }) => `insert into webhook_event (shard, id, version, merchant_id, transaction_id, sequence,
    type, url, body, status, attempts, next_at, created_at, delivered_at, last_error)
  select shard, 'evt_' || body, ${webhooks === 'due' ? TRIES_IN_VAIN + 1 : 2}, merchant_id, 'txn_' || body, 1,
    'payment.approved', ${HOOK},
    '{"transaction_id":"txn_' || body || '","customer_reference":"' || ${CUSTOMER} ||
      '","status":"approved","amount":"5.00","currency":"usd","completed_at":"' ||
      to_char(${SETTLED} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"}',
    ${webhooks === 'due' ? `'waiting', ${TRIES_IN_VAIN}, now()` : `'delivered', 1, ${SETTLED} + interval '30 s'`}, ${SETTLED},
    ${webhooks === 'due' ? `null, 'connection_refused'` : `${TOLD}, null`}
  from bench_fill order by n`,
  webhook_attempt: ({ webhooks }) => `insert into webhook_attempt (shard, id, event_id, number, at, status_code,
    duration_ms, error)
  select shard, 'whd_' || substr(body, 1, 23) || try.number || substr(body, 25), 'evt_' || body, try.number,
    ${TOLD} + try.number * interval '10 minutes' - interval '10 minutes',
    ${webhooks === 'due' ? `null, 5, 'connection_refused'` : '200, 5, null'}
  from bench_fill cross join generate_series(1, ${webhooks === 'due' ? TRIES_IN_VAIN : 1}) as try (number)
  order by n, try.number`,
};

const BALANCES = `insert into account (shard, id, currency, balance, floored)
select shard, side.id, 'usd', sum(side.moved), side.id like 'mch\\_%' from (
  select shard, merchant_id, count(*) * 500 as minor from bench_fill group by shard, merchant_id) m
cross join lateral (values ('transit:mtn-momo:usd', -m.minor), (m.merchant_id || ':available:usd', m.minor))
  as side (id, moved)
group by shard, side.id
on conflict (shard, id) do update set balance = account.balance + excluded.balance`;
