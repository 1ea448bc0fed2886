/**
 * The HTTP server: Fastify, configured so that nothing is guessed, dropped or left open (reliability §2.5, §2.8).
 *
 * Invariant: every answer is the route's own or the error envelope, with a request id and never cached. What the
 * framework or the socket refuses leaves in the same envelope.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import fastify, { type FastifyInstance } from 'fastify';
import type { Session } from '../domain/records.ts';
import type { Pages } from '../messages/page.ts';
import type { Clock, Log, Metrics, Random, Secrets, Traces } from '../platform/platform.ts';
import type { MerchantCaller, SessionCaller } from '../usecases/callers.ts';
import { createBodyBudget, MAX_BODY_BYTES } from './body-budget.ts';
import { addressMatcher, clientAddressReader } from './client-address.ts';
import { addPreflights, isOpenToPages } from './cors.ts';
import type { SandboxInfo } from './docs/guide.ts';
import { createEndpoints, endpointsOf, MAX_PARAMETER_LENGTH } from './endpoints.ts';
import { beginExchange, type ExchangeParts, refuse, requestIds } from './exchange.ts';
import { createLimits, failedAuthentications } from './limits.ts';
import { createLoadShedder } from './load-shedder.ts';
import type { Lookups } from './lookups.ts';
import { followConnections } from './open-connections.ts';
import type { Limiter } from './overload.ts';
import { addPages, failRequest } from './page-routes.ts';
import { createPipeline, type PipelineParts } from './pipeline.ts';
import type { Readiness } from './readiness.ts';
import { addRequestLife, failUnrouted, type LifeParts } from './request-life.ts';
import { requestMetrics } from './request-metrics.ts';
import type { ClockCheck } from './right-clock.ts';
import { fullPath, type Route } from './route.ts';
import type { ServicePage } from './service-page.ts';
import { servicePages } from './service-pages.ts';
import { answerClientError, refuseExpectation, refuseTunnel } from './socket-errors.ts';
import { limitConnections, SOCKET_LIMITS, type SocketLimits } from './socket-limits.ts';
import { createStreams } from './streams.ts';
import { createTurnAway } from './turn-away.ts';
import { createUploadSlots } from './upload-slots.ts';

export interface ServerParts extends ClockCheck {
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
  /** Updates the metrics that this process does not count itself, before they are read. */
  refreshMetrics(): Promise<void>;
  /** Which secrets are valid: `sk_test_` or `sk_live_`. */
  readonly mode: 'sandbox' | 'production';
  /** The gateway's own address, without a slash at the end. */
  readonly publicUrl: string;
  /** This gateway's sandbox; none in production. */
  readonly sandbox?: SandboxInfo;
  /** Load shedding: knows how much waits in the store, and so which requests to turn away. */
  readonly limiter: Limiter;
  /** How much time and how many connections clients may take; `SOCKET_LIMITS` where absent. */
  readonly sockets?: Partial<SocketLimits>;
  /** Multiplies the traffic limits; 0 switches them off (contract §8). */
  readonly rateLimitScale: number;
  /** How many wrong credentials an address may show in a minute (contract §8). */
  readonly failedAuthentications: number;
  /** Addresses and networks whose X-Forwarded-For counts. */
  readonly trustProxy: readonly string[];
  /** Binds a session to the first device that it shows; returns the session as it is then. @throws Refusal 1305. */
  bindDevice(session: Session, fingerprint: string): Promise<Session>;
  /** The transaction behind an id that a caller has named; undefined if it is none of its merchant's payments. */
  transactionOf(caller: MerchantCaller | SessionCaller, id: string): Promise<string | undefined>;
  /** Asks whether this process can serve. */
  ready(): Promise<Readiness>;
  /** Whether it is about to stop: it still serves requests, but keeps no connection alive. Absent: never. */
  readonly isDraining?: () => boolean;
}

