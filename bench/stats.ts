/**
 * Figures of a run: percentiles of latencies, medians and their scatter, and CPU time of processes.
 *
 * Invariant: a figure says what it was measured over; ratios are taken within one round only, because machines differ and
 * drift.
 */

import { readdirSync, readFileSync } from 'node:fs';

export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
}

/** Percentiles of latencies in milliseconds, by nearest rank: each is a latency that was measured. 0 where there is none. */
export function latencyOf(samples: readonly number[]): Latency {
  const sorted = samples.toSorted((a, b) => a - b);
  // Per mille, because 0.999 times a thousand is not quite 999.
  const at = (perMille: number): number => sorted[Math.max(1, Math.ceil((sorted.length * perMille) / 1000)) - 1] ?? 0;
  return { count: sorted.length, p50: at(500), p99: at(990), p999: at(999) };
}

/** The middle value, or the mean of the two in the middle; not a number where there is none, or one is not. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The median of what was measured beside each other, divided round by round; not a number where either is missing. */
export function medianRatio(over: readonly (number | undefined)[], under: readonly (number | undefined)[]): number {
  return median(over.map((value, round) => (value ?? Number.NaN) / (under[round] ?? Number.NaN)));
}

/** How far rounds lie apart: the largest less the smallest, as a part of the median. 0 for fewer than two. */
export function scatter(values: readonly number[]): number {
  return values.length < 2 ? 0 : (Math.max(...values) - Math.min(...values)) / median(values);
}

/** CPU seconds (user and system) that a process has used, from /proc; 0 where there is none. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/**
 * CPU seconds of a server and its processes, from one of them: those that have ended count with their parent.
 * 0 where there is no /proc.
 */
export function treeCpuSeconds(memberPid: number): number {
  const parent = statOf(memberPid)[1] ?? '';
  const members = pids().filter((pid) => pid === Number(parent) || statOf(pid)[1] === parent);
  const own = members.reduce((total, pid) => total + cpuSeconds(pid), 0);
  const [, , ...fields] = statOf(Number(parent));
  return own + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/** What /proc says of a process after its name: state, parent, … */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Resident memory of a process in MiB, from /proc; 0 where there is none. */
export function residentMiB(pid: number): number {
  try {
    const line = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Math.round(Number(line?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}
