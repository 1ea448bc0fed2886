/**
 * The contract of a connector: how the service asks an upstream to move money, in the service's own words, and how it
 * finds the upstream that a number leads to.
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
  Partial<Pick<CollectOrder, 'attemptId' | 'amountMinor' | 'currency'>> & {
    /** The transaction_id, where the upstream knows orders beside tries. */
    readonly orderId?: string;
    /** Which way the money goes, where the upstream knows movements of both ways under one order; absent: towards us. */
    readonly movement?: 'payment' | 'refund';
  };

/**
 * What a callback's body claims. Callbacks are mostly unsigned, so it is only a reason to inquire sooner: it can never
 * say that money moved.
 */
export type CallbackHint = 'finished' | 'open' | 'unreadable';

/** What every upstream that moves money can do: say what became of an attempt. */
export interface Upstream {
  readonly name: string;
  /** Milliseconds after which a second `not_found` proves that nothing was taken. */
  readonly settleDelayMs: number;
  inquire(order: Inquiry): Promise<InquiryAnswer>;
}

/** An upstream that can take money from a customer's phone. `start` is never offered without `inquire`. */
export interface CollectConnector extends Upstream {
  /** The carrier's name as customers know it, for example `MTN MoMo`. */
  readonly displayName: string;
  /** The upstream's name of the market that it is configured for; routes of another market do not reach it. */
  readonly market?: string;
  /** The reference for an attempt: derived from its id, in the upstream's form. */
  referenceFor(attemptId: string): string;
  /** Asks once. Never retried by the connector, except where the upstream certainly did nothing (an expired token). */
  start(order: CollectOrder): Promise<Answer>;
  /** Reads a callback's raw body. Never throws. */
  callbackHint(body: string): CallbackHint;
}

/** What an upstream is asked to pay out. `reference` is what it will know this try by. */
export interface PayoutOrder {
  readonly attemptId: string;
  readonly reference: string;
  /** Who receives it: E.164, with the plus sign. */
  readonly msisdn: string;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly merchantName: string;
  readonly customerReference: string;
  /** What the merchant writes to the receiver; null: nothing. */
  readonly note: string | null;
  /** Where the upstream may call back; unguessable. */
  readonly callbackUrl: string;
}

/** An upstream that can send money to a phone. `payOut` is never offered without `inquire`. */
export interface PayoutConnector extends Upstream {
  /** The carrier's name as customers know it, for example `MTN MoMo`. */
  readonly displayName: string;
  /** The upstream's name of the market that it is configured for; routes of another market do not reach it. */
  readonly market?: string;
  /** The reference for an attempt: derived from its id, in the upstream's form. */
  referenceFor(attemptId: string): string;
  /** Asks once. Never retried by the connector, except where the upstream certainly did nothing (an expired token). */
  payOut(order: PayoutOrder): Promise<Answer>;
  /** Reads a callback's raw body. Never throws. */
  callbackHint(body: string): CallbackHint;
}

/** What a hosted form is opened for: bound to it at the network, so that no browser can change it. */
export interface CardFormOrder {
  /** What the network knows the payment by: its transaction_id. */
  readonly orderId: string;
  readonly amountMinor: bigint;
  readonly currency: Currency;
}

/** `not_opened`: the customer has to come back later, or pay otherwise. */
export type CardForm =
  | { readonly kind: 'opened'; readonly sessionId: string }
  | { readonly kind: 'not_opened'; readonly reason: string };

/** A payment by card, once the customer has filled the hosted form. */
export interface CardOrder extends CardFormOrder {
  readonly attemptId: string;
  /** The hosted form's session. */
  readonly sessionId: string;
  /** The merchant's own name for the order. */
  readonly customerReference: string;
}

/** The browser that an issuer may want to challenge (EMV 3DS 2). */
export interface CardBrowser {
  readonly accept: string | undefined;
  readonly userAgent: string | undefined;
  readonly language: string | undefined;
  readonly address: string | undefined;
  /** Where the network sends the browser after the challenge. */
  readonly returnUrl: string;
}

/** A form that the customer's browser posts to the issuer. */
export interface Challenge {
  /** http or https; the issuer's own. */
  readonly action: string;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
}

/** What the network says of the customer's authentication. No money has moved, whatever it is. */
export type Authentication =
  /** The issuer knows its customer, or answers for not asking: money may be asked for. */
  | { readonly kind: 'authenticated'; readonly status: string; readonly eci: string | null }
  /** The issuer wants to ask the customer; `challenge` is absent when this is heard again, later. */
  | { readonly kind: 'challenge'; readonly status: string; readonly challenge: Challenge | undefined }
  /** Final: this card is not paid with. */
  | { readonly kind: 'rejected'; readonly status: string; readonly reason: DeclineReason }
  /** The hosted form is not what was bound: no card in it, another order, another amount, used before, or ended. */
  | { readonly kind: 'unusable'; readonly fault: 'no_card' | 'changed' | 'used' | 'ended' }
  /** Nothing was asked, and nothing will be. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** A payment by a token of Google Pay or Apple Pay. The token goes to the network once, and nowhere else. */
export interface TokenOrder extends CardFormOrder {
  readonly attemptId: string;
  readonly wallet: 'google_pay' | 'apple_pay';
  readonly token: string;
  readonly customerReference: string;
}

/** Gives money of an order back, or takes an order back before it is settled. */
export interface CardReversal {
  readonly orderId: string;
  /** Makes the network's id for this try. */
  readonly attemptId: string;
  /** The attempt that paid. */
  readonly paidBy: string;
  readonly amountMinor: bigint;
  readonly currency: Currency;
}

