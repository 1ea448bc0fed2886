/**
 * The contract of a connector: how the service asks an upstream to move money, in the service's own terms, and how it finds the
 * upstream that a number leads to.
 *
 * Invariant: what an upstream says is an *answer*, returned and never thrown. `unknown` is an answer: it is inquired about, never
 * guessed, and nothing is ever sent again under another reference. A connector is never shown a callback: whatever its body
 * claims, the upstream is asked.
 */

import type { Answer, InquiryAnswer } from '../domain/answer.ts';
import type { Currency } from '../domain/currency.ts';
import type { NativeMethod } from '../domain/method.ts';
import type { DeclineReason } from '../domain/reason.ts';
import type { BrowserFacts } from '../domain/submission.ts';

/** What a carrier is asked to do with a phone's money. */
export interface CarrierOrder {
  /** `att_` and 26 letters and digits. The simulator is told it in some field, so that the auditor can compare its book. */
  readonly attemptId: string;
  /** How the carrier will know this attempt: what `referenceFor` gave for it when it was made. */
  readonly reference: string;
  /** Who pays, or is paid: E.164, with the plus sign. */
  readonly msisdn: string;
  /** In the currency's own minor units: 12.50 usd is 1250, 5000 ugx is 5000. `formatMinor` writes it as decimal text. */
  readonly amountMinor: bigint;
  readonly currency: Currency;
  /** Any characters, up to 100 of them; of the customer reference up to 255. The connector makes them fit. */
  readonly merchantName: string;
  readonly customerReference: string;
  /** Where the upstream may call back, by PUT or POST; unguessable. */
  readonly callbackUrl: string;
}

/**
 * What to inquire about: the reference, and what was ordered, so that an answer about something else is never accepted. It never
 * holds the upstream's own id: that comes in an answer, which may be lost.
 */
export interface Inquiry extends Pick<CarrierOrder, 'reference' | 'attemptId' | 'amountMinor' | 'currency'> {
  /** The transaction_id, for upstreams that know orders besides attempts. */
  readonly orderId: string;
  /** Of an order's money that goes back to its payer, for upstreams that know that under the same order; absent: the order's own. */
  readonly movement?: 'refund';
}

/** What every upstream that moves money can do: answer inquiries about an attempt. */
export interface Upstream {
  /** As attempts store it and callbacks' addresses contain it: small letters, digits and dashes. It never changes. */
  readonly name: string;
  /**
   * Which account of ours at the upstream it speaks for: what its references are within. Credentials may be renewed without
   * another one. A "not found" about an attempt of another account is not believed.
   */
  readonly account: string;
  /**
   * Milliseconds after which a second `not_found` proves that nothing was taken: longer than the upstream's queues, and than the
   * 20 s for which a call may be on its way.
   */
  readonly settleDelayMs: number;
  /**
   * Never throws, and ends within 10 s. `not_found` only by the upstream's own word for it: a 404 may be a proxy's. `unknown` for
   * whatever its documents do not list, cannot be read, or is about something else than was ordered.
   */
  inquire(order: Inquiry): Promise<InquiryAnswer>;
}

/** An upstream that moves phones' money: a carrier, or a part of its API. */
export interface CarrierConnector extends Upstream {
  /** The carrier's name as customers know it, for example `MTN MoMo`. */
  readonly displayName: string;
  /** The upstream's name of the market that it is configured for; routes of another market do not reach it. */
  readonly market?: string;
  /** The reference for an attempt: derived from its id and from nothing else, in the upstream's form. The same for ever. */
  referenceFor(attemptId: string): string;
}

/** A carrier that can take money from a customer's phone. `start` is never offered without `inquire`. */
export interface CollectConnector extends CarrierConnector {
  /**
   * Asks once. Never retried by the connector, except where the upstream certainly did nothing (an expired token). Never throws,
   * and ends within 10 s: not long after, others inquire. An upstream that decides at once may be answered `approved` or `declined`.
   */
  start(order: CarrierOrder): Promise<Answer>;
}

/** What a carrier is asked to pay out. */
export interface PayoutRequest extends CarrierOrder {
  /** What the merchant writes to the receiver; null: nothing. */
  readonly note: string | null;
}

