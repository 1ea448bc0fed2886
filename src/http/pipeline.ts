/**
 * What happens to every call of a route, in one fixed order (ARCHITECTURE.md, "One payment's journey"): authentication, limit,
 * idempotency, shape; then the use case with binding and state.
 *
 * Invariant: no step looks at what a later step checks. An unreadable body is refused only after its sender is known and counted.
 */

import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isWithin } from '../domain/elapsed.ts';
import type { Session } from '../domain/records.ts';
import { type DetailCode, Refusal, refuseField } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';
import type { Answering, Reply } from '../usecases/perform.ts';
import {
  type AuthenticationParts,
  authenticate,
  lookUpCredential,
  onDevice,
  type PresentedCredential,
  requireUnconsumed,
} from './authentication.ts';
import { bodyOf, formOf, requireType } from './call-body.ts';
import {
  type Caller,
  countBy,
  countCall,
  countGuarded,
  countGuardedCalls,
  type GuardedCalls,
  senderOf,
} from './call-counts.ts';
import type { ClientAddress } from './client-address.ts';
import {
  type ExchangeParts,
  envelopeFor,
  exchangeOf,
  JSON_TYPE,
  languageOfRequest,
  refuse,
  sayReplayed,
  writable,
} from './exchange.ts';
import { createReceipt, type ReceiptParts, readIdempotencyKey, type UsedReceipt } from './idempotency.ts';
import { createKeyTurns, type KeyTurns } from './key-turns.ts';
import { codeGuard, guardHeaders, type Limits } from './limits.ts';
import { aboutPayment, type PaymentsKnown, paymentIdIn } from './refusal-about.ts';
import { readFingerprint, readPipelineHeaders } from './request-headers.ts';
import { type ClockCheck, requireRightClock } from './right-clock.ts';
import { type Call, fullPath, type Rendered, type Route, type Streamed } from './route.ts';
import { type BodyShape, createBodyShape, createParamsShape, createQueryShape, type Shape } from './shape.ts';
import type { Streams } from './streams.ts';
import type { UploadSlots } from './upload-slots.ts';

export interface PipelineParts extends AuthenticationParts, ReceiptParts, ExchangeParts, ClockCheck, PaymentsKnown {
  readonly lookups: AuthenticationParts['lookups'];
  readonly secrets: AuthenticationParts['secrets'] & ReceiptParts['secrets'];
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Binds a session to the first device that it shows; returns the session as it is then. @throws Refusal 1305. */
  bindDevice(session: Session, fingerprint: string): Promise<Session>;
  readonly limits: Limits;
  /** Shared with the pages, because a file takes as much memory there. */
  readonly uploads: UploadSlots;
  readonly streams: Streams;
  readonly addressOf: ClientAddress;
}

/** What a route keeps between calls. */
interface Kept {
  readonly body: BodyShape | undefined;
  readonly params: Shape | undefined;
  readonly query: BodyShape | undefined;
  readonly turns: KeyTurns;
  readonly calls: GuardedCalls | undefined;
}

