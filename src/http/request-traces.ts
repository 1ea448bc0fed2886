/**
 * Traces of requests: each is one span, in whose context its handler runs.
 *
 * Invariant: it holds a method, a pattern, a status and ids; never a URL, a header or a body.
 */

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TracedRequest, Traces } from '../platform/platform.ts';
import { type Exchange, exchangeOf } from './exchange.ts';
import { PROBES } from './service-page.ts';

/** Adds the hooks that begin and end a span. A `traceparent` (W3C Trace Context) is continued; probes get no span. */
export function addTraces(app: FastifyInstance, traces: Traces): void {
  const traced = new WeakMap<FastifyRequest, TracedRequest>();
  app.addHook('onRequest', (request, _reply, done) => {
    if (PROBES.has(request.routeOptions.url ?? '')) return done();
    const { traceparent } = request.headers;
    traced.set(request, traces.begin(typeof traceparent === 'string' ? traceparent : undefined));
    done();
  });
  // Not earlier: the asynchronous context is lost while a body arrives.
  app.addHook('preHandler', (request, _reply, done) => {
    const one = traced.get(request);
    if (one === undefined) done();
    else one.within(done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const one = traced.get(request);
    if (one !== undefined) endSpan(one, request.method, exchangeOf(request), reply.statusCode);
    done();
  });
}

/** Ends a request's span with its outcome. */
export function endSpan(span: TracedRequest, method: string, exchange: Exchange, status: number): void {
  const { route, requestId, transactionId, errorCode } = exchange;
  span.end(`${method} ${route}`, {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'mbongo.request_id': requestId,
    'mbongo.transaction_id': transactionId,
    'mbongo.error_code': errorCode,
    'error.type': status >= 500 ? String(status) : undefined,
  });
}