/** A carrier that can send money to a phone. `payOut` is never offered without `inquire`. */
export interface PayoutConnector extends CarrierConnector {
  /** As a collect connector's `start`. What would be refused every time is `declined`, since nobody is there to try again. */
  payOut(order: PayoutRequest): Promise<Answer>;
}

/** What a hosted form is opened for: bound to it at the network, so that no browser can change it. */
export interface CardFormOrder {
  /** The id by which the network knows the payment: its transaction_id. */
  readonly orderId: string;
  readonly amountMinor: bigint;
  readonly currency: Currency;
}

/** `not_opened`: the customer has to come back later, or use another method. */
export type CardForm =
  | { readonly kind: 'opened'; readonly sessionId: string }
  | { readonly kind: 'not_opened'; readonly reason: string };

/** An attempt at an order: a payment of it, or a refund of all or some of its money. */
export interface CardAttempt extends CardFormOrder {
  /** The network's id for this try is derived from it. */
  readonly attemptId: string;
}

/** A payment by card, once the customer has filled the hosted form. */
export interface CardOrder extends CardAttempt {
  /** The hosted form's session. */
  readonly sessionId: string;
}

/** The browser that an issuer may want to challenge (EMV 3DS 2). */
export interface CardBrowser extends BrowserFacts {
  /** Where the network sends the browser after the challenge. */
  readonly returnUrl: string;
}

/** A form that the customer's browser posts to the issuer. */
export interface Challenge {
  /** http or https; the issuer's own. */
  readonly action: string;
  readonly fields: readonly { readonly name: string; readonly value: string }[];
}

/** What the network says about the customer's authentication. No money has moved, whatever it says. */
export type Authentication =
  /** The issuer has recognised its customer, or takes responsibility for not asking: money may be requested. */
  | { readonly kind: 'authenticated'; readonly status: string; readonly eci: string | null }
  /** The issuer challenges the customer; `challenge` is absent when a later look finds the challenge still open. */
  | { readonly kind: 'challenge'; readonly status: string; readonly challenge: Challenge | undefined }
  /** Final: this card cannot be used. */
  | { readonly kind: 'rejected'; readonly status: string; readonly reason: DeclineReason }
  /** The hosted form is not what was bound: no card in it, another order, another amount, used before, or expired. */
  | { readonly kind: 'unusable'; readonly fault: 'no_card' | 'changed' | 'used' | 'ended' }
  /** Nothing was requested, and nothing will be. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string };

/** A payment by a token of Google Pay or Apple Pay. The token goes to the network once, and nowhere else. */
export interface TokenOrder extends CardAttempt {
  readonly wallet: NativeMethod;
  readonly token: string;
}

/** The status of an order at the network. */
export interface CardOrderStatus {
  /** In the network's own terms; null: the network has no such order. */
  readonly status: string | null;
  /** Whether money was taken from it, or will be. */
  readonly isTaken: boolean;
}

/** How a payment by card ended, as far as we know. `reason`: that of its last attempt; null if none is known. */
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
  /** The attempt behind one of the network's references, be it of a payment or of an authentication. */
  attemptOf(reference: string): string | undefined;
  openForm(order: CardFormOrder): Promise<CardForm>;
  /** Checks the form against what was bound, and lets the issuer recognise its customer. Moves no money. */
  authenticate(order: CardOrder, browser: CardBrowser): Promise<Authentication>;
  /** Asks for the state of an authentication. */
  authentication(order: CardOrder): Promise<Authentication>;
  /** Requests the money, once, under the reference of the attempt. */
  pay(order: CardOrder): Promise<Answer>;
  payByToken(order: TokenOrder): Promise<Answer>;
  /** Asks for the order's status; undefined when it is not available now. */
  orderStatus(orderId: string): Promise<CardOrderStatus | undefined>;
  /** The status of an order that ended so, in the network's own terms. The network is not called. */
  statusForEnd(end: CardEnd): string;
  /** Gives back money of an order, in whole or in part. */
  refund(order: CardAttempt): Promise<Answer>;
}

/** A short message to a phone: how one-time codes are sent. */
export interface TextOrder {
  /** E.164, with the plus sign. */
  readonly to: string;
  readonly text: string;
}

