/**
 * What the HTTP layer looks up by itself: the caller, and what is remembered of an Idempotency-Key.
 *
 * Invariant: every lookup is an equality on a shard and an id, so that any request can be routed by what it carries.
 */

import type { CredentialWithStanding, SessionWithStanding } from '../domain/credential.ts';
import type { IdempotencyRecord, Merchant } from '../domain/records.ts';

/** Reads by the shard and the id. Undefined: there is no such record. */
export interface Lookups {
  sessionCaller(shard: number, id: string): Promise<SessionWithStanding | undefined>;
  credentialCaller(shard: number, id: string): Promise<CredentialWithStanding | undefined>;
  /** The merchant as of that version, or a newer one. */
  merchantAt(shard: number, id: string, version: number): Promise<Merchant | undefined>;
  idempotencyGet(shard: number, id: string): Promise<IdempotencyRecord | undefined>;
}
