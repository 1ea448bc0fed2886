/**
 * One request and its answer, from the first header to the log line.
 *
 * Invariant: every answer carries its request id, and every failure leaves by `refuse`, in the one envelope.
 */

import { validateHeaderValue } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Refusal } from '../domain/refusal.ts';
import type { Language } from '../messages/messages.ts';
import { negotiate } from '../messages/negotiate.ts';
import type { Clock, Log, Random } from '../platform/platform.ts';
import type { Reply } from '../usecases/perform.ts';
import type { PresentedCredential } from './authentication.ts';
import { type EnvelopeContext, refusalOf, renderEnvelope, retryAfterOf } from './envelope.ts';
import { isJson } from './json-node.ts';
import { ConcurrencyExceeded, concurrencyHeaders, type Guard, guardHeaders } from './limits.ts';
import type { PipelineHeaders } from './request-headers.ts';
import { PROBES } from './service-page.ts';

/** What is known of a request while it is worked on. */
export interface Exchange {
  readonly requestId: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The route's pattern, never the URL: identifiers and queries do not reach the log. */
  route: string;
  headers: PipelineHeaders | undefined;
  shown: PresentedCredential | undefined;
  merchantId: string | undefined;
  transactionId: string | undefined;
  errorCode: number | undefined;
  /** The guard from which a refusal 1301 would come at this point; a route's own limits set their headers themselves. */
  guard: Guard | undefined;
  /** A refusal that a use case has rendered to be remembered: it is sent with the same bytes. */
  rendered: { readonly refusal: Refusal; readonly reply: Reply } | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the first hook of every request. */
    exchange: Exchange | undefined;
  }
}

/** What answering a request takes. `publicUrl`: the gateway's own address, without a slash at the end. */
export interface ExchangeParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly publicUrl: string;
}

/** Makes request ids: `req_`, 16 random characters for this process, and a count. */
export function requestIds(random: Random): () => string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const start = [...random.bytes(16)].map((byte) => alphabet[byte & 31]).join('');
  let count = 0;
  return () => {
    count += 1;
    return `req_${start}${count.toString(36).padStart(8, '0')}`;
  };
}

/** The exchange of a request of which nothing has been read. `startedAt`: milliseconds since 1970. */
export function newExchange(requestId: string, startedAt: number): Exchange {
  return {
    requestId,
    startedAt,
    route: 'unknown',
    headers: undefined,
    shown: undefined,
    merchantId: undefined,
    transactionId: undefined,
    errorCode: undefined,
    guard: undefined,
    rendered: undefined,
  };
}

/** Begins a request's exchange, and its answer with the headers that every answer has. */
export function beginExchange(
  { clock, nextRequestId }: { readonly clock: Pick<Clock, 'now'>; nextRequestId(): string },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  request.exchange ??= newExchange(nextRequestId(), clock.now());
  reply.header('x-request-id', request.exchange.requestId).headers(ANSWER_HEADERS);
}

/** The exchange of a request; every request has one from its first hook on. */
export function exchangeOf(request: FastifyRequest): Exchange {
  if (request.exchange === undefined) throw new Error('a request without its exchange');
  return request.exchange;
}

