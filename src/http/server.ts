/**
 * The HTTP server: Fastify, set so that nothing is guessed, dropped or left open (reliability §2.5, §2.8).
 *
 * Invariant: every answer is the route's own or the error envelope, with a request id and never cached. What the
 * framework or the socket refuses leaves in the same envelope.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { prefersHtml } from '../messages/accept.ts';
import type { Pages } from '../messages/page.ts';
import type { Clock, Log, Metrics, Random, Secrets, Traces } from '../platform/platform.ts';
import { createBodyBudget } from './body-budget.ts';
import { clientAddressReader } from './client-address.ts';
import { addPreflights, isOpenToPages, PAGES_HEADERS } from './cors.ts';
import { badFraming, unknownPath, wrongMethod } from './envelope.ts';
import {
  ANSWER_HEADERS,
  type ExchangeParts,
  exchangeOf,
  logExchange,
  newExchange,
  refuse,
  requestIds,
} from './exchange.ts';
import { readJsonBody } from './json-body.ts';
import { createLimits, failedAuthentications } from './limits.ts';
import type { Lookups } from './lookups.ts';
import type { Limiter } from './overload.ts';
import { createDoor } from './overload-door.ts';
import { addPages, failPage, isForPage } from './page-routes.ts';
import { createPipeline, type PipelineParts } from './pipeline.ts';
import { createPlaces, LONGEST_PARAMETER, type Places, placesOf } from './places.ts';
import { hasOneHost } from './request-headers.ts';
import { requestMetrics } from './request-metrics.ts';
import { addTraces } from './request-traces.ts';
import { fullPath, type Route } from './route.ts';
import type { ServicePage } from './service-page.ts';
import { type Readiness, servicePages } from './service-pages.ts';
import { answerClientError, answerLateBody, refuseExpectation } from './socket-errors.ts';
import { createRoomMaker, SOCKET_LIMITS, type SocketLimits } from './socket-limits.ts';
import { createStreams } from './streams.ts';
import { createTurnAway } from './turn-away.ts';
import { answerBeforeRest, limitBodyTime, limitRestTime } from './unread-body.ts';
import { createUploadSlots } from './upload-slots.ts';

export interface ServerParts {
  readonly routes: readonly Route[];
  /** Pages for people, of other rooms. */
  readonly pages?: Pages;
  readonly lookups: Lookups;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly random: Random;
  readonly secrets: Pick<Secrets, 'digest' | 'equal' | 'mac' | 'macs' | 'seal' | 'open'>;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Absent: nothing is recorded. */
  readonly traces?: Traces;
  /** Brings what is not counted in this process up to date, before the numbers are read. */
  refreshMetrics(): Promise<void>;
  /** Which secrets count: `sk_test_` or `sk_live_`. */
  readonly mode: 'sandbox' | 'production';
  /** The gateway's own address, without a slash at the end. */
  readonly publicUrl: string;
  /** Where the sandbox listens that this gateway takes part in; none in production. */
  readonly sandboxUrl?: string;
  /** Knows how much waits in the store, and so whom to turn away. */
  readonly limiter: Limiter;
  /** What a client may take of time and connections; `SOCKET_LIMITS` where absent. */
  readonly sockets?: Partial<SocketLimits>;
  /** Multiplies the traffic limits; 0 switches them off (contract §8). */
  readonly rateLimitScale: number;
  /** Addresses and networks whose X-Forwarded-For counts. */
  readonly trustProxy: readonly string[];
  /** Binds a session that shows its first device; the session as it is then. @throws Refusal 1305. */
  bindDevice(session: Session, fingerprint: string): Promise<Session>;
  /** Whether this process can serve: its database answers. */
  ready(): Promise<Readiness>;
  /** Whether it is about to stop: it serves what comes, and keeps no connection. Never when absent. */
  readonly isDraining?: () => boolean;
}

/** 256 KiB: a hundred beneficiaries with notes fit many times. */
const BODY_LIMIT = 256 * 1024;