/** Makes a server that is ready to listen. `close()` refuses new requests (1402) and waits for those in flight. */
export function createServer(parts: ServerParts): FastifyInstance {
  const sockets = { ...SOCKET_LIMITS, ...parts.sockets };
  const pages = servicePages(parts);
  const streams = createStreams(parts);
  const addressOf = clientAddressReader(parts.trustProxy);
  let stopping = false;
  const shared = {
    endpoints: createEndpoints(endpointsOf(parts, pages)),
    nextRequestId: requestIds(parts.random),
    counted: requestMetrics(parts.metrics),
    requestMs: sockets.requestMs,
    isStopping: () => stopping,
    ...parts,
  };
  const turnAway = createTurnAway({ shedder: createLoadShedder(parts), ...shared });
  const life: LifeParts = { turnAway, bodies: createBodyBudget(), addressOf, ...shared };

  const app = createApp(life, sockets);
  // Node.js would drop whatever comes after some thousand, unseen: their size is bounded anyway.
  app.server.maxHeadersCount = 0;
  // Before the framework, which sees only the requests that are not turned away.
  app.server.removeAllListeners('request').on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!turnAway.turnsAway(request, response)) app.routing(request, response);
  });
  app.server.on('checkExpectation', (request, response) => {
    refuseExpectation(parts, life.nextRequestId(), request, response);
  });
  app.server.on('connect', (request: IncomingMessage) => refuseTunnel(parts, life.nextRequestId(), request));
  const connections = followConnections(app.server, parts.clock, addressMatcher(parts.trustProxy));
  limitConnections(app.server, sockets.connections, connections, parts);
  addRequestLife(app, life);
  app.addHook('preClose', (done) => {
    stopping = true;
    streams.stop();
    connections.endIdle();
    done();
  });
  takeBodies(app);

  const limits = createLimits(parts.clock, parts.rateLimitScale);
  // Shared by the API and the pages.
  const uploads = createUploadSlots(parts.clock);
  addRoutes(app, parts, { limits, addressOf, uploads, streams });
  addPreflights(app, parts.routes, (request, reply) => failUnrouted(life, request, reply));
  for (const page of pages) addPage(app, parts, page);
  if (parts.pages !== undefined) addPages(app, { ...parts, limits, addressOf, uploads }, parts.pages);
  return app;
}

/** The framework with its limits; what it refuses itself leaves in the envelope too. */
function createApp(life: LifeParts, sockets: SocketLimits): FastifyInstance {
  return fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    // Node.js has one such limit for all requests; those without a file have a shorter one of ours (request-life.ts).
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
    // While closing, our own answer is sent, which has a Retry-After.
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    // No route has a schema of the framework's, so its compilers are not even loaded.
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
    clientErrorHandler: (error, socket) => answerClientError(life, life.nextRequestId(), error, socket),
    frameworkErrors: (error, request, reply) => {
      beginExchange(life, request, reply);
      failRequest(life, request, reply, error);
    },
  });
}

function noCompiler(): never {
  throw new Error('a route with a schema of the framework’s');
}

/** JSON is kept as bytes, which the pipeline parses once it knows their sender. Any other type was refused before, or is taken as text. */
function takeBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (request.routeOptions.config.rawBody === true) return done(null, bytes.toString('utf8'));
    done(null, bytes.length === 0 ? undefined : bytes);
  });
  // A form is read by the pipeline, once its sender is known; a route that takes none has refused it before.
  app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
  app.addContentTypeParser<string>('*', { parseAs: 'string' }, (_request, text, done) => done(null, text));
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is handed over as text. */
    rawBody?: boolean;
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
    transactionOf: parts.transactionOf,
    isClockRight: parts.isClockRight,
    publicUrl: parts.publicUrl,
    failures: failedAuthentications(parts.clock, parts.failedAuthentications),
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
      bodyLimit: route.bodyMost ?? MAX_BODY_BYTES,
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
