/**
 * Everything that can be requested: the API's routes, the service's own pages, and the pages of other rooms, in one table.
 *
 * Invariant: a URL is read by the framework's own router, filled from this table, so that code before the framework and code
 * behind it know the same paths.
 */

import createRouter from 'find-my-way';
import type { Pages } from '../messages/page.ts';
import { isOpenToPages } from './cors.ts';
import type { LoadClass } from './overload.ts';
import { loadClassOf } from './page-routes.ts';
import { fullPath, type Route } from './route.ts';
import type { ServicePage } from './service-page.ts';

/** A method and a path that can be requested. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** From the root, parameters with a colon. */
  readonly path: string;
  /** Undefined: it is never turned away. */
  readonly loadClass: LoadClass | undefined;
  /** Pages of any origin may call (cors.ts). */
  readonly openToPages: boolean;
  /** For people: they are answered in words, which the framework's way does. */
  readonly isPage: boolean;
}

/** The table, as it is read for a request. */
export interface Endpoints {
  /** The endpoint that a request is for; a HEAD is treated as a GET. */
  at(request: { readonly method?: string | undefined; readonly url?: string | undefined }): Endpoint | undefined;
  /** The methods of a URL, joined for `Allow`; an empty text if it has none. */
  methodsAt(url: string): string;
}

/** In the order in which `Allow` names them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT'] as const;

/** A parameter that does not fit into the header limit never comes here; so a long id is an unknown id, not an unknown path. */
export const MAX_PARAMETER_LENGTH = 20_000;

/** Fills the table. @throws Error when two endpoints have the same method and path. */
export function createEndpoints(endpoints: readonly Endpoint[]): Endpoints {
  const router = createRouter({ maxParamLength: MAX_PARAMETER_LENGTH, querystringParser: () => ({}) });
  for (const endpoint of endpoints) {
    router.on(endpoint.method === 'GET' ? ['GET', 'HEAD'] : endpoint.method, endpoint.path, () => undefined, endpoint);
  }
  return {
    at({ method: asked, url = '' }) {
      const method = METHODS.find((one) => one === asked);
      return method === undefined ? undefined : (router.find(method, url)?.store as Endpoint | undefined);
    },
    methodsAt: (url) => METHODS.filter((method) => router.find(method, url) !== null).join(', '),
  };
}

/** The table; health, metrics and documents (`always`) are never turned away. */
export function endpointsOf(
  { routes, pages }: { readonly routes: readonly Route[]; readonly pages?: Pages },
  always: readonly ServicePage[],
): Endpoint[] {
  return [
    ...always.map(({ path }): Endpoint => {
      return { method: 'GET', path, loadClass: undefined, openToPages: false, isPage: false };
    }),
    ...routes.map((route): Endpoint => {
      const { method, loadClass } = route;
      return { method, path: fullPath(route), loadClass, openToPages: isOpenToPages(route), isPage: false };
    }),
    ...(pages?.list ?? []).map((page): Endpoint => {
      const { method, path } = page;
      return { method, path, loadClass: loadClassOf(page), openToPages: false, isPage: true };
    }),
  ];
}
