/**
 * A page that is no part of the API, and its reply.
 */

import type { FastifyRequest } from 'fastify';

/** What machines request every few seconds; it concerns no merchant. */
export const PROBES: ReadonlySet<string> = new Set(['/health', '/api/v1/health', '/health/ready', '/metrics']);

/** A page of the service, by GET, at a path from the root. Anybody may read it. */
export interface ServicePage {
  readonly path: string;
  show(request: FastifyRequest): PageReply | Promise<PageReply>;
}

/** What is sent for such a page. `type`: its `Content-Type`. */
export interface PageReply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: { readonly [name: string]: string };
}
