/**
 * What every verb is handed: the store, the doors to the world and the upstreams.
 *
 * Invariant: a use case gets time, ids and chance from here only, so that it can be run in any world.
 */

import type {
  Books,
  CardConnector,
  CollectConnector,
  PayoutConnector,
  TextSender,
  Upstream,
} from '../connectors/connector.ts';
import type { Currency } from '../domain/currency.ts';
import { makeId, type Prefix } from '../domain/ids.ts';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import type { Words } from '../domain/refusal.ts';
import type { Calendar, Clock, Log, Outbound, Random, Secrets } from '../platform/platform.ts';
import type { Store } from '../store/store.ts';
import type { AlarmWatch } from './alarm-metrics.ts';

/** Which carrier serves a number in a currency, or what would work instead. */
export type CarrierRoute =
  | { readonly kind: 'route'; readonly connector: string; readonly carrier: string }
  | { readonly kind: 'wrong_currency'; readonly carrier: string; readonly currencies: readonly Currency[] }
  | { readonly kind: 'no_carrier'; readonly works: readonly CarrierOfCountry[] };

/** A carrier as its customers know it, and the country (ISO 3166-1 alpha-2) whose numbers it serves. */
export interface CarrierOfCountry {
  readonly carrier: string;
  readonly country: string;
}

/** A carrier by the connector that moves money from (payment) or to (payout) its numbers. */
export interface ReachedCarrier extends CarrierOfCountry {
  readonly use: 'payment' | 'payout';
  /** The connector's own name, as attempts have it. */
  readonly upstream: string;
  readonly currencies: readonly Currency[];
}

/** The upstreams that this gateway is connected to. */
export interface Connectors {
  collect(name: string): CollectConnector | undefined;
  /** What sends money where a number's route leads: `name` is the connector that the route gives. */
  payout(name: string): PayoutConnector | undefined;
  /** The upstream of that name, whatever it moves money by: every one can be asked about an attempt. */
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
  routeFor(msisdn: string, currency: Currency): CarrierRoute;
  /** The door for texts to customers; undefined where none is configured. */
  readonly texts: TextSender | undefined;
}

/** The sentence that tells of a payout line, for its webhook and for answers; the words are those of `messages/`. */
export type PayoutText = (
  language: string,
  line: Pick<PayoutLine, 'status' | 'reason' | 'scheduled_date' | 'reserved_at'>,
) => string;

/** The sentence of the text, in the customer's language; `assemble` hands in the words of `messages/`. */
export type CodeText = (language: string, words: Words) => string;

export interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly outbound: Outbound;
  readonly log: Log;
  /** Counts what a person must look at; the command line, whose caller is told, counts nothing. */
  readonly alarmed: AlarmWatch;
  readonly connectors: Connectors;
  /** What the auditor may look into; absent where the upstreams keep their books to themselves. */
  readonly books?: Books | undefined;
  readonly mode: 'sandbox' | 'production';
  /** The gateway's own address, without a trailing slash. */
  readonly publicUrl: string;
  /** Shared with whoever signs the card network's callbacks; undefined: none of theirs is believed. */
  readonly cardCallbackSecret: string | undefined;
  /** The sentence of a one-time code's text, in the customer's language. */
  readonly codeText: CodeText;
  readonly payoutText: PayoutText;
  /** Submits of this process that hold a session while their upstream answers, by session id. */
  readonly underWay: Map<string, Promise<unknown>>;
  /** Carriers' answers to this process's own calls that are being written, by attempt id (`attempt-record.ts`). */
  readonly recording: Map<string, Promise<unknown>>;
  /** Keeps track of work that nobody waits for, so that a graceful stop can. */
  readonly background: (work: Promise<unknown>) => void;
}

/** A fresh identifier of that kind, in that shard. */
export function newId(deps: Pick<Deps, 'clock' | 'random'>, prefix: Prefix, shard: number): string {
  return makeId(prefix, deps.clock.now(), deps.random.bytes(16), shard);
}

/** A read that gives the rows already at hand the first time, and fresh ones from then on. */
export function atHandFirst<R>(rows: R, read: () => Promise<R>): () => Promise<R> {
  let first = true;
  return () => {
    if (!first) return read();
    first = false;
    return Promise.resolve(rows);
  };
}