/** The door for texts. A text is sent at most once; `unknown`: it may have arrived. */
export interface TextSender {
  sendText(order: TextOrder): Promise<'sent' | 'not_sent' | 'unknown'>;
}

/** A carrier whose numbers are served, and its country. */
export interface CarrierOfCountry {
  /** Its name as customers know it, for example `Airtel Money`. */
  readonly carrier: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
}

/** Where a number leads in a currency, or what would work instead (contract §4: the 1103 message names it). */
export type CarrierRoute =
  | { readonly kind: 'route'; readonly connector: string; readonly carrier: string }
  /** The number's carrier does not accept that currency; it accepts these. */
  | { readonly kind: 'wrong_currency'; readonly carrier: string; readonly currencies: readonly Currency[] }
  /** No carrier of ours serves that number; `works` are those that accept the currency, perhaps none. */
  | { readonly kind: 'no_carrier'; readonly works: readonly CarrierOfCountry[] };

/** A carrier by the connector that moves money from (payment) or to (payout) its numbers. */
export interface ReachedCarrier extends CarrierOfCountry {
  readonly use: 'payment' | 'payout';
  /** The connector's own name, as it is stored in attempts. */
  readonly upstream: string;
  readonly currencies: readonly Currency[];
}

/** A connector that sends money out: payouts, refunds or both. */
export interface Sender {
  /** Its name, as attempts store it. */
  readonly connector: string;
  /** The name that payout lines and refunds store: the one that routes give. */
  readonly route: string;
}

/** The upstreams that this gateway is connected to. */
export interface Connectors {
  /** The connector that takes money on a number's route: `name` is the one that the route gives. */
  collect(name: string): CollectConnector | undefined;
  /** The connector that sends money on that route. */
  payout(name: string): PayoutConnector | undefined;
  /** The route on which the connector of that name (as stored in an attempt) takes money: refunds go back on it. */
  routeOf(collector: string): string | undefined;
  /** The upstream of that name (as stored in an attempt), whatever it moves money by: every one answers inquiries. */
  upstream(name: string): Upstream | undefined;
  /** The card network; undefined where none is configured. */
  readonly card: CardConnector | undefined;
  /** Whether money can be taken from some phone in that currency. */
  servesMobileMoney(currency: Currency): boolean;
  /** Whether money can be sent to some phone in that currency. */
  servesPayouts(currency: Currency): boolean;
  /** The carriers that take that currency from customers, and their countries. */
  carriersFor(currency: Currency): readonly CarrierOfCountry[];
  /** Every carrier that can be reached, in either direction. */
  readonly reached: readonly ReachedCarrier[];
  /** The route by which money is taken from that number, or sent to it; `msisdn` is E.164, with the plus sign. */
  routeFor(use: ReachedCarrier['use'], msisdn: string, currency: Currency): CarrierRoute;
  /** The door for texts to customers; undefined where none is configured. */
  readonly texts: TextSender | undefined;
}

/** A movement of money in an upstream's own book. */
export interface BookLine {
  /** The attempt that asked for it, as the upstream was told. */
  readonly attemptId: string;
  readonly kind: 'debit' | 'credit';
  /** Undefined: not an amount that we could have ordered. */
  readonly amountMinor: bigint | undefined;
  readonly currency: string;
  /** How often it moved. */
  readonly times: number;
}

export interface BookPage {
  /** Changes when the book is started anew. */
  readonly startedAt: string;
  /** How many movements the whole book has. */
  readonly size: number;
  readonly lines: readonly BookLine[];
  /** The movements of the whole book that were made more than once. */
  readonly repeated: readonly BookLine[];
}

/** The book of upstreams that let an auditor read it. Undefined: no answer just now. */
export interface Books {
  /** The connectors whose upstreams write it. */
  readonly connectors: readonly string[];
  /** The movements after the first `after`, at most a thousand. */
  page(after: number): Promise<BookPage | undefined>;
  /** The movements that these attempts asked for, at most a thousand. */
  ofAttempts(ids: readonly string[]): Promise<readonly BookLine[] | undefined>;
}
