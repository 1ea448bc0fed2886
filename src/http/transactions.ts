/**
 * The routes by which a merchant's backend lists its payments, and reads one (contract §9).
 */

import { Type } from 'typebox';
import { formatMinor } from '../domain/money.ts';
import type { Payment } from '../domain/records.ts';
import type { Deps } from '../usecases/deps.ts';
import { readTransactionDetail } from '../usecases/payout-read.ts';
import { listTransactions } from '../usecases/transactions-list.ts';
import { MAX_TRANSACTIONS, TRANSACTIONS, TransactionsAnswer, TransactionsQuery } from './books-schemas.ts';
import {
  aliasFaults,
  currencyFaults,
  cursorFaults,
  limitFaults,
  readSpan,
  referenceFaults,
  spanFaults,
} from './list-query.ts';
import { presentTransactionDetail } from './payout-present.ts';
import { TransactionDetailAnswer } from './payout-schemas.ts';
import { presentStatus } from './present.ts';
import { defineRoute, type Route } from './route.ts';
import { PathId } from './schema-words.ts';

const TransactionParams = Type.Object({
  transaction_id: Type.String({
    ...PathId,
    description:
      'The `transaction_id` of a payment or of a payout line, `txn_…`; the `payment_id` of a payment, `pay_…`, does as well.',
  }),
});

/** `GET /internal/transactions` and `GET /internal/transactions/{transaction_id}`, for a merchant's backend. */
export function transactionRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/transactions',
      operationId: 'listTransactions',
      summary: 'List your payments',
      description:
        'Your payments, newest first, page by page. A payment must match all filters that are given. Payments made while ' +
        'you read come before the first page, so nothing is repeated or left out.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      querystring: TransactionsQuery,
      answers: { 200: TransactionsAnswer },
      refusals: [1102, 1103, 1110],
      checkQuery: listFaults,
      run: async (call) => {
        const { query } = call;
        const { status, currency, cursor, limit } = query;
        const page = await listTransactions(deps, call.caller.merchant, {
          status,
          method: query.payment_method ?? query.method,
          currency,
          reference: query.customer_reference ?? query.reference,
          ...readSpan(query),
          before: cursor,
          limit: Number(limit ?? TRANSACTIONS),
        });
        const transactions = page.rows.map(presentTransaction);
        return call.reply(200, { success: true, transactions, next_cursor: page.next ?? null });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/transactions/:transaction_id',
      operationId: 'readMerchantTransaction',
      summary: 'Read a transaction from your backend',
      description:
        'A payment, with its fees, the methods to choose from, and its timeline; or a payout line. This is ' +
        '`GET /payments/transaction/{id}` without a session, with the same answer.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      params: TransactionParams,
      answers: { 200: TransactionDetailAnswer },
      refusals: [1204],
      run: async (call) => {
        const found = await readTransactionDetail(deps, call.caller, call.params.transaction_id);
        return call.reply(
          200,
          presentTransactionDetail(found, deps.secrets.sealPaymentId, call.language, deps.publicUrl),
        );
      },
    }),
  ];
}

function listFaults(query: Partial<TransactionsQuery>) {
  const { from, to, cursor, limit } = query;
  return [
    ...aliasFaults('method', query.payment_method, query.method),
    ...referenceFaults(query),
    ...currencyFaults(query),
    ...spanFaults({ from, to }),
    ...cursorFaults('txn', cursor),
    ...limitFaults(limit, MAX_TRANSACTIONS),
  ];
}

function presentTransaction(payment: Payment) {
  const { currency } = payment;
  return {
    ...presentStatus(payment),
    customer_reference: payment.customer_reference,
    payment_method: payment.method,
    fee_amount: formatMinor(payment.fee_minor, currency),
    total_amount: formatMinor(payment.total_minor, currency),
    refunded_amount: formatMinor(payment.refunded_minor, currency),
  };
}
