/**
 * What happens to every call of a route, in one fixed order (ARCHITECTURE.md, "One payment's journey"): authentication, limit,
 * idempotency, shape; then the use case with binding and state.
 *
 * Invariant: no step looks at what a later step checks. An unreadable body is refused only after its sender is known and counted.
 */

import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal, refuseField } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';
import { type Reply, refusalOf } from '../usecases/perform.ts';
import { requireUnconsumed } from './authentication.ts';
import { type CallParts, callOf } from './call.ts';
import { bodyOf, formOf, requireType } from './call-body.ts';
import { countCall, countGuarded, countGuardedCalls, type GuardedCalls, senderOf } from './call-counts.ts';
import {
  type Caller,
  type CallerParts,
  callerAfterWait,
  callerOf,
  currentCaller,
  lookUpShown,
  withDevice,
} from './caller.ts';
import { exchangeOf, JSON_TYPE, refuse, sayReplayed, writable } from './exchange.ts';
import { createReceipt, type ReceiptParts, readIdempotencyKey, type UsedReceipt } from './idempotency.ts';
import { createKeyLocks, type KeyLocks } from './key-locks.ts';
import type { FileRule } from './multipart.ts';
import { aboutPayment, type PaymentsKnown, paymentIdIn } from './refusal-about.ts';
import { readPipelineHeaders } from './request-headers.ts';
import { type ClockCheck, requireRightClock } from './right-clock.ts';
import { fullPath, type Route, type Streamed } from './route.ts';
import { type BodyShape, createBodyShape, createParamsShape, createQueryShape, type Shape } from './shape.ts';
import type { Streams } from './streams.ts';
import type { UploadSlots } from './upload-slots.ts';

export interface PipelineParts extends CallerParts, CallParts, ReceiptParts, ClockCheck, PaymentsKnown {
  readonly lookups: CallerParts['lookups'];
  readonly secrets: CallerParts['secrets'] & ReceiptParts['secrets'];
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Shared with the pages, because a file takes as much memory there. */
  readonly uploads: UploadSlots;
  readonly streams: Streams;
}

/** What a route keeps between calls. */
interface Kept {
  readonly body: BodyShape | undefined;
  readonly params: Shape | undefined;
  readonly query: BodyShape | undefined;
  readonly locks: KeyLocks;
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

/** The two halves of a call: before its body has arrived, and after. */
export interface Pipeline {
  /** Runs once the headers have arrived: refuses a body of the wrong type, and starts to look the caller up. */
  begin(request: FastifyRequest): void;
  /** Runs once the body has arrived. Returns what to send. */
  handle(request: FastifyRequest, reply: FastifyReply): Promise<string | Readable>;
}

/** The pipeline of one route. What it counts and locks from call to call is this process's only. */
export function createPipeline(parts: PipelineParts, route: Route): Pipeline {
  const kept: Kept = {
    body: route.body === undefined ? undefined : createBodyShape(route.body, route.codes),
    params: route.params === undefined ? undefined : createParamsShape(route.params),
    query: route.querystring === undefined ? undefined : createQueryShape(route.querystring),
    locks: createKeyLocks(parts.clock),
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
    exchange.shown = lookUpShown(parts, exchange.headers);
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
  const caller = await withDevice(parts, route, request, known);
  if (route.upload !== undefined) return answerWithFile(handling, caller, route.upload);
  return answerPrepared(handling, caller, prepare(handling, caller, bodyOf(route, request)));
}

/** Answers a call whose body is a form with a file. Its slot is held until the answer: the file is in memory as long. */
async function answerWithFile(handling: Handling, caller: Caller, rule: FileRule): Promise<Sent> {
  const { parts, route, request } = handling;
  if (caller === undefined) throw new Error('a file of a sender who is nobody');
  const owners = [senderOf(caller), caller.merchant.id] as const;
  const mayWait = exchangeOf(request).headers?.idempotencyKey !== undefined;
  const slots = [mayWait ? await parts.uploads.waitFor(...owners) : parts.uploads.take(...owners)];
  try {
    const form = await formOf(parts, rule, request);
    slots.push(await parts.uploads.finish());
    // The call may have waited for its slot and for its file, so its sender is looked up again.
    const sender = await currentCaller(parts, route, request);
    return await answerPrepared(handling, sender, prepare(handling, sender, form.body, form.memory));
  } finally {
    for (const giveBack of slots) giveBack();
  }
}

type Sent = Reply | Streamed;

/** A call whose body has been read. */
interface Prepared {
  readonly receipt: UsedReceipt | undefined;
  /** Why the call is refused: its caller has no right to make it, or its shape is wrong. Thrown once the call holds its key's lock. */
  readonly refusal: Refusal | undefined;
  /** The fields that the route knows, or a raw route's text; nothing if the call is refused. */
  readonly body: unknown;
  /** The payment that a body of the wrong shape names. */
  readonly paymentId?: string | undefined;
}

/**
 * Reads all that is needed of a body, and drops the body itself: parsed, it takes twenty times the memory of its text, and many
 * calls may wait for their key's lock at once, each for seconds. `memory` is the form of the body that a key remembers.
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
  const { parts, route, kept, request } = handling;
  const { receipt } = prepared;
  if (receipt === undefined) return answerOnce(handling, caller, prepared);
  const release = await kept.locks.acquire(receipt.id);
  try {
    return await answerOnce(handling, await callerAfterWait(parts, route, request, caller), prepared);
  } finally {
    release();
  }
}

async function answerOnce(handling: Handling, caller: Caller, prepared: Prepared): Promise<Sent> {
  const { route, request } = handling;
  const { receipt, refusal, body, paymentId } = prepared;
  try {
    const isClosed = route.credential === 'session' && route.allowConsumed !== true;
    if (isClosed && !(await hasBegun(receipt, caller))) requireUnconsumed(caller);
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

function receiptOf({ parts, route, request }: Handling, caller: Caller, body: unknown): UsedReceipt | undefined {
  const { headers } = exchangeOf(request);
  if (headers?.idempotencyKey === undefined || route.method === 'GET') return undefined;
  const key = readIdempotencyKey(headers.idempotencyKey);
  // There is nobody to remember it for: such a route has a memory of its own.
  if (caller === undefined) return undefined;
  const isSession = caller.kind === 'session' && route.idempotencyScope !== 'merchant';
  const { shard, id: owner } = isSession ? caller.session : caller.merchant;
  // What the path names belongs to the call as much as its body: a key that was used with another path is refused.
  const hashed = route.params === undefined ? body : { params: request.params, body };
  return createReceipt(parts, { shard, owner, route: `${route.method} ${route.path}` }, key, hashed);
}

/** The refusal of a caller who may not make this call. */
function rightRefusal(route: Route, caller: Caller): Refusal | undefined {
  return refusalOf(() => route.requireRight?.(caller));
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
