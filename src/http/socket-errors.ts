/**
 * What never became a request: bad framing, headers too large, a client too slow (reliability §2.8).
 *
 * Invariant: it is answered in the envelope where an answer can still be sent, and the connection is closed: what
 * follows on it might be the rest of a smuggled request.
 */

import type { Socket } from 'node:net';
import { REFUSALS } from '../domain/refusal.ts';
import { DEFAULT_LANGUAGE } from '../messages/messages.ts';
import { badFraming, renderEnvelope } from './envelope.ts';
import type { ExchangeParts } from './exchange.ts';

const STATUSES: { readonly [code: string]: number } = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const REASONS: { readonly [status: number]: string } = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

export function answerClientError(
  parts: ExchangeParts,
  requestId: string,
  error: NodeJS.ErrnoException,
  socket: Socket,
): void {
  // The client is gone, or an answer is already on its way: there is nobody to tell.
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const refusal = badFraming(STATUSES[error.code ?? ''] ?? 400);
  const body = renderEnvelope(refusal, {
    language: DEFAULT_LANGUAGE,
    requestId,
    now: parts.clock.now(),
    publicUrl: parts.publicUrl,
  });
  const head = [
    `HTTP/1.1 ${refusal.http} ${REASONS[refusal.http] ?? REFUSALS[refusal.code].name}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  parts.log.info('request', {
    request_id: requestId,
    route: 'unknown',
    status: refusal.http,
    error_code: refusal.code,
  });
}

/** Whether the head of an answer has left on this connection and its end has not: another one would corrupt it. */
function isAnswering(socket: Socket): boolean {
  const answer: unknown = Reflect.get(socket, '_httpMessage');
  return typeof answer === 'object' && answer !== null && 'headersSent' in answer && answer.headersSent === true;
}
