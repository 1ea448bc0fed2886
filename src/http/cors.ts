/**
 * Lets web pages of any origin make a session's calls: clients are web pages too (specification, Authentication).
 *
 * Invariant: only routes that take a session token are open, never those that take the merchant's credential; and browsers are
 * never told to send cookies: no call of the API reads any, and the hosted page's own is sent to its own origin alone.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fullPath, type Route } from './route.ts';

const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, X-Device-Fingerprint, Accept-Language';
const READABLE_HEADERS = 'X-Request-Id, Retry-After, Idempotent-Replayed, RateLimit, RateLimit-Policy';
/** Seconds for which a browser may remember a preflight; none keeps it longer than a day. */
const REMEMBERED_S = '86400';

/** Whether pages of other origins may make this call. */
export function isOpenToPages(route: Pick<Route, 'credential'>): boolean {
  return route.credential === 'session';
}

/** Sent with every answer of such a route, failures included: without them a page could read none. */
export const PAGES_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': READABLE_HEADERS,
} as const;

/**
 * Answers the preflights of all such routes. An OPTIONS that is no preflight is refused by `refuse`, like any method that a path
 * does not have.
 */
export function addPreflights(
  app: FastifyInstance,
  routes: readonly Route[],
  refuse: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
): void {
  const methods = new Map<string, string[]>();
  for (const route of routes.filter(isOpenToPages)) {
    const path = fullPath(route);
    methods.set(path, [...(methods.get(path) ?? []), route.method]);
  }
  for (const [path, known] of methods) {
    app.options(path, (request, reply) => {
      if (request.headers['access-control-request-method'] === undefined) return refuse(request, reply);
      if (request.exchange !== undefined) request.exchange.route = path;
      reply.headers(PAGES_HEADERS);
      return reply
        .code(204)
        .headers({
          'access-control-allow-methods': known.join(', '),
          'access-control-allow-headers': REQUEST_HEADERS,
          'access-control-max-age': REMEMBERED_S,
        })
        .send();
    });
  }
}
