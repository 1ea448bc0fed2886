/**
 * The contract of a connector: how the service asks an upstream to move money, in the service's own words.
 *
 * Invariant: what an upstream says is an *answer*, returned and never thrown. `unknown` is an answer: it is
 * inquired about, never guessed, and nothing is ever sent again under another reference.
 */

import type { Currency } from '../domain/currency.ts';
import type { DeclineReason } from '../domain/reason.ts';

/** What the upstream is asked to do. `reference` is what it will know this try by. */
export interface CollectOrder {
  readonly attemptId: string;
  readonly reference: string;
  /** E.164, with the plus sign. */
  readonly msisdn: string;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly merchantName: string;
  readonly customerReference: string;
  /** Where the upstream may call back; unguessable. */
  readonly callbackUrl: string;
}

/** What an upstream said. */
export type Answer =
  /** The money moved. */
  | { readonly kind: 'approved'; readonly providerReference: string | null }
  /** Accepted; the customer, or the upstream, has yet to finish. */
  | { readonly kind: 'waiting'; readonly providerReference: string | null }
  /** Final: no money moved. */
  | { readonly kind: 'declined'; readonly reason: DeclineReason; readonly providerReference: string | null }
  /** It certainly was not taken: nothing happened, and nothing will. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** It may or may not have been taken. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** What an inquiry can say besides: the upstream does not know that reference (yet). */
export type InquiryAnswer = Exclude<Answer, { kind: 'not_sent' }> | { readonly kind: 'not_found' };

/** What to inquire about. What was ordered goes along, so that an answer about something else is never believed. */
export type Inquiry = Pick<CollectOrder, 'reference'> &
  Partial<Pick<CollectOrder, 'attemptId' | 'amountMinor' | 'currency'>>;

/**
 * What a callback's body claims. Callbacks are mostly unsigned, so it is only a reason to inquire sooner: it can never
 * say that money moved.
 */
export type CallbackHint = 'finished' | 'open' | 'unreadable';

/** An upstream that can take money from a customer. `start` is never offered without `inquire`. */
export interface CollectConnector {
  readonly name: string;
  /** The carrier's name as customers know it, for example `MTN MoMo`. */
  readonly displayName: string;
  /** Milliseconds after which a second `not_found` proves that nothing was taken. */
  readonly settleDelay: number;
  /** The upstream's name of the market that it is configured for; routes of another market do not reach it. */
  readonly market?: string;
  /** The reference for an attempt: derived from its id, in the upstream's form. */
  referenceFor(attemptId: string): string;
  /** Asks once. Never retried by the connector, except where the upstream certainly did nothing (an expired token). */
  start(order: CollectOrder): Promise<Answer>;
  inquire(order: Inquiry): Promise<InquiryAnswer>;
  /** Reads a callback's raw body. Never throws. */
  callbackHint(body: string): CallbackHint;
}

/** A short message to a phone: one-time codes travel by it. */
export interface TextOrder {
  /** E.164, with the plus sign. */
  readonly to: string;
  readonly text: string;
}

/** The door for texts. A text is sent at most once; `unknown` may have arrived. */
export interface TextSender {
  sendText(order: TextOrder): Promise<'sent' | 'not_sent' | 'unknown'>;
}
