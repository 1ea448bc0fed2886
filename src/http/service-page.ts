/**
 * What a page is that is no part of the API, and what it answers.
 */

import type { FastifyRequest } from 'fastify';

/** Asked every few seconds, by machines, about nobody's business. */
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