/** How an order stands at the network. */
export interface CardOrderStatus {
  /** In the network's own words. */
  readonly word: string;
  /** Whether money was taken from it, or will be. */
  readonly isTaken: boolean;
}

/** How a payment by card ended, as far as we know. `reason`: that of its last attempt; null where none is known. */
export type CardEnd =
  | { readonly kind: 'paid'; readonly refunded: 'nothing' | 'part' | 'all' }
  | { readonly kind: 'declined'; readonly reason: string | null };

/** How the hosted form is shown: the network's script, and the origin that its frames come from. */
export interface CardFormPage {
  readonly scriptUrl: string;
  readonly origin: string;
}

/** A card network with a hosted form and 3-D Secure. It never lets a card number near the gateway. */
export interface CardConnector extends Upstream {
  /** The network's name as customers know it. */
  readonly displayName: string;
  readonly currencies: readonly Currency[];
  readonly form: CardFormPage;
  /** The reference of an attempt's payment: derived from its id. */
  referenceFor(attemptId: string): string;
  /** The attempt behind a reference of the network's, be it of a payment or of an authentication. */
  attemptOf(reference: string): string | undefined;
  openForm(order: CardFormOrder): Promise<CardForm>;
  /** Checks the form against what was bound, and lets the issuer know its customer. Moves no money. */
  authenticate(order: CardOrder, browser: CardBrowser): Promise<Authentication>;
  /** Asks how an authentication stands. */
  authentication(order: CardOrder): Promise<Authentication>;
  /** Asks for the money, once, under the reference of the attempt. */
  pay(order: CardOrder): Promise<Answer>;
  payByToken(order: TokenOrder): Promise<Answer>;
  /** Asks how the order stands; undefined when that cannot be had now. */
  orderStatus(orderId: string): Promise<CardOrderStatus | undefined>;
  /** The network's own word for an order that ended so. Nobody is asked. */
  wordForEnd(end: CardEnd): string;
  refund(order: CardReversal): Promise<Answer>;
  void(order: CardReversal): Promise<Answer>;
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

/** A carrier whose numbers are served, and where. */
export interface CarrierOfCountry {
  /** Its name as customers know it, for example `Airtel Money`. */
  readonly carrier: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
}

/** Where a number leads in a currency, or what would work instead (contract §4: the 1103 message names it). */
export type CarrierRoute =
  | { readonly kind: 'route'; readonly connector: string; readonly carrier: string }
  /** The number's carrier does not take that currency; it takes these. */
  | { readonly kind: 'wrong_currency'; readonly carrier: string; readonly currencies: readonly Currency[] }
  /** No carrier of ours has that number; `works` take the currency, perhaps none. */
  | { readonly kind: 'no_carrier'; readonly works: readonly CarrierOfCountry[] };

/** A carrier by the connector that moves money from (payment) or to (payout) its numbers. */
export interface ReachedCarrier extends CarrierOfCountry {
  readonly use: 'payment' | 'payout';
  /** The connector's own name, as attempts have it. */
  readonly upstream: string;
  readonly currencies: readonly Currency[];
}

/** The upstreams that this gateway is connected to. */
export interface Connectors {
  /** What takes money where a number's route leads: `name` is the connector that the route gives. */
  collect(name: string): CollectConnector | undefined;
  /** What sends money there. */
  payout(name: string): PayoutConnector | undefined;
  /** The upstream of that name (an attempt has it), whatever it moves money by: every one can be asked about an attempt. */
  upstream(name: string): Upstream | undefined;
  /** The card network; undefined where none is configured. */
  readonly card: CardConnector | undefined;
  /** Whether money can be taken from any phone in that currency. */
  servesMobileMoney(currency: Currency): boolean;
  /** Whether money can be sent to any phone in that currency. */
  servesPayouts(currency: Currency): boolean;
  /** The carriers that take it from customers, and where. */
  carriersFor(currency: Currency): readonly CarrierOfCountry[];
  /** Every carrier that can be reached, in either direction. */
  readonly reached: readonly ReachedCarrier[];
  /** Who takes money from that number, or sends it there; `msisdn` is E.164, with the plus sign. */
  routeFor(use: ReachedCarrier['use'], msisdn: string, currency: Currency): CarrierRoute;
  /** The door for texts to customers; undefined where none is configured. */
  readonly texts: TextSender | undefined;
}

/** A movement of money in an upstream's own book. */
export interface BookLine {
  /** The attempt that asked for it, as the upstream was told. */
  readonly attemptId: string;
  readonly kind: 'debit' | 'credit';
  /** Undefined: no amount of ours. */
  readonly amountMinor: bigint | undefined;
  readonly currency: string;
  /** How often it moved. */
  readonly times: number;
}

export interface BookPage {
  /** Changes when the book was begun anew. */
  readonly startedAt: string;
  /** How many movements the whole book has. */
  readonly size: number;
  readonly lines: readonly BookLine[];
  /** The movements of the whole book that were made more than once. */
  readonly repeated: readonly BookLine[];
}

/** The book of upstreams that let an auditor look into it. Undefined: nobody answers just now. */
export interface Books {
  /** The connectors whose upstreams write it. */
  readonly connectors: readonly string[];
  /** The movements behind the first `after`, at most a thousand. */
  page(after: number): Promise<BookPage | undefined>;
  /** What was asked for by these attempts, at most a thousand. */
  ofAttempts(ids: readonly string[]): Promise<readonly BookLine[] | undefined>;
}
