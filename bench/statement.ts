/**
 * `npm run bench -- statement`: a merchant with ten million ledger lines reads its statement over HTTP: first pages, and a
 * million lines of CSV.
 *
 * The lines are written straight into a database that is thrown away; its days are closed by the gateway's own round. The
 * payments that the lines refer to are not written: a lookup that misses costs nearly as much as one that finds its row.
 *
 * Options: `--lines N` (10000000), `--pages N` of each kind (200), `--json`.
 */

import { parseArgs } from 'node:util';
import pg from 'pg';
import { Pool } from 'undici';
import { makeMerchants } from './merchants.ts';
import { openStage, type Stage } from './stage.ts';
import { type Latency, latencyOf, residentMiB } from './stats.ts';
import { tellerOf } from './teller.ts';

const DAY_MS = 24 * 60 * 60_000;
/** 100 days over which the lines are spread. */
const DAYS = 100;
/** Of eight transfers, two reserve money and one of those is paid out: ten lines of the merchant's accounts. */
const LINES_OF_EIGHT = 10;
const CSV_LINES = 1_000_000;
const LOOK_EVERY_MS = 500;

interface CsvReport {
  readonly lines: number;
  readonly seconds: number;
  readonly megabytes: number;
  /** The gateway's resident memory: before, at most during the first tenth, and at most overall. */
  readonly residentMiB: { readonly before: number; readonly early: number; readonly most: number };
}

interface Report {
  readonly lines: number;
  /** Milliseconds from the request to the last byte of a page of a hundred lines. */
  readonly firstPage: Readonly<Record<string, Latency>>;
  readonly csv: CsvReport;
}

export async function benchStatement(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      lines: { type: 'string', default: '10000000' },
      pages: { type: 'string', default: '200' },
      json: { type: 'boolean', default: false },
    },
  });
  const { say, hand } = tellerOf(values);
  const stage = await openStage();
  const [credential = ''] = await makeMerchants(stage.gatewayEnv, 1);
  const lines = Number(values.lines);
  say(`writing ${lines} lines`);
  await fill(stage, credential, lines);
  const report = await measure(stage, credential, { lines, pages: Number(values.pages) });
  await stage.close();
  for (const line of linesOf(report)) say(line);
  hand(report);
}

/** Fills the last `DAYS` days up to now. */
async function fill({ databaseUrl }: Stage, credential: string, lines: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const transfers = Math.floor((lines / LINES_OF_EIGHT) * 8);
    const [key = ''] = credential.split(':');
    const { rows } = await client.query<{ shard: number; id: string }>(
      'select m.shard, m.id from merchant m join credential c on c.merchant_id = m.id where c.id = $1',
      [key],
    );
    const { shard, id } = rows[0] ?? { shard: 0, id: '' };
    await client.query('alter table ledger_transfer set unlogged');
    const drawn = { shard, transfers, available: `${id}:available:usd`, reserved: `${id}:reserved:usd` };
    await client.query(FILL, [drawn.shard, drawn.transfers, drawn.available, drawn.reserved, DAYS]);
    await client.query(BALANCES, [drawn.shard, drawn.available, drawn.reserved]);
    await client.query('vacuum analyze ledger_transfer');
    await closed(client);
  } finally {
    await client.end();
  }
}

/** In each eight: two reservations, one payout, five payments. */
const FILL = `insert into ledger_transfer (
  shard, id, debit_shard, debit_account, credit_shard, credit_account, amount_minor, currency, cause, cause_id, at)
select $1, 'trf_' || lpad(n::text, 26, '0'), $1,
  case when n % 4 = 0 then $3 when n % 8 = 1 then $4 else 'transit:mtn-momo:usd' end, $1,
  case when n % 4 = 0 then $4 when n % 8 = 1 then 'transit:mtn-momo:usd' else $3 end,
  case when n % 4 = 0 or n % 8 = 1 then 100 else 1000 end, 'usd',
  case when n % 4 = 0 then 'payout_reserved' when n % 8 = 1 then 'payout' else 'payment' end,
  'txn_' || lpad(n::text, 26, '0'),
  date_trunc('milliseconds', now() - $5::int * interval '1 day' * (1 - n::float8 / $2::int8))
from generate_series(1, $2::int8) n`;

