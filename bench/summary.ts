/**
 * From the rounds of a run to its figures: medians, ratios, goals, and whether the machine was quiet enough to trust them.
 *
 * Invariant: a figure of several rounds is their median, a ratio the median of the rounds' ratios, and what was not
 * measured is absent.
 */

import type { DrainReport } from './drain.ts';
import { type Batches, type CpuOf, cpuOf, type Slice } from './measure.ts';
import type { Settings } from './options.ts';
import type { PageReport } from './page.ts';
import type { Counted } from './statements.ts';
import { type Latency, median, medianRatio, scatter } from './stats.ts';

export interface Round {
  /** TPC-B-like transactions per second; undefined if pgbench is not installed, or nothing is compared with it. */
  readonly tpcb: number | undefined;
  readonly slices: Readonly<Record<string, Slice>>;
  readonly drains: Readonly<Record<string, DrainReport>>;
}

/** What is measured once. */
export interface Extras {
  readonly page: PageReport | undefined;
  readonly counted: Counted | undefined;
  readonly startMs: number;
  readonly books: Readonly<Record<string, { readonly ok: boolean; readonly detail: string }>>;
  readonly rows: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly postgres: string;
}

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
  readonly at: string;
}

export interface Circumstances {
  readonly settings: Settings;
  readonly machine: Machine;
  readonly minutes: number;
}

/** A slice over all rounds. */
export interface Figure {
  readonly perSecond: number;
  readonly rounds: readonly number[];
  /** Absent where the comparison makes no sense. */
  readonly toTpcb: number | undefined;
  readonly toNaive: number | undefined;
  readonly latency: Readonly<Record<string, Latency>>;
  readonly toWebhook: Latency;
  readonly toldAfterFinal: Latency;
  readonly lateness: Latency;
  readonly cpuMicroseconds: CpuOf;
  /** The server's maximum. */
  readonly serverMiB: number;
  readonly walBytes: number;
  readonly batches: Batches | undefined;
  readonly errors: Readonly<Record<string, number>>;
}

export interface Goal {
  readonly what: string;
  readonly wanted: string;
  readonly measured: number;
  readonly unit: string;
  readonly isReached: boolean;
}

export interface Summary extends Circumstances {
  readonly tpcb: { readonly perSecond: number; readonly rounds: readonly number[] } | undefined;
  readonly figures: Readonly<Record<string, Figure>>;
  readonly drains: Readonly<Record<string, Drained>>;
  /** The speed with full tables, as a fraction of that with empty ones. */
  readonly filledToEmpty: number | undefined;
  readonly noise: Noise;
  readonly goals: readonly Goal[];
  readonly extras: Extras;
  readonly rounds: readonly Round[];
}

export interface Drained {
  readonly perSecond: number;
  readonly seconds: number;
  readonly missing: number;
  readonly repeated: number;
  readonly serverMicroseconds: number;
  readonly postgresMicroseconds: number;
}

export interface Noise {
  /** How far the yardsticks' rounds differ, as a fraction of their median. */
  readonly tpcb: number;
  readonly naive: number;
  /** Whether the machine was too noisy: the figures should be measured again on a quieter one. */
  readonly isLoud: boolean;
}

const LOUD_FROM = 0.25;

export function summaryOf(rounds: readonly Round[], extras: Extras, circumstances: Circumstances): Summary {
  const names = [...new Set(rounds.flatMap(({ slices }) => Object.keys(slices)))];
  const figures = Object.fromEntries(names.map((name) => [name, figureOf(rounds, name)]));
  const tpcbs = rounds.flatMap(({ tpcb }) => tpcb ?? []);
  const drains = Object.fromEntries(
    [...new Set(rounds.flatMap((round) => Object.keys(round.drains)))].map((name) => [name, drainedOf(rounds, name)]),
  );
  const filledToEmpty = figures.filledOne && medianRatio(perSecondOf(rounds, 'filledOne'), perSecondOf(rounds, 'one'));
  const noise = noiseOf(tpcbs, figures.naive?.rounds ?? []);
  const measured = { figures, filledToEmpty, startMs: extras.startMs };
  return {
    ...circumstances,
    tpcb: tpcbs.length === 0 ? undefined : { perSecond: median(tpcbs), rounds: tpcbs },
    figures,
    drains,
    filledToEmpty,
    noise,
    goals: goalsOf(measured),
    extras,
    rounds,
  };
}

export function noiseOf(tpcb: readonly number[], naive: readonly number[]): Noise {
  const scatters = { tpcb: scatter(tpcb), naive: scatter(naive) };
  return { ...scatters, isLoud: scatters.tpcb > LOUD_FROM || scatters.naive > LOUD_FROM };
}

function perSecondOf(rounds: readonly Round[], name: string): (number | undefined)[] {
  return rounds.map(({ slices }) => slices[name]?.perSecond);
}

