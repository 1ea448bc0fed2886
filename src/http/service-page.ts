/**
 * What a page is that is no part of the API, and what it answers.
 */

import type { FastifyRequest } from 'fastify';

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
