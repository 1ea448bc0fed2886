/**
 * One slice of a run: a load on a candidate, with what it cost in processor time, memory, log and rows.
 *
 * Invariant: everything is read before and after the same load, and what a payment costs is divided by all payments that
 * the load brought to their end, its warm-up included.
 */

import type { LoadOrder, LoadReport } from './load.ts';
import type { Candidate } from './stage.ts';
import { load, type Used, withClient } from './worlds.ts';

/** What the group commit did meanwhile, by the gateway's own metrics. */
export interface Batches {
  /** Changes in a batch, on average. */
  readonly changes: number;
  /** Batches a second. */
  readonly perSecond: number;
  /** From sending one to its end, on average. */
  readonly milliseconds: number;
}

export interface Slice extends LoadReport, Used {
  /** Bytes of PostgreSQL's log a journey, whole pages after a checkpoint included. */
  readonly walBytes: number;
  /** Absent where the candidate tells of none. */
  readonly batches?: Batches;
}

/** Microseconds of processor time that a journey took, by process. */
export interface CpuOf {
  readonly server: number;
  readonly postgres: number;
  readonly carrier: number;
  readonly load: number;
  readonly receiver: number;
}

export function cpuOf(slice: Slice): CpuOf {
  const each = (seconds: number): number => (seconds / Math.max(1, slice.total)) * 1e6;
  return {
    server: each(slice.gatewayCpuSeconds),
    postgres: each(slice.databaseCpuSeconds),
    carrier: each(slice.carrierCpuSeconds),
    load: each(slice.cpuSeconds),
    receiver: each(slice.receiverCpuSeconds),
  };
}

export async function measureSlice(candidate: Candidate, order: Omit<LoadOrder, 'gateway'>): Promise<Slice> {
  const [logBefore, toldBefore] = await Promise.all([logPosition(candidate), metricsOf(candidate)]);
  const begun = performance.now();
  const loaded = await load<LoadReport>('./load.js', { ...order, gateway: candidate.url }, candidate.pids);
  const seconds = (performance.now() - begun) / 1000;
  const [logAfter, toldAfter] = await Promise.all([logPosition(candidate), metricsOf(candidate)]);
  const batches = batchesOf(toldBefore, toldAfter, seconds);
  return {
    ...loaded,
    walBytes: (logAfter - logBefore) / Math.max(1, loaded.total),
    ...(batches === undefined ? {} : { batches }),
  };
}

/** Bytes of log since the server was made; exact, as it stays far below 2^53. */
function logPosition({ databaseUrl }: Candidate): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ bytes: string }>(`select pg_current_wal_lsn() - '0/0' as bytes`);
    return Number(rows[0]?.bytes ?? 0);
  });
}

async function metricsOf({ url }: Candidate): Promise<string> {
  const response = await fetch(`${url}/metrics`);
  return response.ok ? response.text() : '';
}

/** The value of a metric without labels; undefined where the page has none. */
export function metricIn(page: string, name: string): number | undefined {
  const line = page.split('\n').find((text) => text.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

export function batchesOf(before: string, after: string, seconds: number): Batches | undefined {
  const grown = (name: string): number => (metricIn(after, name) ?? 0) - (metricIn(before, name) ?? 0);
  const count = grown('mbongo_commit_batch_changes_count');
  if (!(count > 0)) return undefined;
  return {
    changes: grown('mbongo_commit_batch_changes_sum') / count,
    perSecond: count / seconds,
    milliseconds: (grown('mbongo_commit_batch_duration_seconds_sum') / count) * 1000,
  };
}
