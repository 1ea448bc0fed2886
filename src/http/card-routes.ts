/**
 * The routes of cards: the network's callback after a challenge, and the status reads (specification, Endpoints).
 *
 * Invariant: a callback is judged by the use case; here it is only read, and a browser that brought it is sent on.
 */

import { isFinal } from '../domain/payment.ts';
import type { Payment } from '../domain/records.ts';
import { takeCallback } from '../usecases/card-callback.ts';
import { checkStatus, readCardStatus } from '../usecases/card-status.ts';
import type { Deps } from '../usecases/deps.ts';
import type { Reply } from '../usecases/perform.ts';
import { presentStatus } from './present.ts';
import { type Call, defineRoute, type Route } from './route.ts';
import {
  CardCallbackBody,
  CardReturnQuery,
  CardStatusAnswer,
  CheckStatusAnswer,
  OrderParams,
  StatusAnswer,
  TransactionParams,
} from './schemas.ts';

export function cardRoutes(deps: Deps): Route[] {
  return [
    callbackRoute(deps),
    defineRoute({
      method: 'GET',
      path: '/payments/check-status/:order_id',
      operationId: 'checkStatus',
      summary: 'Ask the card network anew',
      description:
        'By customer_reference (its newest card payment), transaction_id or the network’s order id. A final payment is ' +
        'answered from what is kept.',
      credential: 'session',
      limit: 'payments',
      allowConsumed: true,
      params: OrderParams,
      answers: { 200: CheckStatusAnswer },
      refusals: [1204, 1205],
      run: async (call) => {
        const { payment, upstreamStatus } = await checkStatus(deps, call.caller, call.params.order_id);
        return call.reply(200, { ...presentStatus(payment), upstream_status: upstreamStatus });
      },
    }),
    ...(['cardnet', 'mastercard'] as const).map((network) => statusRoute(deps, network)),
  ];
}

function statusRoute(deps: Deps, network: 'cardnet' | 'mastercard'): Route {
  return defineRoute({
    method: 'GET',
    path: `/payments/${network}/status/:transaction_id`,
    operationId: network === 'cardnet' ? 'readCardStatus' : 'readMastercardStatus',
    summary: 'Read a card payment’s status',
    description:
      network === 'cardnet'
        ? 'The status, and what the network said of the customer’s authentication. 1205 for a payment of another method.'
        : 'The same as `/payments/cardnet/status/{transaction_id}`.',
    credential: 'session',
    limit: 'payments',
    allowConsumed: true,
    params: TransactionParams,
    answers: { 200: CardStatusAnswer },
    refusals: [1204, 1205],
    run: async (call) => {
      const { payment, threeDs } = await readCardStatus(deps, call.caller, call.params.transaction_id);
      const { status, eci, challengeUrl } = threeDs;
      return call.reply(200, { ...presentStatus(payment), three_ds: { status, eci, challenge_url: challengeUrl } });
    },
  });
}

function callbackRoute(deps: Deps): Route {
  return defineRoute({
    method: 'POST',
    path: '/payments/card/3ds-callback',
    operationId: 'cardCallback',
    summary: 'The issuer’s challenge is over',
    description:
      'Called by the card network, or by the customer’s browser for it. It is a hint: the network is asked before money ' +
      'moves. A repeated callback answers as the first did. A browser is sent on to the merchant’s address (303) with ' +
      '`transaction_id` and `status`; others get the status read.',
    credential: 'none',
    limit: 'card_callbacks',
    allowConsumed: true,
    forms: true,
    body: CardCallbackBody,
    querystring: CardReturnQuery,
    answers: { 200: StatusAnswer, 303: StatusAnswer },
    refusals: [1109, 1110, 1204, 1301, 1304],
    run: (call) => {
      const { body } = call;
      const isForm = !(call.header('content-type') ?? '').startsWith('application/json');
      const isBrowser = isForm || (call.header('accept') ?? '').includes('text/html');
      return takeCallback(
        deps,
        {
          order_id: body.order_id,
          transaction_id: body.transaction_id,
          result: body.result,
          timestamp: body.timestamp?.toString(),
          nonce: body.nonce,
          signature: body.signature ?? call.header('x-cardnet-signature'),
          networkOrder: body['order.id'],
          proof: call.query,
        },
        (key) => call.count('card_callbacks', key),
        (payment) => answerTo(call, payment, isBrowser ? returnAddress(deps, payment) : undefined),
      );
    },
  });
}

function answerTo(call: Pick<Call, 'reply'>, payment: Payment, location: string | undefined): Reply {
  const status = presentStatus(payment);
  return location === undefined ? call.reply(200, status) : { ...call.reply(303, status), location };
}

/** Where the customer's browser goes on; undefined where the payment names no place. */
function returnAddress({ publicUrl }: Pick<Deps, 'publicUrl'>, payment: Payment): string | undefined {
  const lost = isFinal(payment.status) && payment.status !== 'approved' && payment.status !== 'refunded';
  const address = lost ? payment.fail_redirect_url : payment.success_redirect_url;
  if (address !== null) return withQuery(address, { transaction_id: payment.id, status: payment.status });
  return payment.checkout_id === null ? undefined : `${publicUrl}/checkout/${payment.checkout_id}`;
}

/** Adds to an address's query, and leaves what it has, the fragment too, as it is. */
function withQuery(address: string, more: { readonly [name: string]: string }): string {
  const hash = address.indexOf('#');
  const [place, fragment] = hash < 0 ? [address, ''] : [address.slice(0, hash), address.slice(hash)];
  const mark = !place.includes('?') ? '?' : /[?&]$/.test(place) ? '' : '&';
  return `${place}${mark}${new URLSearchParams(more)}${fragment}`;
}
