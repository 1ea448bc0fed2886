/**
 * The doors to the world, as types: time, chance, keys, the outbound network and the log.
 *
 * Invariant: the rest of the service reaches the world only through these values, so that the same assembled
 * gateway runs in production, in the tests and in a simulation.
 */

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Runs a task once, that many milliseconds from now. Returns what cancels it. */
  after(milliseconds: number, task: () => void): () => void;
  /**
   * The machine's own time, which a test clock does not move: for what others check against their own clocks, and for how
   * long something took.
   */
  wall(): number;
  /** When, by `wall`, this clock was last set forward; undefined: never. What was timed across that proves nothing. */
  leaptAt(): number | undefined;
}

/**
 * Dates and time zones, as people and their laws have them. A date is ISO 8601 text (`2027-01-31`), an hour a number from 0
 * to 23, a zone a name of the IANA's table. Unreadable ones throw, so ask `isDate` and `isZone` first.
 */
export interface Calendar {
  /** Whether there is such a date; those of years after 2999 are taken for slips. */
  isDate(text: string): boolean;
  isZone(text: string): boolean;
  /** The date in that zone at an instant. */
  today(zone: string, now: number): string;
  plusDays(date: string, days: number): string;
  /** The same day of the month, or the month's last where it has no such day. */
  plusMonths(date: string, months: number): string;
  /**
   * The instant at which it is that hour there. An hour that a clock change leaves out is the one after it; of an hour that
   * comes twice, the first.
   */
  instantOf(date: string, hour: number, zone: string): number;
}

export interface Random {
  /** Bytes from a cryptographic source. */
  bytes(count: number): Uint8Array;
  /** A whole number from 0 up to, and without, the limit; without bias. */
  below(limit: number): number;
}

/** Fields of a log line: only what is safe to keep. Never bodies, headers, URLs with a query, or secrets. */
export type LogFields = { readonly [field: string]: string | number | boolean | null | undefined };

/** A structured log. `event` is a fixed name such as `attempt_settled`; what varies goes into fields. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** An error is logged with its message and stack, and never leaves in an answer. */
  error(event: string, fields?: LogFields, cause?: unknown): void;
}

/** What a key is for. Each purpose has a key of its own, derived from the master key. */
export type KeyPurpose =
  | 'payment_id'
  | 'webhook_secret'
  | 'idempotency_body'
  | 'idempotency_key'
  | 'one_time_code'
  | 'callback_path'
  | 'pin_guard'
  | 'challenge_path'
  | 'challenge'
  | 'card_return'
  | 'proof'
  | 'proof_digest'
  | 'cursor'
  | 'master_key_check';

export interface Secrets {
  /** The ids of the ring's keys, the active one first: two hexadecimal digits each, so that two keys may share one. */
  readonly keyIds: readonly string[];
  /** SHA-256 of a high-entropy secret (merchant secret, session token) or of a file, base64url. */
  digest(content: string | Uint8Array): string;
  /** Compares in a time that does not depend on where the texts differ. */
  equal(a: string, b: string): boolean;
  /** Keyed HMAC-SHA-256 over the parts, unambiguous about where each ends; base64url. Stable across restarts. */
  mac(purpose: KeyPurpose, ...parts: readonly string[]): string;
  /** The same under every key of the ring, the active one first: what was looked up or compared before a rotation. */
  macs(purpose: KeyPurpose, ...parts: readonly string[]): readonly string[];
  /** HMAC-SHA-256 under someone else's key, base64 with padding: the form of Standard Webhooks' signatures. */
  hmac(key: Uint8Array, text: string): string;
  /**
   * Authenticated encryption (AES-256-GCM, random nonce); base64url with the key's id in front. `context` is bound. `at` is the
   * place of another key than the active one in the ring, as in `macs`: for what whoever has that key alone must open too,
   * and which is no secret of its own.
   */
  seal(purpose: KeyPurpose, content: string | Uint8Array, context: string, at?: number): string;
  /** The text again, or undefined when it was sealed for something else, altered, or with a key long gone. */
  open(purpose: KeyPurpose, sealed: string, context: string): string | undefined;
  /** The same where bytes were sealed. */
  openBytes(purpose: KeyPurpose, sealed: string, context: string): Uint8Array | undefined;
  /** The opaque payment_id of a transaction: deterministic, `pay_…`, URL-safe. */
  sealPaymentId(transactionId: string): string;
  /** The transaction behind a payment_id, or undefined for anything not made by `sealPaymentId`. */
  openPaymentId(paymentId: string): string | undefined;
  /**
   * argon2id with a pepper, in a bounded pool in which owners take turns. Throws `PinsBusy` when the pool's queue, or this
   * owner's part of it, is full.
   */
  hashPin(pin: string): Promise<string>;
  /** The same for what can be done another time: undefined, at once, where the pool has no free place. */
  hashPinIfFree(pin: string): Promise<string | undefined>;
  /**
   * Without a hash it takes as long, and is false: nobody learns from time whether there is an account. `turn` names the owner
   * (a merchant's id). Throws `PinsBusy` as `hashPin`.
   */
  verifyPin(pin: string, hash: string | undefined, turn?: string): Promise<boolean>;
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body?: string;
  /** From connecting to the last byte, milliseconds. */
  readonly timeout: number;
  /**
   * `merchant`: an address that someone else chose; every resolved address is checked when it is dialled (contract §6).
   * `upstream`: an address from the operator's configuration.
   */
  readonly trust: 'merchant' | 'upstream';
  /** How much of the answer is read; the rest is dropped and the connection closed. */
  readonly answerLimit: number;
  /**
   * `status`: a final status (200 or above) and the headers are the answer, whether or not a body comes to its end, and none is
   * handed back. Absent: the body belongs to it.
   */
  readonly enough?: 'status';
}

