/**
 * Turns calls away before the framework has made anything of them.
 *
 * Of five times what can be taken, four calls in five are turned away, and what they cost is missing where payments are
 * completed. Invariant: whoever is turned away here gets what the framework's way would have answered; and each request is judged
 * once, whichever way it comes.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../domain/refusal.ts';
import type { Language } from '../messages/messages.ts';
import { negotiate } from '../messages/negotiate.ts';
import type { Clock, Log, Traces } from '../platform/platform.ts';
import { PAGES_HEADERS } from './cors.ts';
import { type EnvelopeWriter, envelopeWriter, retryAfterOf } from './envelope.ts';
import { ANSWER_HEADERS, JSON_TYPE, logExchange, newExchange } from './exchange.ts';
import type { Door } from './overload-door.ts';
import { isInTurn } from './pipelining.ts';
import type { Place, Places } from './places.ts';
import { hasBody, hasOneHost } from './request-headers.ts';
import type { CountAnswer } from './request-metrics.ts';
import { endSpan } from './request-traces.ts';
import { isLongAndComing, limitRestTime } from './unread-body.ts';

export interface TurnAwayParts {
  readonly door: Door;
  readonly places: Pick<Places, 'at'>;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Log;
  readonly traces?: Traces;
  readonly publicUrl: string;
  /** How long the rest of a body may take. */
  readonly requestMs: number;
  nextRequestId(): string;
  readonly counted: CountAnswer;
  /** Whether the process ends: then everybody is told so instead. */
  isStopping(): boolean;
  /** Whether it is about to: it keeps no connection. Never when absent. */
  readonly isDraining?: () => boolean;
}

/** What is known of a request before anything of it has been looked at. */
export interface Met {
  /** False: its connection asks for more than it reads, and is to be cut. */
  readonly isInTurn: boolean;
  /** What it is turned away with. */
  readonly refusal: Refusal | undefined;
}

export interface TurnAway {
  /** Answers or cuts it when that is all there is to do; false: the framework goes on. Never throws. */
  takes(request: IncomingMessage, response: ServerResponse): boolean;
  /** The judgement on a request: the same however often it is asked for. */
  meet(request: IncomingMessage, response: ServerResponse): Met;
}

/** On the request itself: a weak table of all requests is gone through by each collection of garbage. */
const MET = Symbol('met');
type Judged = IncomingMessage & { [MET]?: Met };

/** The framework is asked instead: it has its own way with what goes wrong. */
const NOT_JUDGED: Met = { isInTurn: true, refusal: undefined };

export function createTurnAway(parts: TurnAwayParts): TurnAway {
  const { places } = parts;
  const answer = answerer(parts);

  const judge = (request: IncomingMessage, place: Place | undefined): Refusal | undefined => {
    if (place?.loadClass === undefined || parts.isStopping() || !hasOneHost(request)) return undefined;
    return parts.door.refusalFor(place.loadClass);
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
      // Nobody reads: an answer would only be kept.
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

/** Answers as the framework's way would. */
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
    // What nobody wanted to read would keep its connection from the next request, and from saying that it has gone.
    if (hasBody(headers)) request.resume();
  };
}

const HEADERS = Object.entries({ 'content-type': JSON_TYPE, ...ANSWER_HEADERS }).flat();
const HEADERS_FOR_PAGES = [...HEADERS, ...Object.entries(PAGES_HEADERS).flat()];

/** The writers of what is sent often, by refusal and language. */
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
