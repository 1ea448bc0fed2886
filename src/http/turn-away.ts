/**
 * Turns calls away before the framework has processed anything of them.
 *
 * At five times the capacity, four calls in five are turned away, and each takes processor time from payments under way.
 * Invariant: a call that is turned away here gets the answer that the framework would have sent; and its admission is decided once,
 * whichever way it comes.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../domain/refusal.ts';
import type { Language } from '../messages/messages.ts';
import { negotiate } from '../messages/negotiate.ts';
import type { Clock, Log, Traces } from '../platform/platform.ts';
import { PAGES_HEADERS } from './cors.ts';
import type { Endpoint, Endpoints } from './endpoints.ts';
import { type EnvelopeWriter, envelopeWriter, retryAfterOf } from './envelope.ts';
import { ANSWER_HEADERS, JSON_TYPE, logExchange, newExchange } from './exchange.ts';
import type { LoadShedder } from './load-shedder.ts';
import { isInTurn } from './pipelining.ts';
import { hasBody, hasOneHost } from './request-headers.ts';
import type { CountAnswer } from './request-metrics.ts';
import { endSpan } from './request-traces.ts';
import { isLongAndComing, limitRestTime } from './unread-body.ts';

export interface TurnAwayParts {
  readonly shedder: LoadShedder;
  readonly endpoints: Pick<Endpoints, 'at'>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Log;
  readonly traces?: Traces;
  readonly publicUrl: string;
  /** How long the rest of a body may take. */
  readonly requestMs: number;
  nextRequestId(): string;
  readonly counted: CountAnswer;
  /** Whether the process is stopping: then every request is refused for that. */
  isStopping(): boolean;
  /** Whether the process is about to stop: then it keeps no connection alive. Absent: never. */
  readonly isDraining?: () => boolean;
}

/** Whether a request is admitted, as decided before the framework has processed anything of it. */
export interface Admission {
  /** False: its connection has too many unanswered requests, and is to be closed. */
  readonly isInTurn: boolean;
  /** The refusal with which it is turned away; undefined if it is admitted. */
  readonly refusal: Refusal | undefined;
}

/** Decides about requests before the framework sees them. */
export interface TurnAway {
  /** Turns a request away, by an answer or by closing its connection. False: the framework has to handle it. Never throws. */
  turnsAway(request: IncomingMessage, response: ServerResponse): boolean;
  /** Decides about a request once; later calls return the same decision. */
  admissionOf(request: IncomingMessage, response: ServerResponse): Admission;
}

/** Kept on the request itself: every garbage collection would walk a weak map of all requests. */
const ADMISSION = Symbol('admission');
type Decided = IncomingMessage & { [ADMISSION]?: Admission };

/** For a request about which nothing could be decided: the framework handles it, and what goes wrong with it. */
const ADMITTED: Admission = { isInTurn: true, refusal: undefined };

/**
 * Decides by the shedder, and answers as the framework would. A request for a page, or with a long body still to come, is only
 * decided about, and left to the framework.
 */
export function createTurnAway(parts: TurnAwayParts): TurnAway {
  const { endpoints } = parts;
  const answer = answerer(parts);

  const refusalFor = (request: IncomingMessage, endpoint: Endpoint | undefined): Refusal | undefined => {
    if (endpoint?.loadClass === undefined || parts.isStopping() || !hasOneHost(request)) return undefined;
    return parts.shedder.refusalFor(endpoint.loadClass);
  };
  const decide = (request: IncomingMessage, response: ServerResponse, endpoint: Endpoint | undefined): Admission => {
    const inTurn = isInTurn(request, response);
    return { isInTurn: inTurn, refusal: inTurn ? refusalFor(request, endpoint) : undefined };
  };
  const remember = (request: Decided, admission: Admission): Admission => {
    request[ADMISSION] = admission;
    return admission;
  };
  const turnAway = (request: IncomingMessage, response: ServerResponse): boolean => {
    const endpoint = endpoints.at(request);
    const admission = decide(request, response, endpoint);
    if (!admission.isInTurn) {
      // Nobody reads: an answer would only be kept in memory.
      request.socket.destroy();
      return true;
    }
    if (admission.refusal !== undefined && endpoint?.isPage === false && !isLongAndComing(request)) {
      answer(endpoint, admission.refusal, request, response);
      return true;
    }
    remember(request, admission);
    return false;
  };

  return {
    admissionOf: (request: Decided, response) =>
      request[ADMISSION] ?? remember(request, decide(request, response, endpoints.at(request))),
    turnsAway(request, response) {
      try {
        return turnAway(request, response);
      } catch (error) {
        parts.log.error('turn_away_failed', {}, error);
        if (response.headersSent) response.destroy();
        else remember(request, ADMITTED);
        return response.headersSent;
      }
    },
  };
}

/** Answers as the framework would. */
function answerer(
  parts: TurnAwayParts,
): (endpoint: Endpoint, refusal: Refusal, request: IncomingMessage, response: ServerResponse) => void {
  const writerOf = envelopeWriters(parts.publicUrl);
  return (endpoint, refusal, request, response) => {
    const begun = performance.now();
    const { headers, method = '' } = request;
    const span = parts.traces?.begin(headers.traceparent?.toString());
    const exchange = newExchange(parts.nextRequestId(), parts.clock.now());
    exchange.route = endpoint.path;
    exchange.errorCode = refusal.code;
    const body = writerOf(refusal, negotiate(headers['accept-language']))(exchange.requestId, exchange.startedAt);
    // A list, which Node.js writes as it is.
    const list = ['x-request-id', exchange.requestId, 'content-length', String(Buffer.byteLength(body))];
    list.push('retry-after', String(retryAfterOf(refusal)), ...(endpoint.openToPages ? HEADERS_FOR_PAGES : HEADERS));
    if (parts.isDraining?.() === true) list.push('connection', 'close');
    response.writeHead(refusal.http, list).end(body, () => {
      logExchange(parts, exchange, method, refusal.http);
      parts.counted(method, exchange.route, refusal.http, performance.now() - begun);
      if (span !== undefined) endSpan(span, method, exchange, refusal.http);
      limitRestTime(parts.clock, request, parts.requestMs);
    });
    // A body that nobody reads would keep its connection from the next request, and from reporting that it has closed.
    if (hasBody(headers)) request.resume();
  };
}

const HEADERS = Object.entries({ 'content-type': JSON_TYPE, ...ANSWER_HEADERS }).flat();
const HEADERS_FOR_PAGES = [...HEADERS, ...Object.entries(PAGES_HEADERS).flat()];

/** The writers of envelopes that are sent often, by refusal and language. */
function envelopeWriters(publicUrl: string): (refusal: Refusal, language: Language) => EnvelopeWriter {
  const writers = new Map<Refusal, Map<Language, EnvelopeWriter>>();
  return (refusal, language) => {
    const ofRefusal = writers.get(refusal) ?? new Map<Language, EnvelopeWriter>();
    writers.set(refusal, ofRefusal);
    const writer = ofRefusal.get(language) ?? envelopeWriter(refusal, language, publicUrl);
    ofRefusal.set(language, writer);
    return writer;
  };
}