function figureOf(rounds: readonly Round[], name: string): Figure {
  const slices = rounds.flatMap(({ slices: all }) => all[name] ?? []);
  const middle = (of: (slice: Slice) => number): number => median(slices.map(of));
  const latency = (of: (slice: Slice) => Latency | undefined): Latency => ({
    count: slices.reduce((sum, slice) => sum + (of(slice)?.count ?? 0), 0),
    p50: middle((slice) => of(slice)?.p50 ?? 0),
    p99: middle((slice) => of(slice)?.p99 ?? 0),
    p999: middle((slice) => of(slice)?.p999 ?? 0),
  });
  const ratio = (under: readonly (number | undefined)[]): number | undefined => {
    const found = medianRatio(perSecondOf(rounds, name), under);
    return Number.isNaN(found) ? undefined : found;
  };
  const endpoints = [...new Set(slices.flatMap((slice) => Object.keys(slice.latency)))];
  return {
    perSecond: middle(({ perSecond }) => perSecond),
    rounds: slices.map(({ perSecond }) => perSecond),
    toTpcb: ratio(rounds.map(({ tpcb }) => tpcb)),
    toNaive: ratio(perSecondOf(rounds, 'naive')),
    latency: Object.fromEntries(endpoints.map((what) => [what, latency((slice) => slice.latency[what])])),
    toWebhook: latency(({ toWebhook }) => toWebhook),
    toldAfterFinal: latency(({ toldAfterFinal }) => toldAfterFinal),
    lateness: latency(({ lateness }) => lateness),
    cpuMicroseconds: {
      server: middle((slice) => cpuOf(slice).server),
      postgres: middle((slice) => cpuOf(slice).postgres),
      carrier: middle((slice) => cpuOf(slice).carrier),
      load: middle((slice) => cpuOf(slice).load),
      receiver: middle((slice) => cpuOf(slice).receiver),
    },
    serverMiB: Math.max(...slices.map(({ gatewayMiB }) => gatewayMiB)),
    walBytes: middle(({ walBytes }) => walBytes),
    batches: batchesOver(slices),
    errors: errorsOver(slices),
  };
}

function batchesOver(slices: readonly Slice[]): Batches | undefined {
  const all = slices.flatMap(({ batches }) => batches ?? []);
  if (all.length === 0) return undefined;
  const middle = (of: (batches: Batches) => number): number => median(all.map(of));
  return {
    changes: middle(({ changes }) => changes),
    perSecond: middle(({ perSecond }) => perSecond),
    milliseconds: middle(({ milliseconds }) => milliseconds),
  };
}

function errorsOver(slices: readonly Slice[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { errors } of slices) {
    for (const [what, count] of Object.entries(errors)) sums[what] = (sums[what] ?? 0) + count;
  }
  return sums;
}

function drainedOf(rounds: readonly Round[], name: string): Drained {
  const drains = rounds.flatMap((round) => round.drains[name] ?? []);
  const middle = (of: (drain: DrainReport) => number): number => median(drains.map(of));
  return {
    perSecond: middle(({ perSecond }) => perSecond),
    seconds: middle(({ seconds }) => seconds),
    missing: Math.max(...drains.map(({ missing }) => missing)),
    repeated: Math.max(...drains.map(({ repeated }) => repeated)),
    serverMicroseconds: middle(({ cpuMicroseconds }) => cpuMicroseconds.server),
    postgresMicroseconds: middle(({ cpuMicroseconds }) => cpuMicroseconds.postgres),
  };
}

interface Measured {
  readonly figures: Readonly<Record<string, Figure>>;
  readonly filledToEmpty: number | undefined;
  readonly startMs: number;
}

/** The slowest of the answers that callers wait for; the end-to-end latency has a goal of its own. */
function slowest(figure: Figure | undefined, of: (latency: Latency) => number): number | undefined {
  if (figure === undefined) return undefined;
  return Math.max(
    ...Object.entries(figure.latency).flatMap(([what, latency]) => (what === 'whole' ? [] : of(latency))),
  );
}

/** The promises, compared with what was measured; what was not measured is left out. */
export function goalsOf({ figures, filledToEmpty, startMs }: Measured): Goal[] {
  const { one, open50, reads } = figures;
  const serverMiB = Math.max(
    ...Object.entries(figures).flatMap(([name, { serverMiB: mib }]) => (name === 'naive' ? [] : mib)),
  );
  const least = (what: string, wanted: number, unit: string, measured: number | undefined): Goal[] =>
    measured === undefined ? [] : [{ what, wanted: `≥ ${wanted}`, measured, unit, isReached: measured >= wanted }];
  const most = (what: string, wanted: number, unit: string, measured: number | undefined): Goal[] =>
    measured === undefined ? [] : [{ what, wanted: `≤ ${wanted}`, measured, unit, isReached: measured <= wanted }];
  return [
    ...least('payments for one TPC-B transaction', 0.5, '×', one?.toTpcb),
    ...least('payments for one of the naive way', 6, '×', one?.toNaive),
    ...most(
      'slowest endpoint at 50 % of the peak, p99',
      25,
      'ms',
      slowest(open50, ({ p99 }) => p99),
    ),
    ...most(
      'slowest endpoint at 50 % of the peak, p50',
      3,
      'ms',
      slowest(open50, ({ p50 }) => p50),
    ),
    ...most('webhook acknowledged after the final state, p99', 500, 'ms', open50?.toldAfterFinal.p99),
    ...least('status reads', 8_000, '/s', reads?.perSecond),
    ...most('resident memory of the gateway', 250, 'MiB', Number.isFinite(serverMiB) ? serverMiB : undefined),
    ...least('speed with full tables, of that with empty ones', 0.85, '×', filledToEmpty),
    ...most('start on an existing database', 1_500, 'ms', startMs),
  ];
}
