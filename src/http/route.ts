/**
 * What a route is: data, walked by the server, by the OpenAPI document and by tests.
 *
 * Invariant: everything that is the same for every route (credential, limit, idempotency, shape, errors) is declared here and
 * done by the pipeline; a route's own code only turns a checked call into a use case's command.
 */

import type { Static, TSchema, TUnknown } from 'typebox';
import type { Left } from '../domain/one-time-code.ts';
import type { Merchant } from '../domain/records.ts';
import type { RefusalCode, RefusalDetail } from '../domain/refusal.ts';
import type { CodeGuard, TrafficLimit } from '../domain/traffic-limit.ts';
import type { Language } from '../messages/messages.ts';
import type { MerchantCaller, SessionCaller } from '../usecases/callers.ts';
import type { Answering, Reply } from '../usecases/perform.ts';
import type { LimitName } from './limits.ts';
import type { FileRule } from './multipart.ts';
import type { LoadClass } from './overload.ts';

/** Who may call a route: a merchant's backend by its credential, a client by a session's token, or anybody. */
export type CredentialKind = 'merchant' | 'session' | 'none';

/** An answer before it is serialised: the HTTP status, and the JSON document. */
export interface Rendered {
  readonly status: number;
  readonly value: unknown;
}

/** An answer that is too long to be held: its text is made as the client reads it. */
export interface Streamed {
  readonly status: number;
  readonly contentType: string;
  /** The name under which a browser saves the file. */
  readonly fileName: string;
  /** None of them is empty. */
  readonly chunks: AsyncIterable<string>;
}

/** A call whose credential, limit and shape have been checked. */
export interface Call<
  Caller = MerchantCaller | SessionCaller | undefined,
  Body = unknown,
  Params = unknown,
  Query = unknown,
> {
  readonly caller: Caller;
  /** As the route's schema says; optional fields that were sent as null are absent. A raw route gets the text. */
  readonly body: Body;
  readonly params: Params;
  readonly query: Query;
  readonly language: Language;
  /** `req_…`, the same as in the `X-Request-Id` header, the error envelope and the log. */
  readonly requestId: string;
  /** The caller's address, behind the proxies that are trusted. */
  address(): string;
  /** A request header by its lower-case name; undefined when absent. Several of one name are joined by a comma. */
  header(name: string): string | undefined;
  /**
   * Counts this call under a traffic limit whose key, and whose merchant if there is one, are known only from the body.
   *
   * @throws Refusal 1301 when it is used up.
   */
  count(limit: TrafficLimit, key: string, merchant: Merchant | undefined): void;
  /** Sets the headers that tell what is left of the route's guard, whatever the answer to this call is. */
  tellLeft(left: Left): void;
  /** How a use case's answer becomes bytes, and where they are remembered (contract §7). */
  answering<A>(render: (answer: A) => Rendered): Answering<A>;
  /** An answer that no Idempotency-Key remembers: for reads. */
  reply(status: number, value: unknown): Reply;
}

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below `/api/v1`, parameters with a colon: `/payments/status/:transaction_id`. */
  readonly path: string;
  /** True: the path starts at the root, and the route is not part of the OpenAPI document (upstreams' callbacks). */
  readonly outside?: boolean;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly limit: LimitName;
  /** Fields of the body whose fault has another code here than elsewhere. */
  readonly codes?: { readonly [field: string]: RefusalCode };
  /** How soon its calls are turned away under overload. */
  readonly loadClass: LoadClass;
  /**
   * The limit on calls about one payment's code, in place of a traffic limit. Tries and resends are counted besides, exactly, with
   * the code.
   */
  readonly guard?: CodeGuard;
  /** Answers by HTTP status. */
  readonly answers: { readonly [status: number]: TSchema };
  /** The refusals of the route itself; the OpenAPI document adds those that every route may have. */
  readonly refusals: readonly RefusalCode[];
  /** Whether a CONSUMED session may still make this call (contract §3). Routes that take no session leave it out. */
  readonly allowConsumed?: boolean;
  /**
   * `refused`: a session bound to a device may not make this call. The use case refuses it, also if no device is shown
   * (contract §3).
   */
  readonly device?: 'refused';
  /** `merchant`: an Idempotency-Key counts for the whole merchant, though a session calls (payouts; contract §7). */
  readonly idempotencyScope?: 'merchant';
  /** Adapts an answer, a remembered one too, to the caller's Accept header. */
  readonly sendTo?: (accept: string | undefined, reply: Reply) => Reply;
  /**
   * On a route without a credential: checks that the call proves who sent it. This comes before the shape, as authentication does
   * everywhere: nothing of the body has been checked.
   *
   * @throws Refusal 1304.
   */
  readonly requireProof?: (call: Call) => void;
  /** The body is handed over as text, whatever its content type, unchecked (upstreams' callbacks). */
  readonly rawBody?: boolean;
  /** Set if the answer may also be a table, `text/csv`: what the table holds. */
  readonly csv?: string;
  /** The body may also be a form in a browser's usual encoding, `application/x-www-form-urlencoded`. */
  readonly forms?: boolean;
  /** The most bytes of a body, where that is less than everywhere: on a route that reads it before it knows the sender. */
  readonly bodyMost?: number;
  /** The body is a form with this file, which its schema names as `UploadedFile`. */
  readonly upload?: FileRule;
}

