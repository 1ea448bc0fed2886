/**
 * `npm run bench`: complete mobile-money payments over real HTTP, beside the same work done the naive way and
 * pgbench's TPC-B, on the same PostgreSQL and in the same run.
 *
 * The rounds interleave the candidates, and every ratio is taken inside a round: machines are shared and drift. The
 * load generator, the carrier, the gateway and PostgreSQL share this machine's cores.
 *
 * Options: `--seconds N` a slice (4), `--rounds N` (3), `--connections N` (64), `--json`.
 */

import { parseArgs } from 'node:util';
import pg from 'pg';
import type { LoadOrder } from './load.ts';
import { makeMerchants } from './merchants.ts';
import { measurePages, type PageReport } from './page.ts';
import { median } from './stats.ts';
import { freePort, type LoadResult, load, openDatabase, pgbench, start, stopAll } from './worlds.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    json: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);

interface Round {
  readonly one: LoadResult;
  readonly hundred: LoadResult;
  readonly naive: LoadResult;
  readonly tpcb: number | undefined;
}

const say = (line: string): void => {
  if (!values.json) console.log(line);
};

/** The process of a connection, from which the rest of the server is found. */
async function postgresPid(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where backend_type = 'checkpointer'`,
    );
    return rows[0]?.pid ?? 0;
  } finally {
    await client.end();
  }
}

async function databaseNamed(url: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`drop database if exists ${name}`);
    await client.query(`create database ${name}`);
  } finally {
    await client.end();
  }
  const target = new URL(url);
  target.pathname = `/${name}`;
  return target.href;
}

async function main(): Promise<void> {
  const database = await openDatabase();
  const [gatewayPort, sandboxPort, naivePort] = [await freePort(), await freePort(), await freePort()];
  const [gatewayUrl, naiveUrl, tpcbUrl] = [
    await databaseNamed(database.url, 'bench_gateway'),
    await databaseNamed(database.url, 'bench_naive'),
    await databaseNamed(database.url, 'bench_tpcb'),
  ];
  const sandbox = await start('../sandbox/main.js', [], { SANDBOX_PORT: String(sandboxPort), SANDBOX_SEED: 'bench' });
  const carrier = `http://127.0.0.1:${sandboxPort}`;
  await fetch(`${carrier}/control/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ auto_approve_ms: 0 }),
  });
  const gatewayEnv = {
    DATABASE_URL: gatewayUrl,
    DATA_DIR: `${process.env.TMPDIR ?? '/tmp'}/mbongo-bench-${process.pid}`,
    PORT: String(gatewayPort),
    SANDBOX_PORT: String(sandboxPort),
    PUBLIC_URL: `http://127.0.0.1:${gatewayPort}`,
    RATE_LIMIT_SCALE: '0',
    LOG_LEVEL: 'warn',
  };
  const gateway = await start('../src/main.js', ['serve', '--role', 'all'], gatewayEnv);
  const naive = await start('./naive.js', [], {
    DATABASE_URL: naiveUrl,
    NAIVE_PORT: String(naivePort),
    CARRIER_URL: `${carrier}/mtn`,
    CARRIER_SUBSCRIPTION: 'sandbox-collection',
    CARRIER_USER: '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e',
    CARRIER_KEY: 'sandbox-api-key',
  });
  const postgres = await postgresPid(gatewayUrl);
  const credentials = await makeMerchants(gatewayEnv, 100);
  let run = 0;
  const order = (port: number, merchants: number): LoadOrder => {
    run += 1;
    return {
      gateway: `http://127.0.0.1:${port}`,
      credentials: credentials.slice(0, merchants),
      connections,
      seconds,
      warmupSeconds: run <= 3 ? 3 : 1,
      receiverPort: 0,
      run,
    };
  };
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const slice = async (port: number, merchants: number, pid: number): Promise<LoadResult> =>
      load(
        { ...order(port, merchants), receiverPort: await freePort() },
        { server: pid, postgres, carrier: sandbox.pid },
      );
    const tpcb = await pgbench(tpcbUrl, seconds, round === 1);
    const one = await slice(gatewayPort, 1, gateway.pid);
    const naiveRun = await slice(naivePort, 1, naive.pid);
    const hundred = await slice(gatewayPort, 100, gateway.pid);
    measured.push({ one, hundred, naive: naiveRun, tpcb });
    say(
      `round ${round}: one merchant ${one.paymentsPerSecond.toFixed(0)}/s, 100 merchants ${hundred.paymentsPerSecond.toFixed(0)}/s, ` +
        `naive ${naiveRun.paymentsPerSecond.toFixed(0)}/s, pgbench TPC-B ${tpcb?.toFixed(0) ?? 'not installed'}`,
    );
  }
  const page = await measurePages({
    gateway: `http://127.0.0.1:${gatewayPort}`,
    credential: credentials[0] ?? '',
    pages: 500,
  });
  await Promise.all([gateway.stop(), naive.stop(), sandbox.stop()]);
  await database.close();
  report(measured, page);
}

