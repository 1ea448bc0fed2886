/**
 * A page that is no part of the API, and its reply.
 */

import type { FastifyRequest } from 'fastify';

/** What machines request every few seconds; it concerns no merchant. */
export const PROBES: ReadonlySet<string> = new Set(['/health', '/api/v1/health', '/health/ready', '/metrics']);

export interface ServicePage {
  readonly path: string;
  show(request: FastifyRequest): PageReply | Promise<PageReply>;
}

export interface PageReply {
  readonly status: number;
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: { readonly [name: string]: string };
}
