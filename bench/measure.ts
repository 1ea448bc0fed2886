/**
 * One slice of a run: a load on a candidate, with its cost in CPU time, memory, WAL and rows.
 *
 * Invariant: everything is read before and after the same load, and the cost per payment is divided by all payments that
 * the load completed, its warm-up included.
 */

import type { LoadOrder, LoadReport } from './load.ts';
import type { Candidate } from './stage.ts';
import { load, type Used, withClient } from './worlds.ts';

/** What the group commit did meanwhile, according to the gateway's own metrics. */
export interface Batches {
  /** Changes per batch, on average. */
  readonly changes: number;
  /** Batches per second. */
  readonly perSecond: number;
  /** From sending a batch to its completion, on average. */
  readonly milliseconds: number;
}

export interface Slice extends LoadReport, Used {
  /** Bytes of PostgreSQL's WAL per journey, including full-page images after a checkpoint. */
  readonly walBytes: number;
  /** Absent if the candidate does not report any. */
  readonly batches?: Batches;
}

/** Microseconds of CPU time per journey, by process. */
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

/** Bytes of WAL since the server was created; exact, as it stays far below 2^53. */
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

/** The value of a metric without labels; undefined if the page does not have it. */
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
