/**
 * Where upstreams call back: `/upstream/<connector>/<attempt>.<proof>`, by PUT or POST.
 *
 * Invariant: a callback is a hint. Its body is read to the end and not trusted; the upstream is inquired of, and its answer is
 * written before the callback is acknowledged. An address that we did not make answers 404.
 */

import { Type } from 'typebox';
import { Refusal } from '../domain/refusal.ts';
import { hintAttempt } from '../usecases/attempt-inquire.ts';
import type { Deps } from '../usecases/deps.ts';
import { defineRoute, type Route } from './route.ts';

const Params = Type.Object({
  connector: Type.String({ maxLength: 64 }),
  segment: Type.String({ maxLength: 256 }),
});

/**
 * The routes of upstreams' callbacks, one for each method. They are no part of the API: they stand at the root, and take no
 * credential.
 */
export function callbackRoutes(deps: Deps): Route[] {
  return (['PUT', 'POST'] as const).map((method) =>
    defineRoute({
      method,
      path: '/upstream/:connector/:segment',
      outside: true,
      operationId: `upstreamCallback${method}`,
      summary: 'Receive an upstream’s callback',
      description:
        'A hint that there is news about an attempt. The gateway inquires at the upstream, and never trusts the callback ' +
        'itself.',
      credential: 'none',
      limit: 'none',
      loadClass: 'callback',
      rawBody: true,
      params: Params,
      answers: { 200: Type.Object({}) },
      refusals: [1204],
      run: async (call) => {
        const known = await hintAttempt(deps, call.params.connector, call.params.segment);
        if (!known) throw new Refusal(1204);
        return call.reply(200, {});
      },
    }),
  );
}
