/**
 * Answers: what an upstream said about an order to move money.
 *
 * Invariant: an answer is returned, never thrown. `unknown` is an answer, too: it is inquired about, never guessed.
 */

import type { DeclineReason } from './reason.ts';

/**
 * Why the same order would be refused again: the upstream knows no such payer, or it refuses what only the gateway's operator can
 * change (access, address, market, currency, the form of our requests).
 */
export type LastingRefusal = 'payer_unknown' | 'operator_needed';

/** What an upstream said. */
export type Answer =
  /** The money moved. */
  | { readonly kind: 'approved'; readonly providerReference: string | null }
  /** Accepted; the customer, or the upstream, has yet to finish. */
  | { readonly kind: 'waiting'; readonly providerReference: string | null }
  /** Final: no money moved. */
  | { readonly kind: 'declined'; readonly reason: DeclineReason; readonly providerReference: string | null }
  /** The order certainly was not accepted: nothing happened, and nothing will. Unless `lasting`, it may be accepted later. */
  | { readonly kind: 'not_sent'; readonly reason: string; readonly lasting?: LastingRefusal }
  /** The order may or may not have been accepted. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** What an inquiry can also answer: the upstream does not know that reference (yet). */
export type InquiryAnswer = Exclude<Answer, { kind: 'not_sent' }> | { readonly kind: 'not_found' };

/** About the issuer's challenge, never about money: it can end only a challenge. */
export interface ChallengeFailed {
  readonly kind: 'challenge_failed';
  readonly reason: DeclineReason;
}

/** Everything that can settle an attempt. */
export type AttemptAnswer = Answer | InquiryAnswer | ChallengeFailed;
