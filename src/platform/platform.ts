/**
 * The doors to the world, as types: time, randomness, keys, the outbound network and the log.
 *
 * Invariant: the rest of the service reaches the world only through these values, so that the same assembled gateway runs in
 * production, in the tests and in a simulation.
 */

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Runs a task once, that many milliseconds from now. Returns a function that cancels it. */
  after(milliseconds: number, task: () => void): () => void;
  /**
   * The machine's own time, which a test clock does not move: for times that others check against their own clocks, and for how
   * long something took.
   */
  wall(): number;
  /** When, by `wall`, this clock was last set forward; undefined: never. A duration measured across that proves nothing. */
  leaptAt(): number | undefined;
}

/**
 * Dates and time zones, as people and their laws have them. A date is ISO 8601 text (`2027-01-31`), an hour a number from 0 to
 * 23, a zone a name of the IANA's table. Malformed ones throw, so check with `isDate` and `isZone` first.
 */
export interface Calendar {
  /** Whether there is such a date, in a year of four digits. */
  isDate(text: string): boolean;
  isZone(text: string): boolean;
  /** The date in that zone at an instant. */
  today(zone: string, now: number): string;
  plusDays(date: string, days: number): string;
  /** That day of a later month, or the month's last where it has no such day. */
  plusMonths(date: string, months: number): string;
  /**
   * The instant at which it is that hour in that zone. If a clock change skips the hour, the one after it; if the hour occurs
   * twice, the first.
   */
  instantOf(date: string, hour: number, zone: string): number;
}

export interface Random {
  /** Bytes from a cryptographic source. */
  bytes(count: number): Uint8Array;
  /** A whole number from 0 to the limit, which is excluded; without bias. */
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
  | 'trace'
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
  /** What `mac` gives under every key of the ring, the active one first: for what may have been stored before a rotation. */
  macs(purpose: KeyPurpose, ...parts: readonly string[]): readonly string[];
  /** HMAC-SHA-256 under someone else's key, base64 with padding: the form of Standard Webhooks' signatures. */
  hmac(key: Uint8Array, text: string): string;
  /**
   * Authenticated encryption (AES-256-GCM, random nonce); base64url with the key's id in front. `context` is authenticated too.
   * `at` selects another key of the ring than the active one, by position as in `macs`: for content that a process with only that
   * key must be able to open, and that is no secret of its own.
   */
  seal(purpose: KeyPurpose, content: string | Uint8Array, context: string, at?: number): string;
  /** The text again; undefined when it was sealed for something else, altered, or sealed with a key that has been removed. */
  open(purpose: KeyPurpose, sealed: string, context: string): string | undefined;
  /** What `open` gives, where bytes were sealed. */
  openBytes(purpose: KeyPurpose, sealed: string, context: string): Uint8Array | undefined;
  /** The opaque payment_id of a transaction: deterministic, `pay_…`, URL-safe. */
  sealPaymentId(transactionId: string): string;
  /** The transaction behind a payment_id, or undefined for anything not made by `sealPaymentId`. */
  openPaymentId(paymentId: string): string | undefined;
  /**
   * argon2id with a pepper, in a bounded pool in which owners take turns. Throws `PinsBusy` when the pool's queue, or this
   * owner's part of it, is full. The hash is of no use for another account than the one that is named.
   */
  hashPin(pin: string, account: string): Promise<string>;
  /** Hashes a PIN where that can be postponed: undefined, at once, if the pool has no free place. */
  hashPinIfFree(pin: string, account: string): Promise<string | undefined>;
  /** Whether a hash has the form of those that are made now: by the active key, for that account. */
  isPinHashNew(hash: string, account: string): boolean;
  /**
   * Without a hash it takes as long, and is false: nobody learns from the time whether there is an account. `turn` names the
   * owner (a merchant's id). Throws `PinsBusy` as `hashPin`.
   */
  verifyPin(pin: string, hash: string | undefined, account: string, turn: string): Promise<boolean>;
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
  /** Bytes of the answer that are read; the rest is dropped and the connection closed. */
  readonly answerLimit: number;
  /**
   * `status`: the answer is a final status (200 or above) and the headers, whether or not a body comes to its end, and has no
   * body. Absent: the body belongs to it.
   */
  readonly enough?: 'status';
}

/**
 * The outcome of a request. `not_sent`: certainly nothing was delivered (refused, no address, blocked by the guard). `lost`: it
 * may have been delivered, and its answer is not known.
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
   * Why a URL may not be opened (scheme, port, credentials, literal address); undefined: it may. `opener` is the gateway when
   * absent.
   */
  refuses(url: string, opener?: Opener): string | undefined;
  close(): Promise<void>;
}

/** Labels, by name. */
export type MetricLabels = { readonly [name: string]: string };

/** One value of a metric. */
export interface MetricReading {
  readonly labels: MetricLabels;
  readonly value: number;
}

/** The contents of a histogram: `counts` has one entry more than `bounds`, for values above the last bound. */
export interface MetricTally {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
}

/** What monitoring reads. Each name is registered once; labels hold names and patterns, never ids. */
export interface Metrics {
  /** Adds one. `known`: labels that are shown from the start, at 0, so that monitoring sees their first increase. */
  counter(
    name: string,
    help: string,
    labelNames: readonly string[],
    known?: readonly MetricLabels[],
  ): (labels: MetricLabels) => void;
  gauge(name: string, help: string, labelNames: readonly string[]): (labels: MetricLabels, value: number) => void;
  /** Buckets in seconds, ascending. */
  histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    buckets: readonly number[],
  ): (labels: MetricLabels, seconds: number) => void;
  /** Values that are counted elsewhere, and read whenever the page is rendered. */
  read(
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    labelNames: readonly string[],
    read: () => readonly MetricReading[],
  ): void;
  /** A histogram that is counted elsewhere. */
  readHistogram(name: string, help: string, read: () => MetricTally): void;
  /** All metrics as text, and the content type of that text. */
  page(): Promise<{ readonly type: string; readonly body: string }>;
}

/** What a span records: names, statuses and ids; never an amount, a phone number or a secret. */
export type TraceAttributes = { readonly [name: string]: string | number | boolean | undefined };

/** One step in the course of a request or a transaction: a commit, a call to an upstream, a webhook. */
export interface TraceStep {
  readonly name: string;
  /** `client`: another system is called. */
  readonly kind: 'internal' | 'client';
  /** The transaction that it belongs to; undefined: whichever the current request is about. */
  readonly transactionId: string | undefined;
  readonly attributes: TraceAttributes;
}

/** A request that is being handled. */
export interface TracedRequest {
  /** Runs the handler: the steps that it takes belong to this request. */
  within(run: () => void): void;
  /** `name`: the method and the route's pattern. */
  end(name: string, attributes: TraceAttributes): void;
}

/** Records what becomes of requests and transactions, for OpenTelemetry. */
export interface Traces {
  /** A request has arrived; `traceparent` is the caller's header (W3C Trace Context), whatever it holds. */
  begin(traceparent: string | undefined): TracedRequest;
  /**
   * Takes a step, and records it if it belongs to a request or a transaction. `take` is given the `traceparent` to pass on to
   * other systems. A failure is recorded without its message.
   */
  step<T>(
    step: TraceStep,
    take: (traceparent: string | undefined) => Promise<T>,
    attributesOf: (result: T) => TraceAttributes,
  ): Promise<T>;
  /** A transaction has been created. `origin`: the transaction that it came from, such as a refund's payment. */
  created(transactionId: string, kind: string, origin?: string): void;
  /** Exports what has been recorded. */
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
