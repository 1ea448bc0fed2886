/**
 * What happens to every request, whatever it asks for: before its route, before its answer leaves, and after it has left.
 *
 * Invariant: every request that is answered has its exchange from the first hook on, and is counted and logged once. One that can
 * be refused by its head is refused before its body is read, so that no unwanted body is waited for.
 */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { Refusal } from '../domain/refusal.ts';
import { prefersHtml } from '../messages/accept.ts';
import type { Pages } from '../messages/page.ts';
import type { Clock, Traces } from '../platform/platform.ts';
import { type BodyBudget, bringsFile } from './body-budget.ts';
import type { ClientAddress } from './client-address.ts';
import { PAGES_HEADERS } from './cors.ts';
import type { Endpoints } from './endpoints.ts';
import { badFraming, unknownPath, wrongMethod } from './envelope.ts';
import { beginExchange, type ExchangeParts, exchangeOf, logExchange } from './exchange.ts';
import { isForm } from './multipart.ts';
import { failRequest } from './page-routes.ts';
import { hasOneHost } from './request-headers.ts';
import type { CountAnswer } from './request-metrics.ts';
import { addTraces } from './request-traces.ts';
import { answerLateBody, answerShreddedBody, refusalOfEnded } from './socket-errors.ts';
import type { TurnAway } from './turn-away.ts';
import { answerBeforeRest, limitBodyPieces, limitBodyTime, limitRestTime } from './unread-body.ts';

export interface LifeParts extends ExchangeParts {
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly traces?: Traces;
  readonly pages?: Pages;
  readonly endpoints: Endpoints;
  readonly turnAway: Pick<TurnAway, 'admissionOf'>;
  readonly bodies: BodyBudget;
  readonly addressOf: ClientAddress;
  readonly counted: CountAnswer;
  /** How long a body may take, and after an early answer the rest of it. */
  readonly requestMs: number;
  nextRequestId(): string;
  /** Whether the process is stopping: then every request is refused for that. */
  isStopping(): boolean;
  /** Whether the process is about to stop: then it keeps no connection alive. Absent: never. */
  readonly isDraining?: () => boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Pages of any origin may call this route. */
    openToPages?: boolean;
    /** The body may carry a file, and take as long as one does. */
    takesFile?: boolean;
  }
}

/**
 * Adds to `app` the hooks that every request passes, and the answers to unknown paths and to errors that no handler has answered.
 */
export function addRequestLife(app: FastifyInstance, parts: LifeParts): void {
  app.decorateRequest('exchange', undefined);
  if (parts.traces !== undefined) addTraces(app, parts.traces);
  app.addHook('onRequest', receiver(parts));
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    if (isReadHere(request)) {
      limitBodyPieces(request.raw, () => answerShreddedBody(parts, exchangeOf(request).requestId, request.raw));
    }
    done(null);
  });
  app.addHook('preValidation', (request, reply, done) => {
    const ended = refusalOfEnded(request.raw);
    if (ended !== undefined) reply.header('Connection', 'close');
    done(ended);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // Requests in flight are finished, and their connections are closed: a kept one would hold up the stop.
    if (parts.isStopping() || parts.isDraining?.() === true) reply.header('Connection', 'close');
    done(null, answerBeforeRest(parts.clock, request, reply, payload));
  });
  app.addHook('onResponse', (request, reply, done) => {
    const exchange = exchangeOf(request);
    logExchange(parts, exchange, request.method, reply.statusCode);
    parts.counted(request.method, exchange.route, reply.statusCode, reply.elapsedTime);
    limitRestTime(parts.clock, request.raw, parts.requestMs);
    done();
  });
  app.setNotFoundHandler((request, reply) => failUnrouted(parts, request, reply));
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // A client that left in the middle of its body is no error of ours, and nobody receives the answer.
    const left = error.code === 'ECONNRESET' && !request.raw.complete;
    return failRequest(parts, request, reply, left ? badFraming() : error);
  });
}

/** Whether the framework reads the body: nobody reads that of a GET, and a form is read by the pipeline. */
function isReadHere({ method, headers }: FastifyRequest): boolean {
  return (method === 'POST' || method === 'PUT') && !isForm(headers);
}

/** Answers a request that no route takes. */
export function failUnrouted(parts: LifeParts, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return failRequest(parts, request, reply, refuseUnrouted(parts.endpoints, request, reply));
}

/** The first hook of every request, which runs when only its head has arrived. */
function receiver(parts: LifeParts): onRequestHookHandler {
  return (request, reply, done) => {
    const { isInTurn, refusal: overload } = parts.turnAway.admissionOf(request.raw, reply.raw);
    if (!isInTurn) {
      // Nobody reads: an answer would only be kept in memory. Nothing of the request has been looked at.
      reply.hijack();
      request.raw.socket.destroy();
      return;
    }
    beginExchange(parts, request, reply);
    const { config } = request.routeOptions;
    if (config.openToPages === true) reply.headers(PAGES_HEADERS);
    const refusal = refuseHead(parts, request, reply, overload);
    if (refusal !== undefined) return done(refusal);
    if (!bringsFile(request)) {
      limitBodyTime(parts.clock, request.raw, parts.requestMs, () => {
        answerLateBody(parts, exchangeOf(request).requestId, request.raw);
      });
    }
    if (!request.is404) return done();
    if (!asksForDocs(request)) return done(refuseUnrouted(parts.endpoints, request, reply));
    reply.header('Vary', 'Accept').redirect('/docs', 302);
  };
}

/** The refusal of a request by its head, whatever its route. `overload`: the refusal that load shedding gave it, if any. */
function refuseHead(
  parts: LifeParts,
  request: FastifyRequest,
  reply: FastifyReply,
  overload: Refusal | undefined,
): Refusal | undefined {
  if (parts.isStopping()) {
    reply.header('Connection', 'close');
    return new Refusal(1402, { retryAfter: 2 });
  }
  if (!hasOneHost(request.raw)) {
    // Whatever follows on this connection may have been meant for another host.
    reply.header('Connection', 'close');
    return badFraming();
  }
  const busy = overload ?? parts.bodies.refusalFor(request, () => parts.addressOf(request));
  if (busy !== undefined) exchangeOf(request).route = request.routeOptions.url ?? 'unknown';
  return busy;
}

/** An unknown path, or a known one with a method that it does not have: then `Allow` names those that it has. */
function refuseUnrouted(endpoints: Endpoints, request: FastifyRequest, reply: FastifyReply): Refusal {
  const allowed = endpoints.methodsAt(request.url);
  if (allowed === '') return unknownPath();
  reply.header('Allow', allowed);
  return wrongMethod(allowed);
}

/**
 * Whether a browser opens the gateway's bare address, where there is nothing to show; other callers learn that from the envelope.
 */
function asksForDocs({ method, url, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\/(?:\?|$)/.test(url) && prefersHtml(headers.accept);
}
