/**
 * The pages that are no part of the API: health, metrics, the OpenAPI document, and the documentation.
 *
 * Invariant: none of it takes a credential, is limited, or says anything about a merchant.
 */

import { Refusal } from '../domain/refusal.ts';
import type { Clock, Metrics } from '../platform/platform.ts';
import { withComponents } from './components.ts';
import type { SandboxInfo } from './docs/guide.ts';
import { docsPages } from './docs/pages.ts';
import { envelopeOf } from './envelope.ts';
import { envelopeContext, JSON_TYPE } from './exchange.ts';
import { openApiDocument } from './openapi.ts';
import { type Readiness, readinessInTime } from './readiness.ts';
import type { Route } from './route.ts';
import type { PageReply, ServicePage } from './service-page.ts';
import { toYaml } from './yaml.ts';

export interface ServicePageParts {
  readonly routes: readonly Route[];
  readonly publicUrl: string;
  /** This gateway's sandbox; none in production. */
  readonly sandbox?: SandboxInfo;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  ready(): Promise<Readiness>;
  readonly isDraining?: () => boolean;
  readonly metrics: Pick<Metrics, 'page'>;
  refreshMetrics(): Promise<void>;
}

/**
 * The pages `/health` (`/api/v1/health` too), `/health/ready`, `/metrics`, `/openapi.json`, `/openapi.yaml`, and those below
 * `/docs` (contract §9).
 */
export function servicePages(parts: ServicePageParts): ServicePage[] {
  return [...healthPages(parts), metricsPage(parts), ...apiPages(parts)];
}

/** `/health`: this process lives. `/health/ready`: it can serve; a load balancer asks this one. */
function healthPages(parts: ServicePageParts): ServicePage[] {
  const alive = (): PageReply => ({ status: 200, type: JSON_TYPE, body: '{"status":"ok"}' });
  return [
    { path: '/health', show: alive },
    { path: '/api/v1/health', show: alive },
    {
      path: '/health/ready',
      async show(request) {
        const { ok, checks } = await readinessInTime(parts);
        if (ok) return { status: 200, type: JSON_TYPE, body: JSON.stringify({ status: 'ready', checks }) };
        // The envelope, as for every failure (contract §2), and beside it the checks.
        const refusal = new Refusal(1402, { retryAfter: 1 });
        const envelope = envelopeOf(refusal, envelopeContext(parts, request));
        const body = JSON.stringify({ status: 'not_ready', checks, ...envelope });
        return { status: refusal.http, type: JSON_TYPE, body, headers: { 'Retry-After': '1' } };
      },
    },
  ];
}

/** For monitoring, in the text form of Prometheus. */
function metricsPage(parts: ServicePageParts): ServicePage {
  return {
    path: '/metrics',
    async show() {
      await parts.refreshMetrics();
      return { status: 200, ...(await parts.metrics.page()) };
    },
  };
}

/** Made at the first request: no start waits for a document. */
function apiPages(parts: ServicePageParts): ServicePage[] {
  // As bytes: a string of this length would be encoded again for every request.
  let made: { readonly inPlace: object; readonly json: Buffer; readonly yaml: Buffer } | undefined;
  const documents = () => {
    if (made === undefined) {
      const inPlace = openApiDocument(parts.routes, parts.publicUrl);
      const document = withComponents(inPlace);
      made = {
        inPlace,
        json: Buffer.from(JSON.stringify(document, null, 2)),
        yaml: Buffer.from(toYaml(document)),
      };
    }
    return made;
  };
  return [
    { path: '/openapi.json', show: () => ({ status: 200, type: JSON_TYPE, body: documents().json }) },
    {
      path: '/openapi.yaml',
      show: () => ({ status: 200, type: 'application/yaml; charset=utf-8', body: documents().yaml }),
    },
    ...docsPages({ ...parts, document: () => documents().inPlace }),
  ];
}
