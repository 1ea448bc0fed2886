/**
 * Turns calls away before the framework has made anything of them.
 *
 * Of five times what can be taken, four calls in five are turned away, and what they cost is missing where payments are
 * completed. Invariant: whoever is turned away here gets what the framework's way would have answered, to the byte; and each
 * request is judged once, whichever way it comes.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import createRouter from 'find-my-way';
import type { Refusal } from '../domain/refusal.ts';
import type { Language } from '../messages/messages.ts';
import { negotiate } from '../messages/negotiate.ts';
import type { Clock, Log, Traces } from '../platform/platform.ts';
import { PAGES_HEADERS } from './cors.ts';
import { type EnvelopeWriter, envelopeWriter, retryAfterOf } from './envelope.ts';
import { ANSWER_HEADERS, JSON_TYPE, logExchange, newExchange } from './exchange.ts';
import type { LoadClass } from './overload.ts';
import type { Door } from './overload-door.ts';
import { countUnanswered } from './pipelining.ts';
import { hasOneHost } from './request-headers.ts';
import type { CountAnswer } from './request-metrics.ts';
import { endSpan } from './request-traces.ts';
import { isLongAndComing } from './unread-body.ts';

/** Something that may be turned away. */
export interface Place {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** From the root, parameters with a colon. */
  readonly path: string;
  readonly loadClass: LoadClass;
  /** Pages of any origin may call (cors.ts). */
  readonly openToPages: boolean;
  /** For people: they are answered in words, which the framework's way does. */
  readonly isPage: boolean;
}

export interface TurnAwayParts {
  readonly door: Door;
  readonly places: readonly Place[];
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly traces?: Traces;
  readonly publicUrl: string;
  nextRequestId(): string;
  readonly counted: CountAnswer;
  /** Whether the process ends: then everybody is told so instead. */
  isStopping(): boolean;
  /** Whether it is about to: it keeps no connection. */
  isDraining(): boolean;
}

/** What is known of a request before anything of it has been looked at. */
export interface Met {
  /** False: its connection asks for more than it reads, and is to be cut. */
  readonly isInTurn: boolean;
  /** What it is turned away with. */
  readonly refusal: Refusal | undefined;
}

export interface TurnAway {
  /** Answers it when that is all there is to do; false: the framework goes on. */
  takes(request: IncomingMessage, response: ServerResponse): boolean;
  /** The judgement on a request: the same however often it is asked for. */
  meet(request: IncomingMessage, response: ServerResponse): Met;
}

/** Longer parameters than any header may be are found too, as in the server's own routes. */
const MOST_OF_A_PARAMETER = 20_000;

export function createTurnAway(parts: TurnAwayParts): TurnAway {
  const placeOf = finderOf(parts.places);
  const isInTurn = countUnanswered();
  const known = new WeakMap<IncomingMessage, Met>();
  const answer = answerer(parts);

  const judge = (request: IncomingMessage, place: Place | undefined): Refusal | undefined => {
    if (place === undefined || parts.isStopping() || !hasOneHost(request)) return undefined;
    return parts.door.refusalFor(place.loadClass);
  };
  const met = (request: IncomingMessage, response: ServerResponse, place: Place | undefined): Met => {
    const inTurn = isInTurn(request, response);
    return { isInTurn: inTurn, refusal: inTurn ? judge(request, place) : undefined };
  };

  return {
    meet: (request, response) => known.get(request) ?? met(request, response, placeOf(request)),
    takes(request, response) {
      const place = placeOf(request);
      const judged = met(request, response, place);
      const { refusal } = judged;
      if (refusal !== undefined && place?.isPage === false && !isLongAndComing(request)) {
        answer(place, refusal, request, response);
        return true;
      }
      known.set(request, judged);
      return false;
    },
  };
}

/** Answers as the framework's way would. What nobody has read of a body is thrown away by Node.js. */
function answerer(
  parts: TurnAwayParts,
): (place: Place, refusal: Refusal, request: IncomingMessage, response: ServerResponse) => void {
  const writerOf = envelopeWriters(parts.publicUrl);
  return (place, refusal, { headers, method = '' }, response) => {
    const begun = performance.now();
    const span = parts.traces?.begin(headers.traceparent?.toString());
    const exchange = newExchange(parts.nextRequestId(), parts.clock.now());
    exchange.route = place.path;
    exchange.errorCode = refusal.code;
    const body = writerOf(refusal, negotiate(headers['accept-language']))(exchange.requestId, exchange.startedAt);
    // A list, which Node.js writes as it is.
    const list = ['X-Request-Id', exchange.requestId, 'Content-Length', String(Buffer.byteLength(body))];
    list.push('Retry-After', String(retryAfterOf(refusal)), ...(place.openToPages ? HEADERS_FOR_PAGES : HEADERS));
    if (parts.isDraining()) list.push('Connection', 'close');
    response.writeHead(refusal.http, list).end(body);
    logExchange(parts, exchange, method, refusal.http);
    parts.counted(method, exchange.route, refusal.http, performance.now() - begun);
    if (span !== undefined) endSpan(span, method, exchange, refusal.http);
  };
}

const HEADERS = Object.entries({ 'Content-Type': JSON_TYPE, ...ANSWER_HEADERS }).flat();
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

const METHODS = ['GET', 'HEAD', 'POST', 'PUT'] as const;

/** Finds what may be turned away by the framework's own router, so that both know the same paths. */
function finderOf(places: readonly Place[]): (request: IncomingMessage) => Place | undefined {
  const router = createRouter({ maxParamLength: MOST_OF_A_PARAMETER, querystringParser: () => ({}) });
  for (const place of places) {
    router.on(place.method === 'GET' ? ['GET', 'HEAD'] : place.method, place.path, () => undefined, place);
  }
  return ({ method: asked, url = '' }) => {
    const method = METHODS.find((one) => one === asked);
    return method === undefined ? undefined : (router.find(method, url)?.store as Place | undefined);
  };
}
