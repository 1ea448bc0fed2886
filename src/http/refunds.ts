/**
 * The routes of refunds: give money back, and read what became of it, one by one or as a list (contract §9).
 */

import { parseAmount } from '../domain/money.ts';
import type { RefundRows } from '../domain/refund.ts';
import type { RefusalDetail } from '../domain/refusal.ts';
import { isReferenceText } from '../domain/session.ts';
import type { Deps } from '../usecases/deps.ts';
import { makeRefundForMerchant } from '../usecases/refund-make.ts';
import { readRefund } from '../usecases/refund-read.ts';
import { listRefunds, type RefundListing } from '../usecases/refunds-list.ts';
import { currencyFaults, cursorFaults, idFaults, limitFaults, readSpan, spanFaults } from './list-query.ts';
import { presentListedRefund, presentRefund } from './refund-present.ts';
import { MAX_REFUNDS, REFUNDS, RefundAnswer, RefundBody, RefundsAnswer, RefundsQuery } from './refund-schemas.ts';
import { defineRoute, type Route } from './route.ts';
import { idParams } from './schema-words.ts';

/** `POST /internal/refunds`, and the reads of one refund and of all, for a merchant's backend. */
export function refundRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/refunds',
      operationId: 'createRefund',
      summary: 'Give money back',
      description:
        'Refunds an approved payment by the method that paid: in part, or without an `amount` all that is left. The refunds ' +
        'of a payment together never exceed its amount, and fees are not refunded. The money is taken first from what is ' +
        'still held for the payment, and the rest from your available balance. Each completed refund sends a webhook ' +
        '`payment.refunded`; once everything has been refunded, the payment is `refunded`. A failed refund sends no ' +
        'webhook: read it with `GET /internal/refunds/{id}`, or find all of them with `GET /internal/refunds?status=failed`.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'begin',
      body: RefundBody,
      answers: { 201: RefundAnswer },
      refusals: [1101, 1109, 1110, 1201, 1202, 1203, 1204, 1205],
      check: refundFaults,
      run: (call) => {
        const { transaction_id, amount, reason } = call.body;
        return makeRefundForMerchant(
          deps,
          call.caller,
          { transaction_id, amount: amount ?? undefined, reason: reason ?? undefined },
          call.answering((rows: RefundRows) => ({ status: 201, value: presentRefund(rows, call.language) })),
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/refunds',
      operationId: 'listRefunds',
      summary: 'List your refunds',
      description:
        'Your refunds, newest first, page by page, each as `GET /internal/refunds/{id}` shows it. A refund must match all ' +
        'filters that are given. Refunds made while you read come before the first page, so nothing is repeated or left ' +
        'out. A failed refund sends no webhook: with `status=failed` this call finds them.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      querystring: RefundsQuery,
      answers: { 200: RefundsAnswer },
      refusals: [1102, 1110],
      checkQuery: listFaults,
      run: async (call) => {
        const { rows, next } = await listRefunds(deps, call.caller, listingOf(call.query));
        const refunds = rows.map((one) => presentListedRefund(one, call.language));
        return call.reply(200, { success: true, refunds, next_cursor: next ?? null });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/refunds/:id',
      operationId: 'readRefund',
      summary: 'Read a refund',
      description:
        'The refund is `pending` before it is sent, and while it waits for an upstream or for a person (`by_hand`). It is ' +
        '`processing` until the upstream has said how it ended, and then `completed` or `failed`.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      params: idParams('The id of the refund, `rfd_…`.'),
      answers: { 200: RefundAnswer },
      refusals: [1204],
      run: async (call) => {
        const rows = await readRefund(deps, call.caller, call.params.id);
        return call.reply(200, presentRefund(rows, call.language));
      },
    }),
  ];
}

/** The currency is the payment's, which is not known here: the widest form of an amount is checked. */
function refundFaults({ amount, reason }: Partial<RefundBody>): RefusalDetail[] {
  const found: RefusalDetail[] = [];
  if (amount !== undefined && parseAmount(amount, 'usd') === undefined) {
    found.push({ field: 'amount', code: 'INVALID_AMOUNT' });
  }
  if (reason !== undefined && !isReferenceText(reason)) found.push({ field: 'reason', code: 'INVALID_TEXT' });
  return found;
}

function listFaults(query: Partial<RefundsQuery>): RefusalDetail[] {
  const { transaction_id: id, from, to, cursor, limit } = query;
  return [
    ...idFaults('transaction_id', 'txn', id),
    ...currencyFaults(query),
    ...spanFaults({ from, to }),
    ...cursorFaults('rfd', cursor),
    ...limitFaults(limit, MAX_REFUNDS),
  ];
}

/** Reads a query in which `listFaults` has found none. */
function listingOf(query: RefundsQuery): RefundListing {
  const { status, currency, transaction_id: transactionId, cursor: before, limit } = query;
  return { status, currency, transactionId, ...readSpan(query), before, limit: Number(limit ?? REFUNDS) };
}
