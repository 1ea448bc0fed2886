/**
 * Starts a payment on a hosted page (specification, gaps; contract §4, collect-redirect).
 *
 * Invariant: the returned address opens the page once; a call repeated under the same Idempotency-Key gets the same address. The
 * page itself is served at the same path, by GET.
 */

import { prefersHtml } from '../messages/accept.ts';
import type { Deps } from '../usecases/deps.ts';
import { collectPayment } from '../usecases/payment-collect.ts';
import type { Collected } from '../usecases/payment-collectable.ts';
import type { Reply } from '../usecases/perform.ts';
import { presentTransfer } from './bank-present.ts';
import { isJson } from './json-node.ts';
import { COLLECT_CODES, collectCommand, collectFaults, NEEDED_FOR_PAGE } from './payment-commands.ts';
import { presentCollected } from './present.ts';
import { defineRoute, type Route } from './route.ts';
import { CollectRedirectAnswer, CollectRedirectBody } from './schemas.ts';

/** `POST /payments/collect-redirect`, by a session. The address that it returns is served by the `checkout` room. */
export function collectRedirectRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/payments/collect-redirect',
      operationId: 'collectRedirect',
      summary: 'Start a payment on the hosted page',
      description:
        'Takes the body of a collect. Without `payment_method` the customer chooses on the page. What the page asks for ' +
        'itself (account, PIN, card) need not be sent. Send the customer’s browser to `redirect_url`, which opens only ' +
        'once. A caller whose Accept header prefers HTML to JSON is answered 303 to that URL, with the same body; this ' +
        'holds for replayed answers too. A session can have at most 150 payments, as with `POST /payments/collect`.',
      credential: 'session',
      limit: 'payments',
      loadClass: 'collect',
      allowConsumed: false,
      body: CollectRedirectBody,
      answers: { 200: CollectRedirectAnswer, 303: CollectRedirectAnswer },
      refusals: [1003, 1101, 1102, 1103, 1105, 1109, 1110, 1202, 1203, 1305, 1404],
      codes: COLLECT_CODES,
      check: (body, caller) => collectFaults(deps, caller, body, NEEDED_FOR_PAGE),
      sendTo: (accept, reply) => (prefersHtml(accept) ? sentOn(reply) : reply),
      run: (call) => {
        const body = { ...call.body, payment_method: call.body.payment_method ?? ('none' as const) };
        return collectPayment(
          deps,
          call.caller,
          collectCommand(body, call.language, 'hosted'),
          call.answering((collected: Collected) => ({
            status: 200,
            value: {
              ...presentCollected(collected, deps.secrets.sealPaymentId, call.language),
              ...presentTransfer(collected.payment, collected.onlyAccount, deps.publicUrl),
              redirect_url: collected.pageUrl,
            },
          })),
        );
      },
    }),
  ];
}

/** The address is read from the bytes, because a repeated call is answered with the bytes of the first. */
function sentOn(reply: Reply): Reply {
  const answer: unknown = JSON.parse(reply.body);
  if (reply.status !== 200 || !isJson(answer) || typeof answer.redirect_url !== 'string') return reply;
  return { ...reply, status: 303, location: answer.redirect_url };
}
