/**
 * A run as text: the machine, the table, the goals, and a conspicuous warning if the machine was too busy for reliable figures.
 */

import type { Figure, Noise, Summary } from './summary.ts';

const NAMES: Readonly<Record<string, string>> = {
  one: 'one merchant',
  hundred: 'all merchants',
  naive: 'the naive way',
  filledOne: 'full, one merchant',
  filledHundred: 'full, all merchants',
  open50: 'at 50 % of the peak',
  open80: 'at 80 % of the peak',
  sessions: 'sessions alone',
  reads: 'status reads',
  wallet: 'wallet payments',
};

/** The steps of a payment in order, then the whole from its start to its acknowledged webhook. */
const STEPS = ['mint', 'collect', 'submit', 'read', 'whole'] as const;

export function linesOf(summary: Summary): string[] {
  return [
    '',
    ...headOf(summary),
    '',
    ...speedsOf(summary),
    '',
    ...latenciesOf(summary),
    '',
    ...costsOf(summary),
    '',
    ...restOf(summary),
    '',
    ...goalLines(summary),
    ...noiseLines(summary.noise),
  ];
}

function headOf({ machine, settings, minutes }: Summary): string[] {
  const { cores, processor, memoryGiB, system, node, postgres, at } = machine;
  const { rounds, seconds, connections, merchants, payments } = settings;
  return [
    `${cores} cores of ${processor}, ${memoryGiB} GiB, ${system}; Node.js ${node}, PostgreSQL ${postgres}; ${at}`,
    `median of ${rounds} rounds, ${seconds} s a slice, ${connections} connections, all merchants are ${merchants}, full is ` +
      `${payments} payments; synchronous commit, real HTTP; took ${minutes.toFixed(1)} minutes`,
  ];
}

function speedsOf({ figures, tpcb, filledToEmpty }: Summary): string[] {
  const rows = Object.entries(figures).map(([name, figure]) => [
    nameOf(name),
    whole(figure.perSecond),
    figure.rounds.map(whole).join(' '),
    ratioOf(name, figure.toTpcb),
    ratioOf(name, figure.toNaive),
    errorsOf(figure),
  ]);
  const yardstick =
    tpcb === undefined ? [] : [['pgbench TPC-B', whole(tpcb.perSecond), tpcb.rounds.map(whole).join(' ')]];
  return [
    ...columns(['', 'a second', 'rounds', '× TPC-B', '× naive', 'errors'], [...yardstick, ...rows]),
    ...(tpcb === undefined ? ['pgbench is not installed, or was not asked for: no ratio to TPC-B'] : []),
    ...(filledToEmpty === undefined ? [] : [`full tables leave ${filledToEmpty.toFixed(2)} of the speed`]),
  ];
}

/** A payment can be compared with a transaction or a naive payment; a read or a session cannot. */
function ratioOf(name: string, ratio: number | undefined): string {
  const isPayment = ['one', 'hundred', 'naive', 'filledOne', 'filledHundred'].includes(name);
  return ratio === undefined || !isPayment ? '' : ratio.toFixed(2);
}

function errorsOf({ errors }: Figure): string {
  return Object.entries(errors)
    .map(([what, count]) => `${count} × ${what}`)
    .join('; ');
}

function latenciesOf({ figures }: Summary): string[] {
  const rows = Object.entries(figures).flatMap(([name, figure]) => {
    const { latency, toldAfterFinal, lateness } = figure;
    const inOrder = STEPS.flatMap((step) => (latency[step] === undefined ? [] : [[step, latency[step]] as const]));
    const all = {
      ...Object.fromEntries(inOrder),
      ...(toldAfterFinal.count > 0 ? { 'final → told': toldAfterFinal } : {}),
      ...(lateness.count > 0 ? { 'begun late by': lateness } : {}),
    };
    return Object.entries(all).map(([what, { p50, p99, p999 }], at) => [
      at === 0 ? nameOf(name) : '',
      what,
      ...[p50, p99, p999].map((ms) => ms.toFixed(1)),
    ]);
  });
  return columns(['milliseconds', '', 'p50', 'p99', 'p99.9'], rows);
}