/**
 * What became of a request. `not_sent`: certainly nothing was delivered (refused, no address, blocked by the guard).
 * `lost`: it may have been delivered, and its answer is not known.
 */
export type OutboundAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: { readonly [name: string]: string };
      readonly body: string;
    }
  | { readonly kind: 'not_sent'; readonly reason: string }
  | { readonly kind: 'lost'; readonly reason: string };

/** Who opens a URL of a merchant: the gateway dials it, or a customer's browser is sent there. */
export type Opener = 'gateway' | 'browser';

export interface Outbound {
  /** Never throws, never follows a redirect, never reads proxy settings. */
  request(request: OutboundRequest): Promise<OutboundAnswer>;
  /**
   * Whether a URL may be opened at all: scheme, port, credentials, literal address. The reason when not. `opener` is the gateway
   * when absent.
   */
  refuses(url: string, opener?: Opener): string | undefined;
  close(): Promise<void>;
}

/** The labels of one number, by name. */
export type MetricLabels = { readonly [label: string]: string };

/** One number of a name. */
export interface MetricReading {
  readonly values: MetricLabels;
  readonly value: number;
}

/** How often something was how large: `counts` has one place more than `bounds`, for what is above the last of them. */
export interface MetricTally {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** What monitoring reads. Each name is made once; labels hold names and patterns, never ids. */
export interface Metrics {
  /** Adds one. `known`: labels that are shown from the start, at 0, so that monitoring sees their first rise. */
  counter(
    name: string,
    help: string,
    labels: readonly string[],
    known?: readonly MetricLabels[],
  ): (values: MetricLabels) => void;
  gauge(name: string, help: string, labels: readonly string[]): (values: MetricLabels, value: number) => void;
  /** Buckets in seconds, ascending. */
  histogram(
    name: string,
    help: string,
    labels: readonly string[],
    buckets: readonly number[],
  ): (values: MetricLabels, seconds: number) => void;
  /** Numbers that are counted elsewhere, and read whenever the page is made. */
  read(
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    labels: readonly string[],
    read: () => readonly MetricReading[],
  ): void;
  /** A histogram that is counted elsewhere. */
  readHistogram(name: string, help: string, read: () => MetricTally): void;
  /** All of it as text, and the type of that text. */
  page(): Promise<{ readonly type: string; readonly body: string }>;
}

/** What is told of a span: names, statuses and ids; never an amount, a phone number or a secret. */
export type TraceAttributes = { readonly [name: string]: string | number | boolean | undefined };

/** One step of the way: a commit, a call of an upstream, a webhook. */
export interface TraceStep {
  readonly name: string;
  /** `client`: somebody else is asked. */
  readonly kind: 'internal' | 'client';
  /** The transaction that it belongs to; undefined: whatever the current request is about. */
  readonly transactionId: string | undefined;
  readonly attributes: TraceAttributes;
}

/** A request that is being handled. */
export interface TracedRequest {
  /** Runs what handles it: the steps that this takes are the request's. */
  within(run: () => void): void;
  /** `name`: the method and the route's pattern. */
  end(name: string, attributes: TraceAttributes): void;
}

/** Records what becomes of requests and transactions, for OpenTelemetry. */
export interface Traces {
  /** A request has come; `traceparent` is the caller's header (W3C Trace Context), whatever it holds. */
  begin(traceparent: string | undefined): TracedRequest;
  /**
   * Takes a step, and records it where it belongs to a request or a transaction. `take` is handed the `traceparent` that others
   * can be given. What a failure says is not recorded, only that it was one.
   */
  step<T>(
    step: TraceStep,
    take: (traceparent: string | undefined) => Promise<T>,
    attributesOf: (result: T) => TraceAttributes,
  ): Promise<T>;
  /** A transaction has come into being, out of another one where that is named. */
  born(transactionId: string, kind: string, outOf?: string): void;
  /** Hands over what has been recorded. */
  close(): Promise<void>;
}

export interface Platform {
  readonly clock: Clock;
  readonly calendar: Calendar;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly outbound: Outbound;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Absent: nothing is recorded. */
  readonly traces?: Traces;
}