/** A server that is ready to listen. `close()` refuses what is new (1402) and waits for what is under way. */
export function createServer(parts: ServerParts): FastifyInstance {
  const sockets = { ...SOCKET_LIMITS, ...parts.sockets };
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT,
    // Node.js has one such limit for all; what carries no file has its own, shorter one below.
    requestTimeout: sockets.uploadMs,
    connectionTimeout: sockets.silenceMs,
    keepAliveTimeout: sockets.keptMs,
    maxRequestsPerSocket: 0,
    // A request without a Host is refused by us, in the envelope.
    http: {
      headersTimeout: sockets.headersMs,
      connectionsCheckingInterval: sockets.lookEveryMs,
      requireHostHeader: false,
    },
    // Ours is the answer while closing, and it has a Retry-After.
    return503OnClosing: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    clientErrorHandler: (error, socket) => answerClientError(parts, nextRequestId(), error, socket),
    frameworkErrors: (error, request, reply) => {
      begin(request, reply);
      fail(request, reply, error);
    },
  });
  const nextRequestId = requestIds(parts.random);
  const counted = requestMetrics(parts.metrics);
  const pages = servicePages(parts);
  const places = createPlaces(placesOf(parts, pages));
  const streams = createStreams(parts);
  const bodies = createBodyBudget();
  const addressOf = clientAddressReader(parts.trustProxy);
  const peerOf = ({ headers, socket }: FastifyRequest): string =>
    addressOf(socket.remoteAddress, headers['x-forwarded-for']?.toString());
  let stopping = false;
  const turnAway = createTurnAway({
    door: createDoor(parts),
    places,
    clock: parts.clock,
    log: parts.log,
    ...(parts.traces === undefined ? {} : { traces: parts.traces }),
    requestMs: sockets.requestMs,
    publicUrl: parts.publicUrl,
    nextRequestId,
    counted,
    isStopping: () => stopping,
    isDraining: () => parts.isDraining?.() === true,
  });
  // Before the framework, which hears only of what is not turned away.
  app.server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!turnAway.takes(request, response)) app.routing(request, response);
  });

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    request.exchange ??= newExchange(nextRequestId(), parts.clock.now());
    reply.headers({ 'X-Request-Id': request.exchange.requestId, ...ANSWER_HEADERS });
  }

  function fail(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
    const shown = parts.pages;
    if (shown !== undefined && isForPage(shown, request)) return failPage(parts, shown, request, reply, error);
    return reply.send(refuse(parts, request, reply, error));
  }

  app.server.maxConnections = sockets.connections;
  const dropped = parts.metrics.counter(
    'mbongo_http_connections_dropped_total',
    'Connections that were closed at once, because there were too many.',
    [],
  );
  const makeRoom = createRoomMaker(app.server, () => parts.clock.now());
  app.server.on('drop', () => {
    dropped({});
    makeRoom();
  });
  app.decorateRequest('exchange', undefined);
  if (parts.traces !== undefined) addTraces(app, parts.traces);
  app.addHook('onRequest', (request, reply, done) => {
    const { isInTurn, refusal } = turnAway.meet(request.raw, reply.raw);
    if (!isInTurn) {
      // Nobody reads: an answer would only be kept. Nothing of the request has been looked at.
      reply.hijack();
      request.raw.socket.destroy();
      return;
    }
    begin(request, reply);
    if (request.routeOptions.config.openToPages === true) reply.headers(PAGES_HEADERS);
    if (stopping) {
      reply.header('Connection', 'close');
      return done(new Refusal(1402, { retryAfter: 2 }));
    }
    // Before any body is read: what nobody takes is not waited for.
    if (!hasOneHost(request.raw)) {
      // Whatever follows on this connection may have been meant for another host.
      reply.header('Connection', 'close');
      return done(badFraming());
    }
    const busy = refusal ?? bodies.refusalFor(request, () => peerOf(request));
    if (busy !== undefined) {
      exchangeOf(request).route = request.routeOptions.url ?? 'unknown';
      return done(busy);
    }
    if (request.routeOptions.config.takesFile !== true) {
      limitBodyTime(parts.clock, request.raw, sockets.requestMs, () => {
        answerLateBody(parts, exchangeOf(request).requestId, request.raw.socket);
      });
    }
    if (!request.is404) return done();
    if (!asksForDocs(request)) return done(refuseUnrouted(request, reply, places));
    reply.header('Vary', 'Accept').redirect('/docs', 302);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    // What is under way is finished, and its connection with it: a kept one would hold up the stop.
    if (stopping || parts.isDraining?.() === true) reply.header('Connection', 'close');
    done(null, answerBeforeRest(parts.clock, request, reply, payload));
  });
  app.addHook('onResponse', (request, reply, done) => {
    const exchange = exchangeOf(request);
    logExchange(parts, exchange, request.method, reply.statusCode);
    counted(request.method, exchange.route, reply.statusCode, reply.elapsedTime);
    limitRestTime(parts.clock, request.raw, sockets.requestMs);
    done();
  });
  app.addHook('preClose', (done) => {
    stopping = true;
    streams.stop();
    done();
  });
  app.setNotFoundHandler((request, reply) => fail(request, reply, refuseUnrouted(request, reply, places)));
  takeBodies(app);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // A client that went in the middle of its body is no error of ours, and nobody hears the answer.
    const left = error.code === 'ECONNRESET' && !request.raw.complete;
    return fail(request, reply, left ? badFraming() : error);
  });
  app.server.on('checkExpectation', (_request, response) => {
    refuseExpectation(parts, nextRequestId(), response);
  });
  const limits = createLimits(parts.clock, parts.rateLimitScale);
  // One for both doors.
  const uploads = createUploadSlots();
  addRoutes(app, parts, { limits, addressOf, uploads, streams });
  addPreflights(app, parts.routes, (request, reply) => fail(request, reply, refuseUnrouted(request, reply, places)));
  for (const page of pages) addPage(app, parts, page);
  if (parts.pages !== undefined) addPages(app, { ...parts, limits, addressOf, uploads }, parts.pages);
  return app;
}

