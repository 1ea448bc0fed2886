/**
 * From rounds to figures: medians, ratios within a round, goals, and a warning if the machine was noisy.
 */
import { expect, test } from 'vitest';
import type { Slice } from './measure.ts';
import { columns, noiseLines } from './report.ts';
import { goalsOf, noiseOf, type Round, summaryOf } from './summary.ts';

const NONE = { count: 0, p50: 0, p99: 0, p999: 0 };

function sliceOf(perSecond: number, more: Partial<Slice> = {}): Slice {
  return {
    perSecond,
    completed: perSecond,
    total: perSecond,
    errors: {},
    latency: { mint: { count: 10, p50: 2, p99: 9, p999: 20 }, whole: { count: 10, p50: 40, p99: 90, p999: 99 } },
    toWebhook: NONE,
    toldAfterFinal: { count: 10, p50: 5, p99: 50, p999: 60 },
    lateness: NONE,
    cpuSeconds: 0,
    receiverCpuSeconds: 0,
    gatewayCpuSeconds: 0,
    databaseCpuSeconds: 0,
    carrierCpuSeconds: 0,
    gatewayMiB: 100,
    walBytes: 0,
    ...more,
  };
}

function roundOf(tpcb: number | undefined, speeds: Readonly<Record<string, number>>): Round {
  const slices = Object.fromEntries(Object.entries(speeds).map(([name, speed]) => [name, sliceOf(speed)]));
  return { tpcb, slices, drains: {} };
}

const EXTRAS = { page: undefined, counted: undefined, startMs: 900, books: {}, rows: {}, postgres: '18' };
const CIRCUMSTANCES = {
  settings: {
    rounds: 3,
    seconds: 5,
    warmupSeconds: 1,
    connections: 64,
    merchants: 100,
    payments: 1000,
    backlog: 10,
    pages: 1,
  },
  machine: { cores: 2, processor: 'one', memoryGiB: 4, system: 'linux', node: '20', postgres: '18', at: 'now' },
  minutes: 1,
};

test('ratios are taken within each round, so that a drifting machine does not distort them', () => {
  const rounds = [
    roundOf(4000, { one: 2000, naive: 400, filledOne: 1800 }),
    roundOf(2000, { one: 1000, naive: 200, filledOne: 900 }),
    roundOf(1000, { one: 500, naive: 100, filledOne: 450 }),
  ];
  const { figures, filledToEmpty, tpcb } = summaryOf(rounds, EXTRAS, CIRCUMSTANCES);
  expect(figures.one).toMatchObject({ perSecond: 1000, rounds: [2000, 1000, 500], toTpcb: 0.5, toNaive: 5 });
  expect(filledToEmpty).toBe(0.9);
  expect(tpcb).toEqual({ perSecond: 2000, rounds: [4000, 2000, 1000] });
});

test('without pgbench there is no ratio to it, and a figure that was not measured has no goal', () => {
  const { figures, tpcb, goals } = summaryOf([roundOf(undefined, { one: 100, naive: 50 })], EXTRAS, CIRCUMSTANCES);
  expect(tpcb).toBeUndefined();
  expect(figures.one?.toTpcb).toBeUndefined();
  expect(goals.map(({ what }) => what)).toEqual([
    'payments for one of the naive way',
    'resident memory of the gateway',
    'start on an existing database',
  ]);
});

test('goals are compared with the slowest endpoint, not with the end-to-end payment', () => {
  const { figures } = summaryOf([roundOf(200, { one: 100, naive: 10, open50: 50 })], EXTRAS, CIRCUMSTANCES);
  const goals = goalsOf({ figures, filledToEmpty: 0.8, startMs: 900 });
  const measured = Object.fromEntries(goals.map((goal) => [goal.what, [goal.measured, goal.isReached]]));
  expect(measured).toEqual({
    'payments for one TPC-B transaction': [0.5, true],
    'payments for one of the naive way': [10, true],
    'slowest endpoint at 50 % of the peak, p99': [9, true],
    'slowest endpoint at 50 % of the peak, p50': [2, true],
    'webhook acknowledged after the final state, p99': [50, true],
    'resident memory of the gateway': [100, true],
    'speed with full tables, of that with empty ones': [0.8, false],
    'start on an existing database': [900, true],
  });
});

test('errors of all rounds are shown, and memory is the maximum', () => {
  const rounds: Round[] = [
    { tpcb: 1, slices: { one: sliceOf(1, { errors: { 'mint 503 1402': 2 }, gatewayMiB: 120 }) }, drains: {} },
    { tpcb: 1, slices: { one: sliceOf(1, { errors: { 'mint 503 1402': 3 } }) }, drains: {} },
  ];
  const { figures } = summaryOf(rounds, EXTRAS, CIRCUMSTANCES);
  expect(figures.one).toMatchObject({ errors: { 'mint 503 1402': 5 }, serverMiB: 120 });
});

test('a machine is noisy if a yardstick scatters by more than a quarter', () => {
  expect(noiseOf([100, 110, 120], [10, 10, 10]).isLoud).toBe(false);
  expect(noiseOf([100, 110, 140], [10, 10, 10]).isLoud).toBe(true);
  expect(noiseOf([], [10, 10, 14]).isLoud).toBe(true);
  expect(noiseLines(noiseOf([100, 110, 140], [10, 10, 10])).join('\n')).toContain('THE MACHINE WAS NOISY');
  expect(noiseLines(noiseOf([100], [10]))).toEqual([]);
});

test('a table aligns its numbers right and its words left', () => {
  expect(
    columns(
      ['what', 'ms'],
      [
        ['mint', '1.5'],
        ['a read', '120.0'],
      ],
    ),
  ).toEqual(['what       ms', 'mint      1.5', 'a read  120.0']);
});
