/**
 * The routes of payouts: send, and what a merchant's backend does with its batches (specification, Payouts; contract §5, §9).
 *
 * Invariant: send by a session and by the merchant's credential take the same body and make the same batch; only who may call
 * differs.
 */

import { MAX_PAID_AGAIN } from '../domain/payout-order.ts';
import type { RefusalCode } from '../domain/refusal.ts';
import type { MerchantCaller, SessionCaller } from '../usecases/callers.ts';
import type { Deps } from '../usecases/deps.ts';
import { type BatchListing, listPayouts, readPayout } from '../usecases/payout-read.ts';
import { retryPayout } from '../usecases/payout-retry.ts';
import { type PayoutSent, requireSender, sendPayout } from '../usecases/payout-send.ts';
import {
  aliasFaults,
  currencyFaults,
  cursorFaults,
  limitFaults,
  readSpan,
  referenceFaults,
  spanFaults,
} from './list-query.ts';
import { payoutFaults, payoutOrder } from './payout-faults.ts';
import { presentBatch, presentBatches, presentPayout } from './payout-present.ts';
import {
  BatchAnswer,
  BatchesAnswer,
  BatchesQuery,
  BatchParams,
  BatchQuery,
  MAX_PAGE,
  PAGE,
  PayoutAnswer,
  PayoutBody,
  PayoutSentAnswer,
  RetryBody,
} from './payout-schemas.ts';
import { type Call, defineRoute, type Route } from './route.ts';

/** The routes of payouts: `POST /payments/send` by a session, and those below `/internal/payouts` for a merchant's backend. */
export function payoutRoutes(deps: Deps): Route[] {
  return [...sendingRoutes(deps), ...batchRoutes(deps)];
}

const SEND_REFUSALS: readonly RefusalCode[] = [1101, 1102, 1103, 1109, 1110, 1201, 1203, 1207];

const SEND_DESCRIPTION =
  'Pays up to a hundred beneficiaries, at once, on dates or repeatedly, by mobile money or into wallets. Your available ' +
  'balance pays amounts and fees; an immediate payout that it does not cover is refused with 1201, and nothing is made. The ' +
  'answer lists the lines of the first occurrence; webhooks report what becomes of them. With `dry_run: true` everything ' +
  'is checked, but nothing is made.';

function sendingRoutes(deps: Deps): Route[] {
  const rendered = (call: Pick<Call, 'answering' | 'language'>) =>
    call.answering((sent: PayoutSent) => ({ status: 200, value: presentPayout(sent, call.language) }));
  const send = (call: Call<MerchantCaller | SessionCaller, PayoutBody>) => {
    const { caller, body, language } = call;
    const order = payoutOrder(deps, caller.merchant, body, language);
    return sendPayout(deps, caller, order, { dryRun: body.dry_run === true }, rendered(call));
  };
  return [
    defineRoute({
      method: 'POST',
      path: '/payments/send',
      operationId: 'sendPayout',
      summary: 'Pay out',
      description:
        `${SEND_DESCRIPTION} The session can be used again. A session with the scope \`collect\`, one that has already ` +
        'collected, and one that is bound to a device are refused with 1003. An Idempotency-Key is scoped to the merchant: ' +
        'it works with another session too.',
      credential: 'session',
      device: 'refused',
      idempotencyScope: 'merchant',
      limit: 'payments',
      loadClass: 'begin',
      allowConsumed: false,
      body: PayoutBody,
      answers: { 200: PayoutSentAnswer },
      refusals: [1003, ...SEND_REFUSALS],
      requireRight: ({ session }) => requireSender(session),
      check: (body, { merchant }) => payoutFaults(deps, merchant, body),
      run: send,
    }),
    defineRoute({
      method: 'POST',
      path: '/internal/payouts',
      operationId: 'createPayout',
      summary: 'Pay out from your backend',
      description: `${SEND_DESCRIPTION} This is \`POST /payments/send\` without a session.`,
      credential: 'merchant',
      limit: 'none',
      loadClass: 'begin',
      body: PayoutBody,
      answers: { 200: PayoutSentAnswer },
      refusals: SEND_REFUSALS,
      check: (body, { merchant }) => payoutFaults(deps, merchant, body),
      run: send,
    }),
    defineRoute({
      method: 'POST',
      path: '/internal/payouts/:batch_id/retry',
      operationId: 'retryPayout',
      summary: 'Pay failed lines again',
      description:
        'Pays failed lines again, in a new batch that starts at once and whose `retry_of` names this one. Fees, carriers and ' +
        'settings are the current ones. Each failed line is paid again at most once; a line that fails again can be paid ' +
        `again from the new batch, ${MAX_PAID_AGAIN} times in all. Without \`transaction_ids\` the call takes all failed ` +
        'lines, but only the first of each beneficiary: if a beneficiary failed in several occurrences, call again.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'begin',
      params: BatchParams,
      body: RetryBody,
      answers: { 200: PayoutAnswer },
      refusals: [1102, 1103, 1110, 1201, 1203, 1204, 1205],
      run: (call) => {
        const { transaction_ids: ids } = call.body;
        return retryPayout(deps, call.caller, call.params.batch_id, ids ?? undefined, rendered(call));
      },
    }),
  ];
}

function batchRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/payouts',
      operationId: 'listPayouts',
      summary: 'List payouts',
      description:
        'Your batches, newest first, page by page. Batches made while you read never move others between pages. With ' +
        '`status`, `receipt_mode` or `currency` a page may be short, or empty, without being the last.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      querystring: BatchesQuery,
      answers: { 200: BatchesAnswer },
      refusals: [1102, 1103, 1110],
      checkQuery: listFaults,
      run: async (call) => call.reply(200, presentBatches(await listPayouts(deps, call.caller, listingOf(call.query)))),
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/payouts/:batch_id',
      operationId: 'readPayout',
      summary: 'Read a payout',
      description: 'A batch, the status of each of its occurrences, and the lines of one of them.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      params: BatchParams,
      querystring: BatchQuery,
      answers: { 200: BatchAnswer },
      refusals: [1110, 1204],
      run: async (call) => {
        const occurrence = Number(call.query.occurrence ?? '1');
        const detail = await readPayout(deps, call.caller, call.params.batch_id, occurrence);
        return call.reply(200, presentBatch(detail, call.language));
      },
    }),
  ];
}

function listFaults(query: Partial<BatchesQuery>) {
  const { from, to, limit, cursor } = query;
  return [
    ...aliasFaults('method', query.receipt_mode, query.method),
    ...referenceFaults(query),
    ...currencyFaults(query),
    ...spanFaults({ from, to }),
    ...cursorFaults('batch', cursor),
    ...limitFaults(limit, MAX_PAGE),
  ];
}

/** Reads a query in which `listFaults` has found none. */
function listingOf(query: BatchesQuery): BatchListing {
  const { from, until } = readSpan(query);
  return {
    status: query.status,
    receiptMode: query.receipt_mode ?? query.method,
    currency: query.currency,
    customerReference: query.customer_reference ?? query.reference,
    from,
    to: until,
    cursor: query.cursor,
    limit: Number(query.limit ?? PAGE),
  };
}
