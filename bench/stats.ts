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

/** Percentiles of latencies in milliseconds, by nearest rank, so each is a measured latency. 0 if there are no samples. */
export function latencyOf(samples: readonly number[]): Latency {
  const sorted = samples.toSorted((a, b) => a - b);
  // Per mille, because 0.999 × 1000 is not exactly 999.
  const at = (perMille: number): number => sorted[Math.max(1, Math.ceil((sorted.length * perMille) / 1000)) - 1] ?? 0;
  return { count: sorted.length, p50: at(500), p99: at(990), p999: at(999) };
}

/** The middle value, or the mean of the two in the middle; NaN if there are no values, or one of them is NaN. */
export function median(values: readonly number[]): number {
  if (values.some(Number.isNaN)) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The median of the round-by-round ratios of two measurements; NaN if either is missing in a round. */
export function medianRatio(over: readonly (number | undefined)[], under: readonly (number | undefined)[]): number {
  return median(over.map((value, round) => (value ?? Number.NaN) / (under[round] ?? Number.NaN)));
}

/** How far rounds differ: the largest less the smallest, as a fraction of the median. 0 for fewer than two. */
export function scatter(values: readonly number[]): number {
  return values.length < 2 ? 0 : (Math.max(...values) - Math.min(...values)) / median(values);
}

/** CPU seconds (user and system) that a process has used, from /proc; 0 where there is none. */
export function cpuSeconds(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/**
 * CPU seconds of a server's process tree, found from any one member: processes that have ended count with their parent.
 * 0 if there is no /proc.
 */
export function treeCpuSeconds(memberPid: number): number {
  const parent = statOf(memberPid)[1] ?? '';
  const members = pids().filter((pid) => pid === Number(parent) || statOf(pid)[1] === parent);
  const own = members.reduce((total, pid) => total + cpuSeconds(pid), 0);
  const [, , ...fields] = statOf(Number(parent));
  return own + (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

/** The fields of /proc/<pid>/stat after the name: state, parent, … */
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
