/**
 * Turns calls away before the framework has processed anything of them.
 *
 * At five times the capacity, four calls in five are turned away, and what they cost is missing where payments are completed.
 * Invariant: a call that is turned away here gets the answer that the framework would have sent; and each request is judged once,
 * whichever way it comes.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../domain/refusal.ts';
import type { Language } from '../messages/messages.ts';
import { negotiate } from '../messages/negotiate.ts';
import type { Clock, Log, Traces } from '../platform/platform.ts';
import { PAGES_HEADERS } from './cors.ts';
import { type EnvelopeWriter, envelopeWriter, retryAfterOf } from './envelope.ts';
import { ANSWER_HEADERS, JSON_TYPE, logExchange, newExchange } from './exchange.ts';
import type { LoadShedder } from './load-shedder.ts';
import { isInTurn } from './pipelining.ts';
import type { Place, Places } from './places.ts';
import { hasBody, hasOneHost } from './request-headers.ts';
import type { CountAnswer } from './request-metrics.ts';
import { endSpan } from './request-traces.ts';
import { isLongAndComing, limitRestTime } from './unread-body.ts';

export interface TurnAwayParts {
  readonly shedder: LoadShedder;
  readonly places: Pick<Places, 'at'>;
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

/** What is decided about a request before anything of it has been looked at. */
export interface Met {
  /** False: its connection has too many unanswered requests, and is to be cut. */
  readonly isInTurn: boolean;
  /** The refusal with which it is turned away, if it is. */
  readonly refusal: Refusal | undefined;
}

export interface TurnAway {
  /** Answers or cuts a request if that is all there is to do; false: the framework handles it. Never throws. */
  takes(request: IncomingMessage, response: ServerResponse): boolean;
  /** The judgement on a request: the same at every call. */
  meet(request: IncomingMessage, response: ServerResponse): Met;
}

/** Kept on the request itself: every garbage collection would walk a weak map of all requests. */
const MET = Symbol('met');
type Judged = IncomingMessage & { [MET]?: Met };

/** Not judged: the framework handles the request, and what goes wrong with it. */
const NOT_JUDGED: Met = { isInTurn: true, refusal: undefined };

export function createTurnAway(parts: TurnAwayParts): TurnAway {
  const { places } = parts;
  const answer = answerer(parts);

  const judge = (request: IncomingMessage, place: Place | undefined): Refusal | undefined => {
    if (place?.loadClass === undefined || parts.isStopping() || !hasOneHost(request)) return undefined;
    return parts.shedder.refusalFor(place.loadClass);
  };
  const meetAt = (request: IncomingMessage, response: ServerResponse, place: Place | undefined): Met => {
    const inTurn = isInTurn(request, response);
    return { isInTurn: inTurn, refusal: inTurn ? judge(request, place) : undefined };
  };
  const remember = (request: Judged, met: Met): Met => {
    request[MET] = met;
    return met;
  };
  const take = (request: IncomingMessage, response: ServerResponse): boolean => {
    const place = places.at(request);
    const met = meetAt(request, response, place);
    if (!met.isInTurn) {
      // Nobody reads: an answer would only be kept in memory.
      request.socket.destroy();
      return true;
    }
    if (met.refusal !== undefined && place?.isPage === false && !isLongAndComing(request)) {
      answer(place, met.refusal, request, response);
      return true;
    }
    remember(request, met);
    return false;
  };

  return {
    meet: (request: Judged, response) =>
      request[MET] ?? remember(request, meetAt(request, response, places.at(request))),
    takes(request, response) {
      try {
        return take(request, response);
      } catch (error) {
        parts.log.error('turn_away_failed', {}, error);
        if (response.headersSent) response.destroy();
        else remember(request, NOT_JUDGED);
        return response.headersSent;
      }
    },
  };
}

/** Answers as the framework would. */
function answerer(
  parts: TurnAwayParts,
): (place: Place, refusal: Refusal, request: IncomingMessage, response: ServerResponse) => void {
  const writerOf = envelopeWriters(parts.publicUrl);
  return (place, refusal, request, response) => {
    const begun = performance.now();
    const { headers, method = '' } = request;
    const span = parts.traces?.begin(headers.traceparent?.toString());
    const exchange = newExchange(parts.nextRequestId(), parts.clock.now());
    exchange.route = place.path;
    exchange.errorCode = refusal.code;
    const body = writerOf(refusal, negotiate(headers['accept-language']))(exchange.requestId, exchange.startedAt);
    // A list, which Node.js writes as it is.
    const list = ['x-request-id', exchange.requestId, 'content-length', String(Buffer.byteLength(body))];
    list.push('retry-after', String(retryAfterOf(refusal)), ...(place.openToPages ? HEADERS_FOR_PAGES : HEADERS));
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