/** JSON is read here and judged later, by the pipeline; whatever else comes was refused before, or is taken as text. */
function takeBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (request.routeOptions.config.rawBody === true) return done(null, bytes.toString('utf8'));
    done(null, bytes.length === 0 ? undefined : readJsonBody(bytes));
  });
  // A form is read by the pipeline, once its sender is known; a route that takes none has refused it before.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
  app.addContentTypeParser<string>('*', { parseAs: 'string' }, (_request, text, done) => done(null, text));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is handed over as text. */
    rawBody?: boolean;
    /** Pages of any origin may call. */
    openToPages?: boolean;
    /** The body may carry a file, and take as long as one does. */
    takesFile?: boolean;
  }
}

function addRoutes(
  app: FastifyInstance,
  parts: ServerParts,
  shared: Pick<PipelineParts, 'limits' | 'addressOf' | 'uploads' | 'streams'>,
): void {
  const pipelineParts: PipelineParts = {
    lookups: parts.lookups,
    secrets: parts.secrets,
    clock: parts.clock,
    log: parts.log,
    mode: parts.mode,
    bindDevice: parts.bindDevice,
    publicUrl: parts.publicUrl,
    failures: failedAuthentications(parts.clock),
    ...shared,
  };
  for (const route of parts.routes) {
    const pipeline = createPipeline(pipelineParts, route);
    app.route({
      method: route.method,
      url: fullPath(route),
      config: {
        rawBody: route.rawBody === true,
        openToPages: isOpenToPages(route),
        takesFile: route.upload !== undefined,
      },
      onRequest: (request, _reply, done) => {
        try {
          pipeline.begin(request);
          done();
        } catch (error) {
          done(error instanceof Error ? error : new Error('a call could not be begun'));
        }
      },
      handler: pipeline.handle,
    });
  }
}

/** An unknown path, or a known one with a method that it does not know: then `Allow` names those that it does. */
function refuseUnrouted(request: FastifyRequest, reply: FastifyReply, places: Places): Refusal {
  const allowed = places.methodsAt(request.url);
  if (allowed === '') return unknownPath();
  reply.header('Allow', allowed);
  return wrongMethod(allowed);
}

/** A browser that opens the gateway's own address: nothing lives there, and any other caller hears so in the envelope. */
function asksForDocs({ method, url, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\/(?:\?|$)/.test(url) && prefersHtml(headers.accept);
}

function addPage(app: FastifyInstance, parts: ExchangeParts, page: ServicePage): void {
  app.get(page.path, async (request, reply) => {
    if (request.exchange !== undefined) request.exchange.route = page.path;
    try {
      const { status, type, body, headers } = await page.show(request);
      return reply
        .code(status)
        .headers({ 'Content-Type': type, ...headers })
        .send(body);
    } catch (error) {
      return reply.send(refuse(parts, request, reply, error));
    }
  });
}