const BALANCES = `insert into account (shard, id, currency, balance, floored)
select $1, side.id, 'usd', sum(side.moved), side.id in ($2, $3) from (
  select debit_account as id, -amount_minor as moved from ledger_transfer where debit_shard = $1
  union all
  select credit_account, amount_minor from ledger_transfer where credit_shard = $1) side
group by side.id
on conflict (shard, id) do update set balance = excluded.balance`;

/** Waits until the gateway's round has closed all days before yesterday. */
async function closed(client: pg.Client): Promise<void> {
  const wanted = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
  for (;;) {
    const { rows } = await client.query<{ value: string }>(`select value from setting where id = 'last_closed_day'`);
    if ((rows[0]?.value ?? '') >= wanted) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

async function measure(
  { gatewayUrl, pids }: Stage,
  credential: string,
  { lines, pages }: { readonly lines: number; readonly pages: number },
): Promise<Report> {
  const pool = new Pool(gatewayUrl, { connections: 1 });
  const dayOf = (daysAgo: number): string =>
    new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 'yyyy-mm-dd'.length);
  const instantOf = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString();
  const kinds: Record<string, (n: number) => Record<string, string>> = {
    'a month': (n) => ({ from: dayOf(35 + (n % 60)), to: dayOf(5 + (n % 60)) }),
    everything: () => ({ from: dayOf(DAYS + 1) }),
    today: () => ({ from: dayOf(0) }),
    'from noon to noon': (n) => ({ from: instantOf(10.5 + (n % 80)), to: instantOf(3.5 + (n % 3)) }),
    'one balance': (n) => ({ from: dayOf(35 + (n % 60)), balance: 'available' }),
  };
  const firstPage: Record<string, Latency> = {};
  for (const [kind, queryOf] of Object.entries(kinds)) {
    const samples: number[] = [];
    for (let n = 0; n < pages; n += 1) samples.push(await read(pool, credential, queryOf(n)));
    firstPage[kind] = latencyOf(samples);
  }
  const days = Math.min(DAYS - 2, Math.ceil((CSV_LINES / lines) * DAYS));
  const csv = await readCsv(pool, credential, { from: dayOf(days + 1), to: dayOf(2) }, pids.server);
  await pool.close();
  return { lines, firstPage, csv };
}

function optionsOf(credential: string, query: Readonly<Record<string, string>>) {
  const path = `/api/v1/internal/statement?${new URLSearchParams({ currency: 'usd', ...query })}`;
  return { path, method: 'GET', headers: { authorization: `Bearer ${credential}` } } as const;
}

/** Milliseconds to read a page. */
async function read(pool: Pool, credential: string, query: Readonly<Record<string, string>>): Promise<number> {
  const begun = performance.now();
  const { statusCode, body } = await pool.request(optionsOf(credential, query));
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`a statement answered ${statusCode} ${text}`);
  return performance.now() - begun;
}

async function readCsv(
  pool: Pool,
  credential: string,
  query: Readonly<Record<string, string>>,
  server: number,
): Promise<CsvReport> {
  const before = residentMiB(server);
  const begun = performance.now();
  const { body } = await pool.request(optionsOf(credential, { ...query, format: 'csv' }));
  let [lines, bytes, chunks, early, most] = [0, 0, 0, before, before];
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1;
    chunks += 1;
    if (chunks % 50 === 0) most = Math.max(most, residentMiB(server));
    if (lines < CSV_LINES / 10) early = most;
  }
  const seconds = (performance.now() - begun) / 1_000;
  return { lines, seconds, megabytes: bytes / 1e6, residentMiB: { before, early, most } };
}

function linesOf({ lines, firstPage, csv }: Report): string[] {
  return [
    `first page of 100 lines, of ${lines}: p50/p99 ms`,
    ...Object.entries(firstPage).map(
      ([kind, { p50, p99 }]) => `  ${kind.padEnd(18)} ${p50.toFixed(1)}/${p99.toFixed(1)}`,
    ),
    `CSV: ${csv.lines} lines, ${csv.megabytes.toFixed(0)} MB in ${csv.seconds.toFixed(1)} s; the gateway held ` +
      `${csv.residentMiB.before} MiB before, ${csv.residentMiB.early} during the first tenth and ${csv.residentMiB.most} at most`,
  ];
}
