/**
 * How a reply is remembered: in a row under a keyed hash, which an Idempotency-Key or a callback names.
 *
 * Invariant: a reply is sealed at rest, with the key that made its row's id: a process that finds the row has that key.
 */

import { guardedUpdate } from '../domain/change.ts';
import { DAY_MS } from '../domain/durations.ts';
import type { IdempotencyRecord } from '../domain/records.ts';
import type { Secrets } from '../platform/platform.ts';
import { keepUnderKeys } from './key-memory.ts';
import type { Memory } from './perform.ts';

/** The status of a run that has begun and has no reply yet (RFC 2518, 102 Processing). */
export const BEGUN = 102;

/** 24 h for which a reply is remembered, in milliseconds (contract §7). */
export const MEMORY_MS = DAY_MS;

/** What is written of a run: that it has begun, or its reply. */
type RunColumns = Pick<IdempotencyRecord, 'request_hash' | 'status' | 'body' | 'created_at'>;

/**
 * Writes a run's memory. Rows that were found, begun or expired, are replaced under their versions: of two runs that found them,
 * one loses. `at` is the position of the row's key in the ring.
 */
export function keepRun(
  shard: number,
  ids: readonly string[],
  found: readonly (IdempotencyRecord | undefined)[],
  columnsOf: (id: string, at: number) => RunColumns,
): Memory {
  return keepUnderKeys(ids, found, {
    claim: (id, at) => ({ table: 'idempotency', row: { shard, id, version: 1, ...columnsOf(id, at) } }),
    update: (record, at) => guardedUpdate('idempotency', record, columnsOf(record.id, at)),
  });
}

/**
 * The record that counts. One with a reply goes before one that was only begun, which may be older: a process that lacks one of the
 * keys has written its reply under the other alone.
 */
export function decidingRecord(found: readonly (IdempotencyRecord | undefined)[]): IdempotencyRecord | undefined {
  return found.find((record) => record !== undefined && record.status !== BEGUN) ?? found.find(Boolean);
}

/** A reply's text as it is kept in the row with that id, under the key at that position of the ring. */
export function sealReply(secrets: Pick<Secrets, 'seal'>, text: string, id: string, at: number): string {
  return secrets.seal('idempotency_body', text, id, at);
}

/** The text again. */
export function openReply(secrets: Pick<Secrets, 'open'>, record: IdempotencyRecord): string {
  const text = secrets.open('idempotency_body', record.body, record.id);
  if (text === undefined) throw new Error('a remembered reply cannot be opened');
  return text;
}
