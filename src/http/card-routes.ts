/**
 * The routes of cards: the network's callback after a challenge, and the status reads (specification, Endpoints).
 *
 * Invariant: a callback is judged by the use case; here it is only read, and a browser that brought it is redirected.
 */

import { isFinal } from '../domain/payment.ts';
import type { Merchant, Payment } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { RETURNED_PATH, shopAddress } from '../domain/return-address.ts';
import { prefersHtml } from '../messages/accept.ts';
import { type CallbackEnd, takeCallback } from '../usecases/card-callback.ts';
import { type CardCallback, requireProof } from '../usecases/card-callback-proof.ts';
import { checkStatus, readCardStatus } from '../usecases/card-status.ts';
import type { Deps } from '../usecases/deps.ts';
import type { Reply } from '../usecases/perform.ts';
import { CardCallbackBody, CardReturnQuery, CardStatusAnswer, CheckStatusAnswer, OrderParams } from './card-schemas.ts';
import { isJson, type Json } from './json-node.ts';
import { presentStatus } from './present.ts';
import { isPlainJson } from './request-headers.ts';
import { type Call, defineRoute, type Route } from './route.ts';
import { TransactionParams } from './schemas.ts';
import { StatusAnswer } from './status-schemas.ts';

/**
 * `POST /payments/card/3ds-callback`, and by a session `check-status`, `cardnet/status` and its other name `mastercard/status`
 * (contract §4).
 */
export function cardRoutes(deps: Deps): Route[] {
  return [
    callbackRoute(deps),
    defineRoute({
      method: 'GET',
      path: '/payments/check-status/:order_id',
      operationId: 'checkStatus',
      summary: 'Check a payment at the card network',
      description:
        'Asks the card network about a payment that is not final; a final payment is answered from the database. The path ' +
        'takes the `transaction_id`, which is also the network’s order id, or the `customer_reference`, which means the ' +
        'newest payment with that reference. Of a payment by another method the `upstream_status` is null.',
      credential: 'session',
      limit: 'payments',
      loadClass: 'read',
      allowConsumed: true,
      params: OrderParams,
      answers: { 200: CheckStatusAnswer },
      refusals: [1204],
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
    summary: network === 'cardnet' ? 'Read a card payment’s status' : 'Read a card payment’s status by its other path',
    description:
      network === 'cardnet'
        ? 'The status, and the result of the customer’s authentication. A payment by another method is refused with 1205.'
        : 'Another path for `/payments/cardnet/status/{transaction_id}`.',
    credential: 'session',
    limit: 'payments',
    loadClass: 'read',
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

/** 16 KiB: several times what any network posts. Its sender is known only once its fields have been read. */
const MAX_CALLBACK_BYTES = 16 * 1024;

function callbackRoute(deps: Deps): Route {
  return defineRoute({
    method: 'POST',
    path: '/payments/card/3ds-callback',
    operationId: 'cardCallback',
    summary: 'Report the end of the issuer’s challenge',
    description:
      'The card network calls this, directly or through the customer’s browser. It is only a hint: the gateway asks the ' +
      'network before money moves. A repeated callback gets the same answer as the first, recognised by its signed content. ' +
      'An Idempotency-Key is not needed and changes nothing, but a malformed one is refused with 1110. A browser is ' +
      'redirected (303): to the merchant’s URL with `transaction_id` and `status` added, or, while the payment is open, to ' +
      'the hosted page that it came from. Without such a URL it goes to the hosted page, or, if no browser has opened that, to ' +
      'a page that says to go back to the shop. Any other caller gets the payment’s status (200). This holds for repeated ' +
      'callbacks, too, whoever brought the first. A body has at most 16 KiB.',
    credential: 'none',
    limit: 'card_callbacks',
    loadClass: 'callback',
    forms: true,
    bodyMost: MAX_CALLBACK_BYTES,
    body: CardCallbackBody,
    querystring: CardReturnQuery,
    answers: { 200: StatusAnswer, 303: StatusAnswer },
    refusals: [1109, 1110, 1204, 1301, 1304],
    requireProof: (call) => {
      try {
        requireProof(deps, callbackOf(call));
      } catch (error) {
        if (error instanceof Refusal) countUnproven(call);
        throw error;
      }
    },
    run: async (call) => {
      let isCounted = false;
      const count = (order: string, merchant: Merchant | undefined): void => {
        isCounted = true;
        call.count('card_callbacks', order, merchant);
      };
      const render = (end: CallbackEnd): Reply => answerTo(call, end.payment, returnAddress(deps, end));
      try {
        const reply = await takeCallback(deps, callbackOf(call), count, render);
        return isFromBrowser(call) ? reply : withoutAddress(reply);
      } catch (error) {
        // The callback was signed, but too old, and has not been counted yet.
        if (error instanceof Refusal && !isCounted) countUnproven(call);
        throw error;
      }
    },
  });
}

/**
 * Callbacks without a valid proof are counted separately, by the order that they name, so that however many arrive, the
 * network's own callbacks for that order still get through.
 */
function countUnproven(call: Pick<Call, 'body' | 'query' | 'header' | 'count'>): void {
  const { order_id, networkOrder, transaction_id } = callbackOf(call);
  const named = order_id ?? networkOrder ?? transaction_id;
  if (named !== undefined) call.count('card_callbacks', `unproven ${named.slice(0, 255)}`, undefined);
}

const NOTHING: Json = {};

/** The callback as posted, read before its shape is checked: a field that is neither text nor a number counts as not sent. */
function callbackOf({ body, query, header }: Pick<Call, 'body' | 'query' | 'header'>): CardCallback {
  const posted = isJson(body) ? body : NOTHING;
  const asked = isJson(query) ? query : NOTHING;
  return {
    order_id: textOf(posted.order_id),
    transaction_id: textOf(posted.transaction_id),
    result: textOf(posted.result),
    timestamp: textOf(posted.timestamp),
    nonce: textOf(posted.nonce),
    // A form also sends the fields that are left empty.
    signature: textOf(posted.signature) || header('x-cardnet-signature'),
    networkOrder: textOf(posted['order.id']),
    proof: { t: textOf(asked.t), e: textOf(asked.e), n: textOf(asked.n), s: textOf(asked.s) },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function isFromBrowser({ header }: Pick<Call, 'header'>): boolean {
  return !isPlainJson({ 'content-type': header('content-type') }) || prefersHtml(header('accept'));
}

/** The answer to a browser. It is the one that is remembered: another caller gets it without the address. */
function answerTo(call: Pick<Call, 'reply'>, payment: Payment, location: string): Reply {
  return { ...call.reply(303, presentStatus(payment)), location };
}

function withoutAddress({ body, replayed = false }: Reply): Reply {
  return { status: 200, body, replayed };
}

/**
 * The address to which the customer's browser is sent. While a payment is open, its browser goes to the hosted page, if it has
 * opened it, and not to the shop. Without an address of the shop it goes to that page as well, or is told to go back to the shop:
 * a hosted page that nobody has opened would be closed to it.
 */
function returnAddress({ publicUrl }: Pick<Deps, 'publicUrl'>, end: CallbackEnd): string {
  const { payment, isPaying, isPaidAside, hasPage } = end;
  const page = `${publicUrl}${hasPage ? `/checkout/${payment.checkout_id}` : RETURNED_PATH}`;
  if (hasPage && !isFinal(payment.status)) return page;
  return shopAddress(payment, { mayBePaid: isPaying || isPaidAside }) ?? page;
}
