/**
 * What is no part of the API: health, metrics, the OpenAPI document, and the pages that explain errors.
 *
 * Invariant: none of it takes a credential, is limited, or says anything about a merchant.
 */

import type { FastifyRequest } from 'fastify';
import { isLanguage, type Language } from '../messages/messages.ts';
import { negotiate } from '../messages/negotiate.ts';
import type { Clock, Metrics } from '../platform/platform.ts';
import { DOCS_STYLE } from './docs-style.ts';
import { unknownPath } from './envelope.ts';
import { DOCS_CSP, errorCodeOf, renderErrorIndex, renderErrorPage } from './error-page.ts';
import { openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
import { toYaml } from './yaml.ts';

/** Whether this process can serve, and which of its parts can. */
export interface Readiness {
  readonly ok: boolean;
  readonly checks: { readonly [name: string]: boolean };
}

export interface ServicePage {
  readonly path: string;
  show(request: FastifyRequest): PageAnswer | Promise<PageAnswer>;
}

interface PageAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: { readonly [name: string]: string };
}

export interface PageParts {
  readonly routes: readonly Route[];
  readonly publicUrl: string;
  readonly clock: Pick<Clock, 'after'>;
  ready(): Promise<Readiness>;
  readonly metrics: Pick<Metrics, 'page'>;
  refreshMetrics(): Promise<void>;
}

/** A load balancer asks every few seconds: whoever cannot say by then that he is ready is not. */
const READY_WITHIN_MS = 2_000;

const JSON_DOCUMENT = 'application/json; charset=utf-8';

export function servicePages(parts: PageParts): ServicePage[] {
  return [...healthPages(parts), metricsPage(parts), ...apiPages(parts), ...docsPages()];
}

/** `/health`: this process lives. `/health/ready`: it can serve; a load balancer asks this one. */
function healthPages(parts: PageParts): ServicePage[] {
  const alive = (): PageAnswer => ({ status: 200, type: JSON_DOCUMENT, body: '{"status":"ok"}' });
  return [
    { path: '/health', show: alive },
    { path: '/api/v1/health', show: alive },
    {
      path: '/health/ready',
      async show() {
        const { ok, checks } = await readinessInTime(parts);
        const body = JSON.stringify({ status: ok ? 'ready' : 'not_ready', checks });
        return {
          status: ok ? 200 : 503,
          type: JSON_DOCUMENT,
          body,
          ...(ok ? {} : { headers: { 'Retry-After': '1' } }),
        };
      },
    },
  ];
}

/** For monitoring, in the text form of Prometheus. */
function metricsPage(parts: PageParts): ServicePage {
  return {
    path: '/metrics',
    async show() {
      await parts.refreshMetrics();
      return { status: 200, ...(await parts.metrics.page()) };
    },
  };
}

function readinessInTime(parts: PageParts): Promise<Readiness> {
  return new Promise((resolve) => {
    const unready: Readiness = { ok: false, checks: {} };
    const cancel = parts.clock.after(READY_WITHIN_MS, () => resolve(unready));
    void parts
      .ready()
      .then(resolve, () => resolve(unready))
      .finally(cancel);
  });
}

/** Made at the first reading: a start waits for no document. */
function apiPages(parts: PageParts): ServicePage[] {
  let made: { json: string; yaml: string } | undefined;
  const documents = (): { json: string; yaml: string } => {
    if (made === undefined) {
      const document = openApiDocument(parts.routes, parts.publicUrl);
      made = { json: JSON.stringify(document, null, 2), yaml: toYaml(document) };
    }
    return made;
  };
  return [
    { path: '/openapi.json', show: () => ({ status: 200, type: JSON_DOCUMENT, body: documents().json }) },
    {
      path: '/openapi.yaml',
      show: () => ({ status: 200, type: 'application/yaml; charset=utf-8', body: documents().yaml }),
    },
  ];
}

function docsPages(): ServicePage[] {
  const page = (body: string): PageAnswer => ({
    status: 200,
    type: 'text/html; charset=utf-8',
    body,
    headers: { 'Content-Security-Policy': DOCS_CSP },
  });
  return [
    { path: '/docs/errors', show: (request) => page(renderErrorIndex(languageOfPage(request))) },
    {
      path: '/docs/errors/:code',
      show(request) {
        const code = errorCodeOf((request.params as { readonly code: string }).code);
        if (code === undefined) throw unknownPath();
        return page(renderErrorPage(code, languageOfPage(request)));
      },
    },
    {
      path: '/docs/style.css',
      show: () => ({
        status: 200,
        type: 'text/css; charset=utf-8',
        body: DOCS_STYLE,
        headers: { 'Cache-Control': 'public, max-age=3600' },
      }),
    },
  ];
}

/** `?lang=` where a reader chose, else what the browser asks for. */
function languageOfPage(request: FastifyRequest): Language {
  const { lang } = request.query as { readonly lang?: unknown };
  return isLanguage(lang) ? lang : negotiate(request.headers['accept-language']);
}
