/**
 * `npm run bench -- payments`: complete mobile-money payments over real HTTP, beside the same work done the naive way
 * and pgbench's TPC-B, on the same PostgreSQL and in the same run.
 *
 * The rounds interleave the candidates, and every ratio is taken inside a round: machines are shared and drift. The
 * load generator, the carrier, the gateway and PostgreSQL share this machine's cores.
 *
 * Options: `--seconds N` a slice (4), `--rounds N` (3), `--connections N` (64), `--json`.
 */

import { parseArgs } from 'node:util';
import type { LoadOrder, LoadReport } from './load.ts';
import { makeMerchants } from './merchants.ts';
import { measurePages, type PageReport } from './page.ts';
import { openStage } from './stage.ts';
import { median } from './stats.ts';
import { freePort, load, pgbench, start, type Used } from './worlds.ts';

interface Options {
  readonly seconds: number;
  readonly rounds: number;
  readonly connections: number;
  /** Prints a line for people. */
  say(line: string): void;
}

type LoadResult = LoadReport & Used;

interface Round {
  readonly one: LoadResult;
  readonly hundred: LoadResult;
  readonly naive: LoadResult;
  readonly tpcb: number | undefined;
}

export async function benchPayments(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      connections: { type: 'string', default: '64' },
      json: { type: 'boolean', default: false },
    },
  });
  const options: Options = {
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    connections: Number(values.connections),
    say: (line) => {
      if (!values.json) console.log(line);
    },
  };
  const { measured, page } = await measure(options);
  const summary = summaryOf(measured, page);
  if (values.json) console.log(JSON.stringify(summary));
  else tell(summary, options);
}

async function measure(options: Options): Promise<{ measured: readonly Round[]; page: PageReport }> {
  const { seconds, rounds, connections, say } = options;
  const stage = await openStage();
  const naivePort = await freePort();
  const tpcbUrl = await stage.database('bench_tpcb');
  const naive = await start('./naive.js', [], {
    DATABASE_URL: await stage.database('bench_naive'),
    NAIVE_PORT: String(naivePort),
    CARRIER_URL: `${stage.carrierUrl}/mtn`,
    CARRIER_SUBSCRIPTION: 'sandbox-collection',
    CARRIER_USER: '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e',
    CARRIER_KEY: 'sandbox-api-key',
  });
  const naiveUrl = `http://127.0.0.1:${naivePort}`;
  const credentials = await makeMerchants(stage.gatewayEnv, 100);
  let run = 0;
  const order = async (gateway: string, merchants: number): Promise<LoadOrder> => {
    run += 1;
    return {
      gateway,
      credentials: credentials.slice(0, merchants),
      connections,
      seconds,
      warmupSeconds: run <= 3 ? 3 : 1,
      receiverPort: await freePort(),
      run,
    };
  };
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const slice = async (gateway: string, merchants: number, server: number): Promise<LoadResult> =>
      load<LoadReport>('./load.js', await order(gateway, merchants), { ...stage.pids, server });
    const tpcb = await pgbench(tpcbUrl, seconds, round === 1);
    const one = await slice(stage.gatewayUrl, 1, stage.pids.server);
    const naiveRun = await slice(naiveUrl, 1, naive.pid);
    const hundred = await slice(stage.gatewayUrl, 100, stage.pids.server);
    measured.push({ one, hundred, naive: naiveRun, tpcb });
    say(
      `round ${round}: one merchant ${one.paymentsPerSecond.toFixed(0)}/s, 100 merchants ${hundred.paymentsPerSecond.toFixed(0)}/s, ` +
        `naive ${naiveRun.paymentsPerSecond.toFixed(0)}/s, pgbench TPC-B ${tpcb?.toFixed(0) ?? 'not installed'}`,
    );
  }
  const page = await measurePages({ gateway: stage.gatewayUrl, credential: credentials[0] ?? '', pages: 500 });
  await naive.stop();
  await stage.close();
  return { measured, page };
}

function summaryOf(measured: readonly Round[], page: PageReport) {
  return {
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
}

function tell(summary: ReturnType<typeof summaryOf>, { seconds, connections, say }: Options): void {
  const { rounds, hostedPage: page } = summary;
  say(`\nmedian of ${rounds.length} rounds, ${connections} connections, ${seconds} s a slice`);
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
    const last = pick(rounds.at(-1) as Round);
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
