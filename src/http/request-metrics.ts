/**
 * Counts answers and how long they took, by the route's pattern.
 *
 * Invariant: it knows patterns and classes of statuses only: whatever strangers ask for is one `unknown`.
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../platform/platform.ts';
import { exchangeOf } from './exchange.ts';

/** Seconds. Most answers take some milliseconds; those of an upstream some seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** What is told of every answer, once it has been sent. */
export function requestMetrics(metrics: Metrics): (request: FastifyRequest, reply: FastifyReply) => void {
  const count = metrics.counter('mbongo_http_requests_total', 'Answers by route and class of status.', [
    'method',
    'route',
    'status',
  ]);
  const observe = metrics.histogram(
    'mbongo_http_request_duration_seconds',
    'Time from the request to the last byte of its answer.',
    ['route'],
    BUCKETS,
  );
  return (request, reply) => {
    const { route } = exchangeOf(request);
    const method = METHODS.has(request.method) ? request.method : 'other';
    count({ method, route, status: `${Math.floor(reply.statusCode / 100)}xx` });
    observe({ route }, reply.elapsedTime / 1_000);
  };
}
