/**
 * `npm run bench`: measures every promise about speed in one run, beside yardsticks on the same PostgreSQL.
 *
 * Compared candidates are interleaved in rounds, and every ratio is taken within a round, because shared machines drift. The
 * load, the receivers, the carriers, the gateways and PostgreSQL are separate processes and share this machine's cores.
 * Invariant: no two measurements overlap, and a figure is reported only if it was measured in this run.
 */

import { availableParallelism, cpus, platform, release, totalmem } from 'node:os';
import { type DrainReport, measureDrain } from './drain.ts';
import { fillEmpty } from './fill.ts';
import type { JourneyName, Wallet } from './journeys.ts';
import { measureSlice, type Slice } from './measure.ts';
import { makeMerchants, makeWallets, mbongo } from './merchants.ts';
import { type BenchOptions, readOptions, type Settings } from './options.ts';
import { measurePages } from './page.ts';
import { linesOf } from './report.ts';
import { type Candidate, type Ground, openGateway, openGround, openNaive } from './stage.ts';
import { COUNTING, countStatements, stopCounting } from './statements.ts';
import { type Extras, type Machine, type Round, summaryOf } from './summary.ts';
import { freePort, pgbench, withClient } from './worlds.ts';

/** For filling: minimal WAL, because the rows are thrown away after the run. */
const FILLING = { wal_level: 'minimal', max_wal_senders: '0', max_wal_size: '4GB' } as const;
const MEASURING = { wal_level: undefined, max_wal_senders: undefined, max_wal_size: undefined, ...COUNTING } as const;
const WALLETS = 8;
const FILLED_DAYS = 30;
const RECEIVERS = 8;

/** The candidates, and what they are measured with. */
interface Field {
  readonly ground: Ground;
  readonly gateway: Candidate;
  /** The gateway on a database full of payments. */
  readonly filled: Candidate | undefined;
  readonly naive: Candidate;
  readonly tpcbUrl: string;
  readonly credentials: readonly string[];
  readonly wallets: readonly Wallet[];
}

export async function benchAll(args: string[]): Promise<void> {
  const options = readOptions(args);
  const begun = performance.now();
  const field = await openField(options);
  await warmUp(field, options);
  const rounds: Round[] = [];
  for (let number = 1; number <= options.settings.rounds; number += 1) {
    rounds.push(await playRound(field, options, number));
  }
  const extras = await measureExtras(field, options);
  await closeField(field);
  const minutes = (performance.now() - begun) / 60_000;
  const summary = summaryOf(rounds, extras, { settings: options.settings, machine: machine(extras.postgres), minutes });
  for (const line of linesOf(summary)) options.say(line);
  options.hand(summary);
}

/** Opens everything, in an order in which no step disturbs another. */
async function openField(options: BenchOptions): Promise<Field> {
  const { settings, parts, say } = options;
  const ground = await openGround();
  const isFilled = parts.has('filled');
  await ground.server.restart(isFilled ? { ...FILLING, ...COUNTING } : COUNTING);
  const empty = await ground.database('bench_gateway');
  say(`making ${settings.merchants} merchants`);
  const credentials = await makeMerchants(ground.envOf(empty), settings.merchants);
  if (isFilled) await fillDatabase(ground, options);
  // A restarted server may have another port.
  const emptyUrl = ground.urlOf('bench_gateway');
  const wallets = parts.has('wallet') ? await makeWallets(ground.envOf(emptyUrl), WALLETS) : [];
  const gateway = await openGateway(ground, emptyUrl);
  const filled = isFilled ? await openGateway(ground, ground.urlOf('bench_filled')) : undefined;
  if (filled !== undefined) await daysClosed(filled.databaseUrl);
  await stopCounting(gateway.databaseUrl);
  const naive = await openNaive(await ground.database('bench_naive'));
  const tpcbUrl = await ground.database('bench_tpcb');
  return { ground, gateway, filled, naive, tpcbUrl, credentials, wallets };
}

