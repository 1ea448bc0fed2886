/**
 * Who is calling, once authenticated: a merchant's backend with its credential, or a client with a session token.
 */

import type { Merchant, Session } from '../domain/records.ts';

/** A merchant's backend, by its own credential. */
export interface MerchantCaller {
  readonly kind: 'merchant';
  readonly merchant: Merchant;
  /** The key id of the credential. */
  readonly credentialId: string;
}

/** A client with a session's token, or a hosted page. */
export interface SessionCaller {
  readonly kind: 'session';
  readonly merchant: Merchant;
  /** As read when the call was authenticated; a change guards its version. */
  readonly session: Session;
  /** The X-Device-Fingerprint that was sent, already checked for form. */
  readonly fingerprint: string | undefined;
}

/** A merchant, and the credential by which it calls, itself or by a session that the credential minted. */
export type ByCredential = Pick<MerchantCaller, 'merchant' | 'credentialId'>;

/** The merchant of a caller, and the credential that stands behind the call. */
export function byCredential(caller: MerchantCaller | SessionCaller): ByCredential {
  return caller.kind === 'merchant'
    ? caller
    : { merchant: caller.merchant, credentialId: caller.session.credential_id };
}

/** A caller who may read whatever is the merchant's: either of the two. */
export type Reader = Pick<MerchantCaller | SessionCaller, 'merchant'>;
