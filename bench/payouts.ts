/**
 * `npm run bench -- payouts`: lines of payout batches settled by the carrier and told by both webhooks, compared with pgbench's
 * TPC-B on the same PostgreSQL and in the same run.
 *
 * One merchant and a hundred take turns, and every ratio is taken within a round, because shared machines drift. The load
 * generator, the carrier, the gateway and PostgreSQL share this machine's cores, so the CPU time per line in each of them
 * says more than the lines per second do.
 *
 * Options: `--seconds N` per slice (5), `--rounds N` (3), `--batches N` in flight at once (16), `--json`.
 */

import { parseArgs } from 'node:util';
import { makeMerchants } from './merchants.ts';
import type { PayoutLoadOrder, PayoutLoadReport } from './payout-load.ts';
import { openStage } from './stage.ts';
import { median } from './stats.ts';
import { type Teller, tellerOf } from './teller.ts';
import { freePort, load, pgbench, type Used } from './worlds.ts';

const LINES_PER_BATCH = 100;
const MERCHANTS = 100;
const WARM_UP_SECONDS = 1;

interface Options extends Teller {
  readonly seconds: number;
  readonly rounds: number;
  readonly batches: number;
}

type Slice = PayoutLoadReport & Used;

interface Round {
  readonly one: Slice;
  readonly hundred: Slice;
  readonly tpcb: number | undefined;
}

export async function benchPayouts(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '3' },
      batches: { type: 'string', default: '16' },
      json: { type: 'boolean', default: false },
    },
  });
  const options: Options = {
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    batches: Number(values.batches),
    ...tellerOf(values),
  };
  const rounds = await measure(options);
  const summary = summaryOf(rounds);
  tell(summary, options);
  options.hand(summary);
}

async function measure({ seconds, rounds, batches, say }: Options): Promise<Round[]> {
  const stage = await openStage();
  const tpcbUrl = await stage.database('bench_tpcb');
  const credentials = await makeMerchants(stage.gatewayEnv, MERCHANTS, true);
  let run = 0;
  const slice = async (merchants: number): Promise<Slice> => {
    run += 1;
    const order: PayoutLoadOrder = {
      gateway: stage.gatewayUrl,
      credentials: credentials.slice(0, merchants),
      batches,
      linesPerBatch: LINES_PER_BATCH,
      seconds,
      warmupSeconds: WARM_UP_SECONDS,
      receiverPort: await freePort(),
      run,
    };
    return load<PayoutLoadReport>('./payout-load.js', order, stage.pids);
  };
  // Warms up compilers, caches and plans: the cost of the first lines says nothing about that of later ones.
  await slice(MERCHANTS);
  const measured: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const tpcb = await pgbench(tpcbUrl, seconds, round === 1);
    const one = await slice(1);
    const hundred = await slice(MERCHANTS);
    measured.push({ one, hundred, tpcb });
    say(
      `round ${round}: one merchant ${one.linesPerSecond.toFixed(0)} lines/s, ${MERCHANTS} merchants ` +
        `${hundred.linesPerSecond.toFixed(0)}, pgbench TPC-B ${tpcb?.toFixed(0) ?? 'not installed'}`,
    );
  }
  await stage.close();
  return measured;
}

/** Microseconds of CPU time per line, by process. Warm-up lines count in both numerator and denominator. */
function cpuOf(slice: Slice) {
  const each = (seconds: number, lines: number): number => (seconds / Math.max(1, lines)) * 1e6;
  return {
    gateway: each(slice.gatewayCpuSeconds, slice.total),
    postgres: each(slice.databaseCpuSeconds, slice.total),
    carrier: each(slice.carrierCpuSeconds, slice.total),
    load: each(slice.cpuSeconds, slice.completed),
  };
}

function summaryOf(rounds: readonly Round[]) {
  const of = (pick: (round: Round) => Slice) => {
    const slices = rounds.map(pick);
    const middle = (figure: (slice: Slice) => number): number => median(slices.map(figure));
    return {
      linesPerSecond: middle((slice) => slice.linesPerSecond),
      toTpcb: median(rounds.map((round) => pick(round).linesPerSecond / (round.tpcb ?? Number.NaN))),
      sendMs: { p50: middle(({ send }) => send.p50), p99: middle(({ send }) => send.p99) },
      toLastWebhookMs: {
        p50: middle(({ toLastWebhook }) => toLastWebhook.p50),
        p99: middle(({ toLastWebhook }) => toLastWebhook.p99),
      },
      cpuMicroseconds: {
        gateway: middle((slice) => cpuOf(slice).gateway),
        postgres: middle((slice) => cpuOf(slice).postgres),
        carrier: middle((slice) => cpuOf(slice).carrier),
        load: middle((slice) => cpuOf(slice).load),
      },
      gatewayMiB: middle(({ gatewayMiB }) => gatewayMiB),
    };
  };
  return {
    oneMerchant: of(({ one }) => one),
    hundredMerchants: of(({ hundred }) => hundred),
    tpcbPerSecond: rounds.every(({ tpcb }) => tpcb !== undefined)
      ? median(rounds.map(({ tpcb }) => tpcb ?? 0))
      : undefined,
    rounds,
  };
}

function tell(summary: ReturnType<typeof summaryOf>, { seconds, batches, say }: Options): void {
  const { rounds, oneMerchant, hundredMerchants } = summary;
  say(`\nmedian of ${rounds.length} rounds, ${batches} batches of ${LINES_PER_BATCH} under way, ${seconds} s a slice`);
  for (const [name, figures] of [
    ['one merchant', oneMerchant],
    [`${MERCHANTS} merchants`, hundredMerchants],
  ] as const) {
    const { sendMs, toLastWebhookMs, cpuMicroseconds: cpu } = figures;
    const empty = ''.padEnd(14);
    say(
      `  ${name.padEnd(14)} ${figures.linesPerSecond.toFixed(0)} lines/s settled and told, ${figures.toTpcb.toFixed(2)} × TPC-B`,
    );
    say(
      `  ${empty} p50/p99 ms: send ${sendMs.p50.toFixed(0)}/${sendMs.p99.toFixed(0)}, ` +
        `to the last line's webhook ${toLastWebhookMs.p50.toFixed(0)}/${toLastWebhookMs.p99.toFixed(0)}`,
    );
    say(
      `  ${empty} CPU µs a line: gateway ${cpu.gateway.toFixed(0)}, PostgreSQL ${cpu.postgres.toFixed(0)}, ` +
        `carrier ${cpu.carrier.toFixed(0)}, load ${cpu.load.toFixed(0)}; ${figures.gatewayMiB} MiB`,
    );
  }
  const errors = rounds.flatMap(({ one, hundred }) => [one.errors, hundred.errors]);
  for (const found of errors) if (Object.keys(found).length > 0) say(`  errors: ${JSON.stringify(found)}`);
}