async function fillDatabase(ground: Ground, { settings, say }: BenchOptions): Promise<void> {
  const begun = performance.now();
  const { payments, merchants } = settings;
  say(`filling a database with ${payments} payments`);
  const url = await ground.database('bench_filled', 'bench_gateway');
  const receiverPorts = [await freePort()];
  const times = { days: FILLED_DAYS, hoursAgo: 0 };
  await fillEmpty(url, { payments, merchants, receiverPorts, ...times, webhooks: 'delivered' });
  await ground.server.restart(MEASURING);
  say(`filled in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
}

/** Waits until the gateway's round has closed the past days, as it has on a database in use. */
async function daysClosed(url: string): Promise<void> {
  // A day is closed an hour after its end, so just after midnight yesterday is still open.
  const dayBeforeYesterday = new Date(performance.timeOrigin + performance.now() - 2 * 24 * 60 * 60_000);
  const wanted = dayBeforeYesterday.toISOString().slice(0, 'yyyy-mm-dd'.length);
  await withClient(url, async (client) => {
    for (;;) {
      const { rows } = await client.query<{ value: string }>(`select value from setting where id = 'last_closed_day'`);
      if ((rows[0]?.value ?? '') >= wanted) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  });
}

/** Compilers, caches and plans: the cost of the first payments says nothing about that of later ones. */
async function warmUp(field: Field, { settings }: BenchOptions): Promise<void> {
  for (const candidate of [field.gateway, field.filled, field.naive]) {
    if (candidate === undefined) continue;
    const seconds = settings.warmupSeconds;
    await measureSlice(candidate, { ...(await orderOf(field, settings, { merchants: 2 })), seconds });
  }
}

async function playRound(field: Field, { settings, parts, say }: BenchOptions, number: number): Promise<Round> {
  const { gateway, filled, naive, credentials } = field;
  const slices: Record<string, Slice> = {};
  const run = async (name: string, candidate: Candidate, more: Partial<SliceOrder> = {}): Promise<Slice> => {
    const slice = await measureSlice(candidate, await orderOf(field, settings, more));
    slices[name] = slice;
    say(`  round ${number}  ${name.padEnd(16)} ${slice.perSecond.toFixed(0).padStart(6)}/s${errorsOf(slice)}`);
    return slice;
  };
  const hasYardsticks = parts.has('payments') || parts.has('filled');
  const tpcb = hasYardsticks ? await pgbench(field.tpcbUrl, settings.seconds, number === 1) : undefined;
  if (hasYardsticks)
    say(`  round ${number}  ${'pgbench TPC-B'.padEnd(16)} ${tpcb?.toFixed(0).padStart(6) ?? 'none'}/s`);
  const one = hasYardsticks || parts.has('open') ? await run('one', gateway) : undefined;
  if (hasYardsticks) await run('naive', naive);
  if (parts.has('payments')) await run('hundred', gateway, { merchants: credentials.length });
  if (filled !== undefined) {
    await run('filledOne', filled);
    await run('filledHundred', filled, { merchants: credentials.length });
  }
  if (parts.has('open') && one !== undefined) {
    await run('open50', gateway, { perSecond: one.perSecond * 0.5 });
    await run('open80', gateway, { perSecond: one.perSecond * 0.8 });
  }
  if (parts.has('sessions')) await run('sessions', gateway, { journey: 'session' });
  if (parts.has('reads')) await run('reads', gateway, { journey: 'read' });
  if (parts.has('wallet')) await run('wallet', gateway, { journey: 'wallet' });
  const drains = parts.has('drain') ? await drain(field, settings, say, number) : {};
  return { tpcb, slices, drains };
}

interface SliceOrder {
  readonly journey: JourneyName;
  readonly merchants: number;
  readonly perSecond: number;
}

let runs = 0;

async function orderOf(field: Field, settings: Settings, more: Partial<SliceOrder>) {
  runs += 1;
  return {
    journey: more.journey ?? 'payment',
    ...(more.perSecond === undefined ? {} : { perSecond: more.perSecond }),
    credentials: field.credentials.slice(0, more.merchants ?? 1),
    wallets: field.wallets,
    connections: settings.connections,
    seconds: settings.seconds,
    warmupSeconds: 1,
    receiverPort: await freePort(),
    run: runs,
  };
}

function errorsOf({ errors }: Slice): string {
  return Object.keys(errors).length === 0 ? '' : `  errors: ${JSON.stringify(errors)}`;
}

/** Drains one merchant's webhooks to one receiver, and all merchants' to several. */
async function drain(
  { gateway, credentials }: Field,
  { backlog }: Settings,
  say: (line: string) => void,
  number: number,
): Promise<Record<string, DrainReport>> {
  const drained: Record<string, DrainReport> = {};
  for (const [name, merchants, receivers] of [
    ['one', 1, 1],
    ['hundred', credentials.length, RECEIVERS],
  ] as const) {
    const report = await measureDrain(gateway, { events: backlog, merchants, receivers });
    drained[name] = report;
    say(
      `  round ${number}  ${`drain ${name}`.padEnd(16)} ${report.perSecond.toFixed(0).padStart(6)}/s, ${report.missing} missing`,
    );
  }
  return drained;
}

/** Measured once: pages, a payment's cost in PostgreSQL, the start, and whether everything adds up. */
async function measureExtras(field: Field, options: BenchOptions): Promise<Extras> {
  const { gateway, filled, credentials } = field;
  const { parts, settings } = options;
  const page = parts.has('page')
    ? await measurePages({ gateway: gateway.url, credential: credentials[0] ?? '', pages: settings.pages })
    : undefined;
  const counted = parts.has('payments')
    ? await countStatements(gateway.databaseUrl, async () => {
        return (await measureSlice(gateway, await orderOf(field, settings, {}))).total;
      })
    : undefined;
  const books: Record<string, { readonly ok: boolean; readonly detail: string }> = {};
  const rows: Record<string, Readonly<Record<string, number>>> = {};
  for (const [name, candidate] of Object.entries({ empty: gateway, filled })) {
    if (candidate === undefined) continue;
    books[name] = await audited(candidate);
    rows[name] = await rowsIn(candidate);
  }
  await Promise.all([gateway.stop(), filled?.stop()]);
  const started = await openGateway(field.ground, (filled ?? gateway).databaseUrl);
  await started.stop();
  const postgres = await withClient(gateway.databaseUrl, async (client) => {
    const { rows: found } = await client.query<{ server_version: string }>('show server_version');
    return found[0]?.server_version ?? '';
  });
  return { page, counted, startMs: started.startedInMs, books, rows, postgres };
}

/** What `mbongo doctor` finds in the books: it checks every account and every transfer. */
async function audited({ env }: Candidate): Promise<{ ok: boolean; detail: string }> {
  const { checks } = (await mbongo(env, ['doctor'])) as {
    checks: readonly { name: string; ok: boolean; detail: string }[];
  };
  return checks.find(({ name }) => name === 'books') ?? { ok: false, detail: 'the books were not looked at' };
}

function rowsIn({ databaseUrl }: Candidate): Promise<Record<string, number>> {
  return withClient(databaseUrl, async (client) => {
    await client.query('analyze');
    const { rows } = await client.query<{ name: string; count: number }>(
      `select c.relname as name, c.reltuples as count from pg_class c
      where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace and c.reltuples > 0 order by 2 desc`,
    );
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  });
}

async function closeField({ naive, ground }: Field): Promise<void> {
  await naive.stop();
  await ground.close();
}

function machine(postgres: string): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()}`,
    node: process.versions.node,
    postgres,
    at: new Date(performance.timeOrigin + performance.now()).toISOString(),
  };
}