function report(measured: readonly Round[], page: PageReport): void {
  const summary = {
    paymentsPerSecond: {
      oneMerchant: median(measured.map((round) => round.one.paymentsPerSecond)),
      hundredMerchants: median(measured.map((round) => round.hundred.paymentsPerSecond)),
      naive: median(measured.map((round) => round.naive.paymentsPerSecond)),
    },
    tpcbPerSecond: measured.every((round) => round.tpcb !== undefined)
      ? median(measured.map((round) => round.tpcb ?? 0))
      : undefined,
    ratios: {
      toNaive: median(measured.map((round) => round.one.paymentsPerSecond / round.naive.paymentsPerSecond)),
      toTpcb: median(measured.map((round) => round.one.paymentsPerSecond / (round.tpcb ?? Number.NaN))),
      hundredToTpcb: median(measured.map((round) => round.hundred.paymentsPerSecond / (round.tpcb ?? Number.NaN))),
    },
    hostedPage: page,
    rounds: measured,
  };
  if (values.json) {
    console.log(JSON.stringify(summary));
    return;
  }
  say(`\nmedian of ${measured.length} rounds, ${connections} connections, ${seconds} s a slice`);
  say(
    `  payments/s   one merchant ${summary.paymentsPerSecond.oneMerchant.toFixed(0)}, 100 merchants ${summary.paymentsPerSecond.hundredMerchants.toFixed(0)}, naive ${summary.paymentsPerSecond.naive.toFixed(0)}`,
  );
  say(
    `  ratios       ${summary.ratios.toNaive.toFixed(1)} × naive, ${summary.ratios.toTpcb.toFixed(2)} × TPC-B (100 merchants ${summary.ratios.hundredToTpcb.toFixed(2)})`,
  );
  say(
    `  hosted page  p50/p99 ms: first ${page.first.p50.toFixed(1)}/${page.first.p99.toFixed(1)}, again ${page.again.p50.toFixed(1)}/${page.again.p99.toFixed(1)}; ${page.bytes} bytes`,
  );
  for (const [name, pick] of [
    ['one merchant', (round: Round) => round.one],
    ['100 merchants', (round: Round) => round.hundred],
    ['naive', (round: Round) => round.naive],
  ] as const) {
    const last = pick(measured.at(-1) as Round);
    const endpoints = Object.entries(last.latency)
      .map(([endpoint, { p50, p99 }]) => `${endpoint} ${p50.toFixed(1)}/${p99.toFixed(1)}`)
      .join(', ');
    const each = (cpu: number, payments = last.total): string => ((cpu / Math.max(1, payments)) * 1e6).toFixed(0);
    say(
      `  ${name.padEnd(14)} p50/p99 ms: ${endpoints}, to webhook ${last.toWebhook.p50.toFixed(0)}/${last.toWebhook.p99.toFixed(0)}`,
    );
    say(
      `  ${''.padEnd(14)} CPU µs a payment: server ${each(last.gatewayCpuSeconds)}, PostgreSQL ${each(last.databaseCpuSeconds)}, ` +
        `carrier ${each(last.carrierCpuSeconds)}, load ${each(last.cpuSeconds, last.completed)}; ${last.gatewayMiB} MiB`,
    );
    if (Object.keys(last.errors).length > 0) say(`  ${''.padEnd(14)} errors: ${JSON.stringify(last.errors)}`);
  }
}

try {
  await main();
} catch (error) {
  stopAll();
  console.error(error);
  process.exit(1);
}