/** The language of the answer, by the request's `Accept-Language`; the default one if it names none that we have. */
export function languageOfRequest(request: FastifyRequest): Language {
  return negotiate(request.headers['accept-language']);
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Headers of every answer, besides `X-Request-Id`. In lower case, as the framework writes names: it converts any other each time.
 */
export const ANSWER_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

/** The challenge in every 401 (RFC 9110 §15.5.2, RFC 6750 §3). */
const CHALLENGE = 'Bearer realm="mbongo"';

/** Sets the status and headers of a failure and returns its body: the only way out for errors. */
export function refuse(parts: ExchangeParts, request: FastifyRequest, reply: FastifyReply, error: unknown): string {
  const exchange = exchangeOf(request);
  const refusal = noteFailure(parts, request, error);
  const retryAfter = retryAfterOf(refusal);
  if (retryAfter !== null) reply.header('retry-after', String(retryAfter));
  if (refusal.http === 401) reply.header('www-authenticate', CHALLENGE);
  if (refusal.code === 1301 && exchange.guard !== undefined) {
    reply.headers(guardHeaders(exchange.guard, { count: 0, seconds: retryAfter ?? exchange.guard.seconds }));
  }
  if (refusal instanceof ConcurrencyExceeded) reply.headers(concurrencyHeaders(refusal.limit, retryAfter ?? 1));
  reply.code(refusal.http).header('content-type', JSON_TYPE);
  if (exchange.rendered?.refusal === refusal) return exchange.rendered.reply.body;
  return envelopeFor(parts, request, refusal);
}

/**
 * Sets the headers of a stored reply. Those that a refusal's body repeats (contract §2) are the first call's, as its bytes are; the
 * log has this call under an id of its own.
 */
export function sayReplayed(reply: FastifyReply, { status, body }: Reply): void {
  reply.header('idempotent-replayed', 'true');
  const refused: unknown = status < 400 ? undefined : JSON.parse(body);
  if (!isJson(refused)) return;
  if (typeof refused.request_id === 'string') reply.header('x-request-id', refused.request_id);
  if (typeof refused.retry_after === 'number') reply.header('retry-after', String(refused.retry_after));
}

/**
 * A header's value, validated while another answer can still be given.
 *
 * @throws TypeError for one that Node.js would refuse to write.
 */
export function writable(name: string, value: string): string {
  validateHeaderValue(name, value);
  return value;
}

/** The refusal that an error becomes for the caller, noted for the log's line. */
export function noteFailure(parts: ExchangeParts, request: FastifyRequest, error: unknown): Refusal {
  const exchange = exchangeOf(request);
  const isRepeatable = request.method !== 'POST' || request.headers['idempotency-key'] !== undefined;
  const { refusal, isBug } = refusalOf(error, { isRepeatable, bodyMost: request.routeOptions.bodyLimit });
  exchange.errorCode = refusal.code;
  exchange.transactionId ??= refusal.more.transactionId;
  if (isBug) parts.log.error('request_failed', { request_id: exchange.requestId, route: exchange.route }, error);
  else if (refusal.code === 1402 && error !== refusal) noteBusy(parts, exchange, error);
  return refusal;
}

/** The envelope of a refusal, for this request. */
export function envelopeFor(parts: ExchangeParts, request: FastifyRequest, refusal: Refusal): string {
  return renderEnvelope(refusal, envelopeContext(parts, request));
}

/** What an envelope says of the request that it answers. */
export function envelopeContext(
  { clock, publicUrl }: Pick<ExchangeParts, 'clock' | 'publicUrl'>,
  request: FastifyRequest,
): EnvelopeContext {
  return {
    language: languageOfRequest(request),
    requestId: exchangeOf(request).requestId,
    now: clock.now(),
    publicUrl,
  };
}

function noteBusy(parts: ExchangeParts, exchange: Exchange, error: unknown): void {
  const reason = error instanceof Error ? error.name : 'unknown';
  parts.log.warn('request_turned_away', { request_id: exchange.requestId, route: exchange.route, reason });
}

/** One line per request, of fields that are safe to keep. A probe that finds all well is logged at debug level. */
export function logExchange(
  parts: Pick<ExchangeParts, 'clock' | 'log'>,
  exchange: Exchange,
  method: string,
  status: number,
): void {
  const level = PROBES.has(exchange.route) && status < 400 ? 'debug' : 'info';
  parts.log[level]('request', {
    request_id: exchange.requestId,
    method,
    route: exchange.route,
    status,
    ms: parts.clock.now() - exchange.startedAt,
    merchant_id: exchange.merchantId,
    transaction_id: exchange.transactionId,
    error_code: exchange.errorCode,
  });
}
