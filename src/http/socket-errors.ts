/**
 * What is refused on the connection itself, without a route: bad framing, headers too large, a client too slow (reliability §2.8).
 *
 * Invariant: it is answered in the envelope where an answer can still be sent, after the answers to the requests before it, and
 * the connection is closed: what follows on it might be the rest of a smuggled request.
 */

import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REFUSALS, type Refusal } from '../domain/refusal.ts';
import { DEFAULT_LANGUAGE, type Language } from '../messages/messages.ts';
import { negotiate } from '../messages/negotiate.ts';
import type { Clock } from '../platform/platform.ts';
import { badFraming, renderEnvelope, tooManyChunks, wrongMethod } from './envelope.ts';
import { ANSWER_HEADERS, type ExchangeParts, JSON_TYPE } from './exchange.ts';
import { afterOwedAnswers } from './pipelining.ts';

const STATUSES: { readonly [code: string]: number } = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const REASONS: { readonly [status: number]: string } = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** What an exchange needs, and a clock that limits how long the end of a connection may take. */
interface EndParts extends ExchangeParts {
  readonly clock: Pick<Clock, 'now' | 'after'>;
}

/**
 * Answers what Node.js reports as a `clientError`: 431 for headers that are too large, 408 for a client too slow, otherwise 400.
 * Closes the connection. A client that is gone gets nothing.
 */
export function answerClientError(
  parts: EndParts,
  requestId: string,
  error: NodeJS.ErrnoException,
  socket: Socket,
): void {
  // The client is gone: there is nobody to tell.
  if (error.code === 'ECONNRESET') socket.destroy();
  else {
    const refusal = badFraming(STATUSES[error.code ?? ''] ?? 400);
    endConnection(parts, { requestId, language: DEFAULT_LANGUAGE }, refusal, socket);
  }
}

/** Refuses what came last on a connection, once the answers before it have left, and closes it. */
function endConnection(parts: EndParts, about: About, refusal: Refusal, socket: Socket): void {
  if (socket.destroyed || !socket.writable) socket.destroy();
  else afterOwedAnswers(socket, parts.clock, () => endWith(parts, about, refusal, socket));
}

/** Says what was wrong, unless the very request that is at fault is being answered, and closes the connection. */
function endWith(parts: ExchangeParts, about: About, refusal: Refusal, socket: Socket): void {
  if (isAnswering(socket)) socket.destroy();
  else write(parts, about, refusal, socket);
}

/** CONNECT: nobody here tunnels anything. */
export function refuseTunnel(parts: EndParts, requestId: string, { headers, socket }: IncomingMessage): void {
  // Node.js has handed over the bare connection: its errors are nobody else's any more.
  socket.on('error', () => socket.destroy());
  // And so is the word that an answer under way can go on.
  socket.on('drain', () => answerUnderWay(socket)?.emit('drain'));
  const about = { requestId, language: negotiate(headers['accept-language']) };
  afterOwedAnswers(socket, parts.clock, () => write(parts, about, wrongMethod(METHODS), socket, { allow: METHODS }));
}

/** Every method that some path takes. */
const METHODS = 'GET, HEAD, POST, PUT';

/** Writes a refusal to the bare connection, and closes it. */
function write(
  parts: ExchangeParts,
  about: About,
  refusal: Refusal,
  socket: Socket,
  more: { readonly [name: string]: string } = {},
): void {
  const { headers, body } = answerTo(parts, about, refusal);
  const head = [
    `HTTP/1.1 ${refusal.http} ${REASONS[refusal.http] ?? REFUSALS[refusal.code].name}`,
    ...Object.entries({ ...headers, ...more }).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client that goes on sending would otherwise keep the connection for as long as a byte comes now and then.
  socket.destroySoon();
}

/** Requests that were ended before their body was whole, and why. */
const ENDED = new WeakMap<IncomingMessage, Refusal>();

/**
 * The refusal with which a request was ended. Its body may have become whole nevertheless, with what had arrived by then: such a
 * request must not be carried out, because its sender is told, and believes, that it was refused.
 */
export function refusalOfEnded(request: IncomingMessage): Refusal | undefined {
  return ENDED.get(request);
}

/** Answers a body that has not come whole in time as Node.js answers a request that is late, but in its sender's language. */
export function answerLateBody(parts: EndParts, requestId: string, request: IncomingMessage): void {
  endRequest(parts, requestId, request, badFraming(408));
}

/** Answers a body whose pieces are not worth being put together, and ends its connection. */
export function answerShreddedBody(parts: EndParts, requestId: string, request: IncomingMessage): void {
  endRequest(parts, requestId, request, tooManyChunks());
}

function endRequest(parts: EndParts, requestId: string, request: IncomingMessage, refusal: Refusal): void {
  const { headers, socket } = request;
  ENDED.set(request, refusal);
  endConnection(parts, { requestId, language: negotiate(headers['accept-language']) }, refusal, socket);
}

/** An `Expect` other than `100-continue`: Node.js hands it over before it becomes a request. */
export function refuseExpectation(
  parts: ExchangeParts,
  requestId: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const refusal = badFraming(417);
  const language = negotiate(request.headers['accept-language']);
  const { headers, body } = answerTo(parts, { requestId, language }, refusal);
  response.writeHead(refusal.http, headers).end(body);
}

interface About {
  readonly requestId: string;
  readonly language: Language;
}

/** The envelope and its headers; also writes the refusal's line in the log. */
function answerTo(parts: ExchangeParts, { requestId, language }: About, refusal: Refusal) {
  const body = renderEnvelope(refusal, {
    language,
    requestId,
    now: parts.clock.now(),
    publicUrl: parts.publicUrl,
  });
  const headers = {
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
    ...ANSWER_HEADERS,
  };
  const { http: status, code } = refusal;
  parts.log.info('request', { request_id: requestId, route: 'unknown', status, error_code: code });
  return { headers, body };
}

/** Whether the head of an answer has left on this connection and its end has not: another one would corrupt it. */
function isAnswering(socket: Socket): boolean {
  return answerUnderWay(socket)?.headersSent === true;
}

/** The answer whose turn it is on this connection, until it has left. */
function answerUnderWay(socket: Socket): ServerResponse | undefined {
  const answer: unknown = Reflect.get(socket, '_httpMessage');
  return answer instanceof ServerResponse ? answer : undefined;
}