function costsOf({ figures }: Summary): string[] {
  const rows = Object.entries(figures).map(([name, { cpuMicroseconds: cpu, serverMiB, walBytes, batches }]) => [
    nameOf(name),
    ...[cpu.server, cpu.postgres, cpu.carrier, cpu.load, cpu.receiver].map(whole),
    String(serverMiB),
    whole(walBytes),
    batches === undefined ? '' : `${batches.changes.toFixed(1)} in ${batches.milliseconds.toFixed(1)} ms`,
  ]);
  const head = ['CPU µs each', 'server', 'PostgreSQL', 'carrier', 'load', 'receiver', 'MiB', 'WAL bytes', 'batch'];
  return columns(head, rows);
}

function restOf({ drains, extras }: Summary): string[] {
  const { page, counted, books, startMs, rows } = extras;
  return [
    ...Object.entries(drains).map(
      ([name, { perSecond, seconds, missing, repeated, serverMicroseconds, postgresMicroseconds }]) =>
        `webhook drain, ${nameOf(name)}: ${whole(perSecond)} events/s, done ${seconds.toFixed(1)} s after they were due, ` +
        `${missing} missing, ${repeated} twice; CPU µs an event: gateway ${whole(serverMicroseconds)}, PostgreSQL ${whole(postgresMicroseconds)}`,
    ),
    ...(page === undefined
      ? []
      : [
          `hosted page, p50/p99 ms: first ${page.first.p50.toFixed(1)}/${page.first.p99.toFixed(1)}, ` +
            `again ${page.again.p50.toFixed(1)}/${page.again.p99.toFixed(1)}; ${page.bytes} bytes`,
        ]),
    ...(counted === undefined
      ? []
      : [
          `a payment asks PostgreSQL for ${counted.statements.toFixed(1)} statements and ${counted.rows.toFixed(1)} rows, ` +
            `${whole(counted.microseconds)} µs in its executor; most of it:`,
          ...counted.most
            .slice(0, 8)
            .map((one) => `  ${whole(one.microseconds).padStart(5)} µs  ${one.calls.toFixed(2)} ×  ${one.text}`),
        ]),
    ...Object.entries(books).map(([name, { ok, detail }]) => `books, ${name}: ${ok ? '' : 'WRONG: '}${detail}`),
    ...Object.entries(rows).map(([name, counts]) => {
      const largest = Object.entries(counts).slice(0, 8);
      return `rows, ${name}: ${largest.map(([table, count]) => `${table} ${whole(count)}`).join(', ')}`;
    }),
    `start on an existing database: ${whole(startMs)} ms`,
  ];
}

function goalLines({ goals }: Summary): string[] {
  const rows = goals.map(({ what, wanted, measured, unit, isReached }) => [
    isReached ? 'reached' : 'MISSED',
    what,
    `${wanted} ${unit}`,
    `${measured < 100 ? measured.toFixed(2) : whole(measured)} ${unit}`,
  ]);
  return columns(['goals', '', 'wanted', 'measured'], rows);
}

export function noiseLines({ tpcb, naive, isLoud }: Noise): string[] {
  if (!isLoud) return [];
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  return [
    '',
    '!!! THE MACHINE WAS NOISY: measure again when nothing else runs.',
    `!!! The yardsticks' rounds lie ${percent(tpcb)} (TPC-B) and ${percent(naive)} (naive) apart; up to 25 % can be believed.`,
  ];
}

function nameOf(name: string): string {
  return NAMES[name] ?? name;
}

function whole(value: number): string {
  return value.toFixed(0);
}

/** Numbers are aligned right in their column, words left. */
export function columns(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  return all.map((row) =>
    head
      .map((_, at) => {
        const text = row[at] ?? '';
        const isNumber = rows.every((one) => /^[\d.]*$/.test(one[at] ?? ''));
        return isNumber ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
      })
      .join('  ')
      .trimEnd(),
  );
}
