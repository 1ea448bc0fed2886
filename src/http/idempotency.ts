/**
 * The memory of an Idempotency-Key (contract §7).
 *
 * Invariant: the same key and body within 24 hours get the same bytes; the key with another body gets 1203. What is kept of the
 * body is a keyed hash, so that no plain hash of a PIN is stored, and the answer is sealed.
 */

import serialize from 'canonicalize';
import type { IdempotencyRecord } from '../domain/records.ts';
import { refuseField } from '../domain/refusal.ts';
import type { Clock, Secrets } from '../platform/platform.ts';
import type { Memory, Reply, RevocableReceipt } from '../usecases/perform.ts';
import { BEGUN, decidingRecord, keepRun, MEMORY_MS, openReply, sealReply } from '../usecases/reply-memory.ts';
import type { Lookups } from './lookups.ts';

/** The package is a CommonJS function whose types claim a module with a default export. */
const canonicalJson = serialize as unknown as (value: unknown) => string | undefined;

const VISIBLE = /^[\x21-\x7e]{1,255}$/;

/** The key in a header's value, without one pair of quotes around it. @throws Refusal 1110. */
export function readIdempotencyKey(header: string): string {
  const quoted = header.length >= 2 && header.startsWith('"') && header.endsWith('"');
  const key = quoted ? header.slice(1, -1) : header;
  if (!VISIBLE.test(key)) throw refuseField(1110, 'Idempotency-Key', 'INVALID_IDEMPOTENCY_KEY');
  return key;
}

export interface ReceiptParts {
  readonly lookups: Pick<Lookups, 'idempotencyGet'>;
  readonly secrets: Pick<Secrets, 'macs' | 'seal' | 'open' | 'equal'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The owner of a key, a merchant or a session, and the shard that keeps its memory. */
export interface ReceiptScope {
  readonly shard: number;
  /** The id of the merchant or session. */
  readonly owner: string;
  /** Method and path of the route. */
  readonly route: string;
}

/**
 * A receipt that says whether it has been used, so that the pipeline knows whether the refusal it is about to send is this
 * call's.
 */
export interface UsedReceipt extends RevocableReceipt {
  /** The id of the stored record: a keyed hash of the owner, the route and the key. */
  readonly id: string;
  /**
   * Whether this call has asked for an answer of its own to be remembered since it last looked for a stored one: what it asked for
   * before has lost.
   */
  readonly used: () => boolean;
}

/** By id, a body's hashes with each key of the ring. A function of its own: a receipt keeps alive what closures beside it capture. */
function hashesOf(
  { macs }: Pick<Secrets, 'macs'>,
  ids: readonly string[],
  body: unknown,
): ReadonlyMap<string, readonly string[]> {
  const canonical = canonicalJson(body) ?? '';
  return new Map(ids.map((id) => [id, macs('idempotency_key', 'body', id, canonical)]));
}

/**
 * The memory of one key. `body` is the parsed JSON: the order of its keys does not matter.
 *
 * It is kept under the newest two master keys: while a new one is rolled out, only one of all processes' runs may win.
 */
export function createReceipt(parts: ReceiptParts, scope: ReceiptScope, key: string, body: unknown): UsedReceipt {
  const { secrets, clock } = parts;
  const { shard } = scope;
  const ids = secrets.macs('idempotency_key', 'key', scope.owner, scope.route, key);
  // Hashed at once, because a call may wait for long, and its body is not kept.
  const hashes = hashesOf(secrets, ids, body);
  let found: readonly (IdempotencyRecord | undefined)[] = [];
  let begun = false;
  let used = false;

  /** The record that is still valid. */
  function current(): IdempotencyRecord | undefined {
    return decidingRecord(
      found.filter((record) => record !== undefined && record.created_at + MEMORY_MS > clock.now()),
    );
  }

  function read(record: IdempotencyRecord): Reply | undefined {
    if (!hashes.get(record.id)?.some((hash) => secrets.equal(record.request_hash, hash)))
      throw refuseField(1203, 'Idempotency-Key', 'IDEMPOTENCY_BODY');
    begun = record.status === BEGUN;
    if (begun) return undefined;
    return { status: record.status, body: openReply(secrets, record), replayed: true };
  }

  function write(status: number, bodyFor: (id: string, at: number) => string, created_at = clock.now()): Memory {
    // The body is hashed with the key that made the id, as the reply is sealed with it.
    return keepRun(shard, ids, found, (id, at) => ({
      request_hash: hashes.get(id)?.[at] ?? '',
      status,
      body: bodyFor(id, at),
      created_at,
    }));
  }

  return {
    id: ids[0] ?? '',
    used: () => used,
    async stored() {
      used = false;
      found = await Promise.all(ids.map((id) => parts.lookups.idempotencyGet(shard, id)));
      begun = false;
      const record = current();
      return record === undefined ? undefined : read(record);
    },
    begun: () => begun,
    begin: () => write(BEGUN, () => ''),
    // Written as begun two days ago, which no process's clock still counts as valid. Removing the row would not guard its
    // version. A process that knows only one of two master keys forgets the row under that one: a process that knows both
    // still finds the other, and refuses another body for the rest of its 24 hours.
    forget: () => write(BEGUN, () => '', clock.now() - 2 * MEMORY_MS),
    remember({ status, body }) {
      used = true;
      return write(status, (id, at) => sealReply(secrets, body, id, at));
    },
  };
}
