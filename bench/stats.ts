/**
 * Figures of a run: percentiles of latencies, and CPU time of processes.
 *
 * Invariant: a figure says what it was measured over; ratios are taken within one run only, because machines differ.
 */

import { readdirSync, readFileSync } from 'node:fs';

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