/** One call on its way through: its request, and what its route keeps. */
interface Handling {
  readonly parts: PipelineParts;
  readonly route: Route;
  readonly kept: Kept;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface Pipeline {
  /** Runs once the headers have arrived: refuses a body of the wrong type, and starts to look the caller up. */
  begin(request: FastifyRequest): void;
  /** Runs once the body has arrived. Returns what to send. */
  handle(request: FastifyRequest, reply: FastifyReply): Promise<string | Readable>;
}

const MISSING: PresentedCredential = { kind: 'missing' };

/** How long a credential that was read while the body arrived counts as current. */
const FRESH_MS = 500;

export function createPipeline(parts: PipelineParts, route: Route): Pipeline {
  const kept: Kept = {
    body: route.body === undefined ? undefined : createBodyShape(route.body, route.codes),
    params: route.params === undefined ? undefined : createParamsShape(route.params),
    query: route.querystring === undefined ? undefined : createQueryShape(route.querystring),
    turns: createKeyTurns(parts.clock),
    calls: route.guard === undefined ? undefined : countGuardedCalls(parts.clock),
  };
  const pattern = fullPath(route);

  function begin(request: FastifyRequest): void {
    const exchange = exchangeOf(request);
    exchange.route = pattern;
    requireType(route, request);
    if (route.outside === true) return;
    exchange.headers = readPipelineHeaders(request.raw);
    if (route.credential === 'none') return;
    const { authorization, twoCredentials } = exchange.headers;
    exchange.shown = twoCredentials ? MISSING : lookUpCredential(parts.lookups, authorization);
  }

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<string | Readable> {
    try {
      const answer = await answerCall({ parts, route, kept, request, reply });
      if ('chunks' in answer) return parts.streams.send(request, reply, answer);
      if (answer.location !== undefined) reply.header('location', writable('location', answer.location));
      reply.code(answer.status).header('content-type', JSON_TYPE);
      if (answer.replayed === true) sayReplayed(reply, answer);
      return answer.body;
    } catch (error) {
      return refuse(parts, request, reply, error);
    }
  }

  return { begin, handle };
}

async function answerCall(handling: Handling): Promise<Sent> {
  const { parts, route, kept, request, reply } = handling;
  const exchange = exchangeOf(request);
  const { headers } = exchange;
  // Before all else: by a wrong clock even the sender's credential may seem to have expired.
  await requireRightClock(parts, route.method);
  exchange.guard = parts.failures.guard;
  const known = await callerOf(parts, route, request);
  exchange.guard = undefined;
  exchange.merchantId = known?.merchant.id;
  countCall(parts, route, known, { request, reply });
  countGuarded(kept.calls, known, reply);
  // Neither of two fingerprints is chosen, so neither may be bound.
  if (headers?.duplicate !== undefined) throw refuseField(1110, headers.duplicate, 'DUPLICATE_HEADER');
  const caller = await withDevice(parts, known);
  if (route.upload === undefined)
    return answerPrepared(handling, caller, prepare(handling, caller, bodyOf(route, request)));
  if (caller === undefined) throw new Error('a file of a sender who is nobody');
  // The slot is held until the answer: the file is in memory as long.
  const place = [senderOf(caller), caller.merchant.id] as const;
  const isRepeated = headers?.idempotencyKey !== undefined;
  const slots = [isRepeated ? await parts.uploads.waitFor(...place) : parts.uploads.take(...place)];
  try {
    const form = await formOf(parts, route.upload, request);
    slots.push(await parts.uploads.finish());
    // The call may have waited for its slot and for its file, so its sender is looked up again.
    const sender = await withDevice(parts, await callerOf(parts, route, request));
    return await answerPrepared(handling, sender, prepare(handling, sender, form.body, form.memory));
  } finally {
    for (const giveBack of slots) giveBack();
  }
}

type Sent = Reply | Streamed;

/** A call whose body has been read. */
interface Prepared {
  readonly receipt: UsedReceipt | undefined;
  /** Why the call is refused: its caller has no right to make it, or its shape is wrong. Thrown once its turn has come. */
  readonly refusal: Refusal | undefined;
  /** The fields that the route knows, or a raw route's text; nothing if the call is refused. */
  readonly body: unknown;
  /** The payment that a body of the wrong shape names. */
  readonly paymentId?: string | undefined;
}

/**
 * Reads all that is needed of a body, and drops the body itself: parsed, it takes twenty times the memory of its text, and many
 * calls may wait for their turn at once, each for seconds. `memory` is the form of the body that an Idempotency-Key remembers.
 */
function prepare(handling: Handling, caller: Caller, body: unknown, memory = body): Prepared {
  const { route, kept, request } = handling;
  route.requireProof?.(callOf(handling, caller, body, undefined));
  const forbidden = rightRefusal(route, caller);
  if (forbidden !== undefined) {
    request.body = undefined;
    return { receipt: undefined, refusal: forbidden, body: undefined };
  }
  const receipt = receiptOf(handling, caller, memory);
  const refusal = shapeRefusal(handling, caller, body);
  request.body = undefined;
  if (refusal !== undefined) return { receipt, refusal, body: undefined, paymentId: paymentIdIn(route, body) };
  return { receipt, refusal, body: route.rawBody === true ? body : kept.body?.known(body) };
}

async function answerPrepared(handling: Handling, caller: Caller, prepared: Prepared): Promise<Sent> {
  const { receipt } = prepared;
  if (receipt === undefined) return answerOnce(handling, caller, prepared);
  const endTurn = await handling.kept.turns.take(receipt.id);
  try {
    return await answerOnce(handling, await callerInTurn(handling, caller), prepared);
  } finally {
    endTurn();
  }
}

const EXPIRED = ['SESSION_EXPIRED', 'EXPIRED_AFTER_SUBMIT'] as const;

/**
 * The call may have waited, so a credential revoked or suspended meanwhile is refused. An expired session may still look up its
 * answer.
 */
async function callerInTurn({ parts, route, request }: Handling, caller: Caller): Promise<Caller> {
  if (isWithin(FRESH_MS, exchangeOf(request).startedAt, parts.clock.now())) return caller;
  try {
    return await withDevice(parts, await callerOf(parts, route, request));
  } catch (error) {
    if (error instanceof Refusal && EXPIRED.some((code) => hasDetail(error, code))) return caller;
    throw error;
  }
}

async function answerOnce(handling: Handling, caller: Caller, prepared: Prepared): Promise<Sent> {
  const { route, request } = handling;
  const { receipt, refusal, body, paymentId } = prepared;
  try {
    if (!route.allowConsumed && !(await hasBegun(receipt, caller))) requireUnconsumed(caller);
    if (refusal !== undefined) throw await aboutPayment(handling.parts, caller, refusal, paymentId);
    return sentBy(route, request, await route.run(callOf(handling, caller, body, receipt)));
  } catch (error) {
    return sentBy(route, request, await replayInstead(receipt, error));
  }
}

function sentBy(route: Route, { headers }: FastifyRequest, answer: Reply | Streamed): Reply | Streamed {
  return route.sendTo === undefined || 'chunks' in answer ? answer : route.sendTo(headers.accept, answer);
}

/** Whether a consumed session's call continues a first run that has begun and was never answered. */
async function hasBegun(receipt: UsedReceipt | undefined, caller: Caller): Promise<boolean> {
  const consumed = caller?.kind === 'session' && caller.session.status === 'CONSUMED';
  if (!consumed || receipt === undefined) return false;
  return (await receipt.stored()) === undefined && receipt.begun();
}

/** Authenticates the caller, and with it the fingerprint: its form first, then whether it is the session's. */
async function callerOf(parts: PipelineParts, route: Route, request: FastifyRequest): Promise<Caller> {
  const { credential } = route;
  const { headers, shown: first, startedAt } = exchangeOf(request);
  if (credential === 'none') return undefined;
  if (headers === undefined || first === undefined) throw new Error('a call that was not begun');
  // If the body took its time, the credential is read again: one revoked or suspended meanwhile is refused.
  const isFresh = isWithin(FRESH_MS, startedAt, parts.clock.now());
  const shown = isFresh || first === MISSING ? first : lookUpCredential(parts.lookups, headers.authorization);
  const caller = await authenticate(parts, shown, { credential, address: () => parts.addressOf(request) });
  // A malformed one is refused only now that the credential has been verified.
  const fingerprint = readFingerprint(headers.fingerprint);
  return caller.kind === 'session' ? onDevice(caller, fingerprint, route) : caller;
}

/** A session is bound to the first device that it shows, on whatever call and however that call ends (contract §1). */
async function withDevice(parts: PipelineParts, caller: Caller): Promise<Caller> {
  if (caller?.kind !== 'session' || caller.fingerprint === undefined) return caller;
  if (caller.session.device_fingerprint !== null) return caller;
  return { ...caller, session: await parts.bindDevice(caller.session, caller.fingerprint) };
}

function receiptOf({ parts, route, request }: Handling, caller: Caller, body: unknown): UsedReceipt | undefined {
  const { headers } = exchangeOf(request);
  if (headers?.idempotencyKey === undefined || route.method === 'GET') return undefined;
  const key = readIdempotencyKey(headers.idempotencyKey);
  // There is nobody to remember it for: such a route has a memory of its own.
  if (caller === undefined) return undefined;
  const isSession = caller.kind === 'session' && route.idempotencyScope !== 'merchant';
  const { shard, id: owner } = isSession ? caller.session : caller.merchant;
  // What the path names belongs to the call as much as its body: a key that was used with another path is refused.
  const said = route.params === undefined ? body : { params: request.params, body };
  return createReceipt(parts, { shard, owner, route: `${route.method} ${route.path}` }, key, said);
}

/** The refusal of a caller who may not make this call. */
function rightRefusal(route: Route, caller: Caller): Refusal | undefined {
  try {
    route.requireRight?.(caller);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/**
 * The refusal of a call's shape. No closure here captures the body: the refusal outlives it, and an error keeps alive the functions
 * on the stack at which it was thrown, with all that they capture.
 */
function shapeRefusal({ kept: shapes, route, request }: Handling, caller: Caller, body: unknown): Refusal | undefined {
  try {
    shapes.params?.require(request.params);
    shapes.query?.require(request.query, route.checkQuery && ((readable) => route.checkQuery?.(readable) ?? []));
    shapes.body?.require(body, route.check && ((readable, faulty) => route.check?.(readable, caller, faulty) ?? []));
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/**
 * Idempotency precedes the checks of shape and of consumed sessions: a refused call is first looked up under its key, so that a
 * repeated submit gets its original answer, even if it raced with the first. If this call's own refusal was remembered, that one
 * is sent. Successful calls never come here.
 */
async function replayInstead(receipt: UsedReceipt | undefined, error: unknown): Promise<Reply> {
  if (receipt === undefined || receipt.used() || !(error instanceof Refusal)) throw error;
  const stored = await receipt.stored();
  if (stored === undefined) throw error;
  return stored;
}

function hasDetail({ more }: Refusal, wanted: DetailCode): boolean {
  return more.details?.some(({ code }) => code === wanted) === true;
}

function callOf(handling: Handling, caller: Caller, body: unknown, receipt: UsedReceipt | undefined): Call {
  const { parts, request, reply: response } = handling;
  const { guard } = handling.route;
  const exchange = exchangeOf(request);
  const reply = (status: number, value: unknown): Reply => {
    exchange.transactionId ??= transactionIn(value);
    return { status, body: JSON.stringify(value) };
  };
  return {
    caller,
    body,
    params: request.params,
    query: request.query,
    language: languageOfRequest(request),
    requestId: exchange.requestId,
    address: () => parts.addressOf(request),
    header: (name) => request.headers[name]?.toString(),
    count: (limit, key, merchant) => countBy({ parts, reply: response }, limit, key, merchant),
    tellLeft(left) {
      if (guard !== undefined && caller !== undefined)
        response.headers(guardHeaders(codeGuard(guard, caller.merchant), left));
    },
    reply,
    answering<A>(render: (answer: A) => Rendered): Answering<A> {
      return {
        receipt,
        render(answer) {
          const { status, value } = render(answer);
          return reply(status, value);
        },
        renderRefusal(refusal) {
          const rendered = { status: refusal.http, body: envelopeFor(parts, request, refusal) };
          exchange.rendered = { refusal, reply: rendered };
          return rendered;
        },
      };
    },
  };
}

function transactionIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('transaction_id' in value)) return undefined;
  return typeof value.transaction_id === 'string' ? value.transaction_id : undefined;
}
