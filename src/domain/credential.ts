/**
 * Whether a merchant's secret is accepted (specification, Authentication rule 3 and States, Session).
 *
 * Invariant: what ends a secret also ends the sessions minted with it, and the pages that act for them, in the same way.
 */

import type { Credential, CredentialStatus, Merchant, MerchantStatus, Session } from './records.ts';
import { Refusal } from './refusal.ts';

/** What decides whether a secret is accepted. */
export interface SecretStanding extends Pick<Credential, 'status' | 'retires_at' | 'expires_at'> {
  readonly merchant_status: MerchantStatus;
}

/** What a session's row says of the secret that minted it. */
export interface MintedBy {
  readonly credential_status: Credential['status'];
  readonly credential_retires_at: Credential['retires_at'];
  readonly credential_expires_at: Credential['expires_at'];
  readonly merchant_status: Merchant['status'];
}

/** A session, with the present state of its credential and its merchant. */
export interface SessionWithStanding extends Session, MintedBy {
  readonly merchant_version: number;
}

/** A credential, with the present state of its merchant. */
export interface CredentialWithStanding extends Credential {
  readonly merchant_status: MerchantStatus;
  readonly merchant_version: number;
}

/** A credential's status at a moment: as it is stored, or EXPIRED once its time is over, which is never stored. */
export function statusAt(
  { status, retires_at, expires_at }: Pick<Credential, 'status' | 'retires_at' | 'expires_at'>,
  now: number,
): CredentialStatus | 'EXPIRED' {
  if (status === 'REVOKED') return status;
  const isRetired = status === 'RETIRING' && retires_at !== null && retires_at <= now;
  return isRetired || (expires_at !== null && expires_at <= now) ? 'EXPIRED' : status;
}

/**
 * Refuses a secret that is not accepted. A RETIRING one is accepted until `retires_at`.
 *
 * @throws Refusal 1001 when it is revoked, 1005 when its time is over, 1004 when the merchant is not ALLOWED (contract §2).
 */
export function requireSecret(secret: SecretStanding, now: number): void {
  const status = statusAt(secret, now);
  if (status === 'REVOKED') throw new Refusal(1001);
  if (status === 'EXPIRED') throw new Refusal(1005);
  if (secret.merchant_status !== 'ALLOWED') throw new Refusal(1004);
}

/** As `requireSecret`, for the secret that minted a session. */
export function requireMintingSecret(session: MintedBy, now: number): void {
  const { credential_status: status, credential_retires_at: retires_at, credential_expires_at: expires_at } = session;
  requireSecret({ status, retires_at, expires_at, merchant_status: session.merchant_status }, now);
}
