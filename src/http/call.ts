/**
 * What a route's own code is given of a call, and how it answers.
 *
 * Invariant: an answer is rendered once. The bytes that are sent are those that are remembered, unless the route adapts both to the
 * caller's Accept header (`sendTo`).
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answering, Reply } from '../usecases/perform.ts';
import { countBy } from './call-counts.ts';
import type { Caller } from './caller.ts';
import type { ClientAddress } from './client-address.ts';
import { type ExchangeParts, envelopeFor, exchangeOf, languageOfRequest } from './exchange.ts';
import type { UsedReceipt } from './idempotency.ts';
import { isJson } from './json-node.ts';
import { codeGuard, guardHeaders, type Limits } from './limits.ts';
import type { Call, Rendered, Route } from './route.ts';

export interface CallParts extends ExchangeParts {
  readonly limits: Limits;
  readonly addressOf: ClientAddress;
}

/** A request on its way through its route. */
interface Handled {
  readonly parts: CallParts;
  readonly route: Route;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A call as its route's code is given it. `receipt`: where the answer is remembered; undefined: nowhere. */
export function callOf(handled: Handled, caller: Caller, body: unknown, receipt: UsedReceipt | undefined): Call {
  const { parts, request, reply: response } = handled;
  const { guard } = handled.route;
  const exchange = exchangeOf(request);
  const reply = (status: number, value: unknown): Reply => {
    exchange.transactionId ??= transactionIn(value);
    return { status, body: JSON.stringify(value) };
  };
  return {
    caller,
    body,
    params: request.params,
    query: request.query,
    language: languageOfRequest(request),
    requestId: exchange.requestId,
    address: () => parts.addressOf(request),
    header: (name) => request.headers[name]?.toString(),
    count: (limit, key, merchant) => countBy({ parts, reply: response }, limit, key, merchant),
    tellLeft(left) {
      if (guard !== undefined && caller !== undefined)
        response.headers(guardHeaders(codeGuard(guard, caller.merchant), left));
    },
    reply,
    answering<A>(render: (answer: A) => Rendered): Answering<A> {
      return {
        receipt,
        render(answer) {
          const { status, value } = render(answer);
          return reply(status, value);
        },
        renderRefusal(refusal) {
          const rendered = { status: refusal.http, body: envelopeFor(parts, request, refusal) };
          exchange.rendered = { refusal, reply: rendered };
          return rendered;
        },
      };
    },
  };
}

function transactionIn(value: unknown): string | undefined {
  return isJson(value) && typeof value.transaction_id === 'string' ? value.transaction_id : undefined;
}
