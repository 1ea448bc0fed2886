/**
 * What somebody finds who reads with a browser at an address that leads nowhere: `/` leads to the documentation, any
 * other is a page that says so and leads back.
 *
 * Invariant: below `/api` every answer is the envelope. Some clients of an API name text/html before all else without
 * anybody having chosen it, Java's HttpURLConnection among them.
 */

import type { FastifyRequest } from 'fastify';
import type { Refusal } from '../../domain/refusal.ts';
import { prefersHtml } from '../../messages/accept.ts';
import { html } from '../../messages/html.ts';
import { type Language, say } from '../../messages/messages.ts';
import type { PageReply } from '../service-page.ts';
import type { DocsAssets } from './assets.ts';
import { DOCS_HEADERS, renderDocument } from './frame.ts';

/** Whether a refusal goes to somebody who reads it: no such path, asked for by what would rather have HTML than JSON. */
export function isForReader({ headers, url }: Pick<FastifyRequest, 'headers' | 'url'>, refusal: Refusal): boolean {
  if (refusal.more.details?.some(({ code }) => code === 'UNKNOWN_PATH') !== true) return false;
  return prefersHtml(headers.accept) && !/^\/api(?![^/?#])/.test(url);
}

/** Whether a request for a path that nothing lives at is led to the documentation instead. */
export function leadsToDocs({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\/(?:[?#]|$)/.test(url);
}

/** The page in one language; nothing of it comes from the request. */
export function notFoundPage(assets: DocsAssets, language: Language): PageReply {
  const title = say(language, 'page.not_found');
  const main = html`<h1>${title}</h1>
<p class="lead">${say(language, 'page.not_found_text')}</p>
<p><a class="back" href="/docs">${say(language, 'page.not_found_back')}</a></p>`;
  const page = { path: '', title, language, sections: [], main, skip: say(language, 'page.skip') };
  // Not kept: what is not there today may be there tomorrow.
  const { 'Cache-Control': _kept, ...headers } = DOCS_HEADERS;
  return {
    status: 404,
    type: 'text/html; charset=utf-8',
    body: renderDocument(assets, page),
    headers: { ...headers, 'Content-Language': language, Vary: 'Accept, Accept-Language' },
  };
}
