/**
 * What the HTTP layer looks up by itself: the caller, and what is remembered of an Idempotency-Key.
 *
 * Invariant: every lookup is an equality on a shard and an id, so that any request can be routed by what it carries.
 */

import type {
  Credential,
  CredentialStatus,
  IdempotencyRecord,
  Merchant,
  MerchantStatus,
  Session,
} from '../domain/records.ts';

/** A session, with the present state of its credential and its merchant. */
export interface SessionRow extends Session {
  readonly credential_status: CredentialStatus;
  readonly credential_retires_at: number | null;
  readonly credential_expires_at: number | null;
  readonly merchant_status: MerchantStatus;
  readonly merchant_version: number;
}

/** A credential, with the present state of its merchant. */
export interface CredentialRow extends Credential {
  readonly merchant_status: MerchantStatus;
  readonly merchant_version: number;
}

export interface Lookups {
  sessionCaller(shard: number, id: string): Promise<SessionRow | undefined>;
  credentialCaller(shard: number, id: string): Promise<CredentialRow | undefined>;
  /** The merchant as of that version, or a newer one. */
  merchantAt(shard: number, id: string, version: number): Promise<Merchant | undefined>;
  idempotencyGet(shard: number, id: string): Promise<IdempotencyRecord | undefined>;
}
