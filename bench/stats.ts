/**
 * Figures of a run: percentiles of latencies, and CPU time of processes.
 *
 * Invariant: a figure says what it was measured over; ratios are taken within one run only, because machines differ.
 */

import { readFileSync } from 'node:fs';

export interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

/** Percentiles of latencies in milliseconds. */
export function latencyOf(samples: number[]): Latency {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** CPU seconds (user and system) that a process has used, from /proc; 0 where there is none. */
export function cpuSeconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
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