type CallerOf<K extends CredentialKind> = K extends 'merchant'
  ? MerchantCaller
  : K extends 'session'
    ? SessionCaller
    : undefined;

/** The readable part of a body: whatever does not fit its schema is absent, in lists `undefined`. */
export type Readable<T> = T extends readonly (infer Item)[]
  ? readonly (Readable<Item> | undefined)[]
  : T extends { readonly bytes: Uint8Array }
    ? T
    : T extends object
      ? { readonly [Field in keyof T]?: Readable<T[Field]> }
      : T;

/** A route with the types that follow from its schemas. */
export interface TypedRoute<K extends CredentialKind, B extends TSchema, P extends TSchema, Q extends TSchema>
  extends RouteFacts {
  readonly credential: K;
  readonly body?: B;
  readonly params?: P;
  readonly querystring?: Q;
  /**
   * Refuses a caller who may not make this call, whatever is sent with it. Such a caller learns nothing else: neither of the body's
   * faults, nor of what is remembered under a key.
   */
  requireRight?(caller: CallerOf<K>): void;
  /**
   * Finds the faults that the schema cannot express. Gets the fields that fit the schema, and returns every one that is at fault
   * all the same; these are answered together with the schema's (contract §2). `unreadable` has the paths of the fields that do
   * not fit.
   */
  check?(body: Readable<Static<B>>, caller: CallerOf<K>, unreadable: ReadonlySet<string>): readonly RefusalDetail[];
  /** Finds the faults of the query that its schema cannot express. */
  checkQuery?(query: Partial<Static<Q>>): readonly RefusalDetail[];
  run(call: Call<CallerOf<K>, Static<B>, Static<P>, Static<Q>>): Promise<Reply | Streamed>;
}

/** What a route must say besides if it takes sessions. */
type SessionFacts<K extends CredentialKind> = K extends 'session' ? { readonly allowConsumed: boolean } : unknown;

/** A route as the table holds it. */
export interface Route extends RouteFacts {
  readonly credential: CredentialKind;
  readonly body?: TSchema;
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  requireRight?(caller: MerchantCaller | SessionCaller | undefined): void;
  check?(
    body: unknown,
    caller: MerchantCaller | SessionCaller | undefined,
    unreadable: ReadonlySet<string>,
  ): readonly RefusalDetail[];
  checkQuery?(query: unknown): readonly RefusalDetail[];
  run(call: Call): Promise<Reply | Streamed>;
}

/** Gives a route's `run` the types of its credential and schemas; otherwise it is the same value. */
export function defineRoute<
  K extends CredentialKind,
  B extends TSchema = TUnknown,
  P extends TSchema = TUnknown,
  Q extends TSchema = TUnknown,
>(route: TypedRoute<K, B, P, Q> & SessionFacts<K>): Route {
  return route;
}

/** A route's path from the root. */
export function fullPath(route: Pick<Route, 'path' | 'outside'>): string {
  return route.outside === true ? route.path : `/api/v1${route.path}`;
}
