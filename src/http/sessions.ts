/**
 * The route that mints sessions (specification, Endpoints; contract §3).
 */

import type { Deps } from '../usecases/deps.ts';
import { createSession, type SessionCreated, sessionFaults } from '../usecases/session-create.ts';
import { presentSession } from './present.ts';
import { defineRoute, type Route } from './route.ts';
import { SessionAnswer, SessionBody } from './schemas.ts';

/** `POST /internal/sessions/create`, for a merchant's backend. */
export function sessionRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/sessions/create',
      operationId: 'createSession',
      summary: 'Mint a session',
      description:
        'Binds an amount, a currency and a customer reference to a short-lived token. The token is shown only once, in this ' +
        'answer. Call this from your backend only.',
      credential: 'merchant',
      limit: 'sessions_create',
      loadClass: 'begin',
      body: SessionBody,
      answers: { 201: SessionAnswer },
      refusals: [1101, 1102, 1109, 1110, 1203],
      check: (body, caller) => sessionFaults(deps, caller, body),
      run: (call) =>
        createSession(
          deps,
          call.caller,
          call.body,
          call.answering((created: SessionCreated) => ({
            status: 201,
            value: presentSession(created, call.language),
          })),
        ),
    }),
  ];
}
