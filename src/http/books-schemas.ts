/**
 * Schemas of what a merchant reads about its money: balances, statements and payments.
 */

import { type Static, Type } from 'typebox';
import { limitQuery, SPAN_QUERY, wordFor } from './list-query.ts';
import {
  BoundAmount,
  CurrencyCode,
  MethodName,
  NextCursor,
  nullable,
  Text,
  Timestamp,
  TotalAmount,
} from './schema-words.ts';

const Amount = Type.String({ description: 'A decimal string with the currency’s fraction digits.' });

export const BalancesAnswer = Type.Object({
  success: Type.Boolean(),
  balances: Type.Array(
    Type.Object({
      currency: Text,
      available: Type.String({ description: 'Pays payouts and refunds.' }),
      reserved: Type.String({ description: 'Put aside for payouts and refunds that are under way.' }),
      held: Type.String({ description: 'Of delayed deliveries, until they are released.' }),
    }),
    { description: 'Every currency in which there has ever been an account.' },
  ),
});

const BalanceName = Type.Union([Type.Literal('available'), Type.Literal('reserved'), Type.Literal('held')]);

export const STATEMENT_LINES_MOST = 1_000;
export const STATEMENT_LINES = 100;

export const StatementQuery = Type.Object({
  currency: Type.Optional(
    Type.String({ ...CurrencyCode, description: 'May be absent where your accounts are all in one currency.' }),
  ),
  ...SPAN_QUERY,
  balance: Type.Optional(
    Type.Union([...BalanceName.anyOf, Type.Literal('all')], {
      description: 'Which balance to show; `all` when absent.',
    }),
  ),
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('csv')], {
      description: 'When absent, what the Accept header prefers. CSV is the whole span, without cursor and limit.',
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 4096, description: 'The `next_cursor` of the page before.' })),
  limit: limitQuery(STATEMENT_LINES_MOST, STATEMENT_LINES),
});
export type StatementQuery = Static<typeof StatementQuery>;

/** The shown balances at both ends of a span or a page. */
const SpanAnswer = Type.Object({
  opening_balance: Type.String({ description: 'Before the first line: the sum of the shown balances.' }),
  closing_balance: Type.String({ description: 'After the last line: the opening balance and every line between.' }),
  balances: Type.Array(Type.Object({ balance: BalanceName, opening_balance: Amount, closing_balance: Amount })),
});

export const StatementAnswer = Type.Object({
  success: Type.Boolean(),
  currency: Text,
  from: Type.String({ format: 'date-time', description: 'The first instant of the span.' }),
  to: Type.String({
    format: 'date-time',
    description: 'The last instant of the span; no later than that of the first page.',
  }),
  ...SpanAnswer.properties,
  page: Type.Object(SpanAnswer.properties, { description: 'The same of this page’s lines alone.' }),
  lines: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Of the line: a transfer between two of your balances is two lines.' }),
      at: Timestamp,
      balance: Type.String({ description: 'The balance that it moved.' }),
      cause: Type.String({
        description:
          'What moved it: payment, release, payout_reserved, payout, payout_fee, payout_returned, refund_reserved, refund, ' +
          'refund_returned, balance_credit, float, settlement, late_payment, late_payout, late_payout_fee, ' +
          'late_refund. New ones may come.',
      }),
      amount: Type.String({ description: 'Negative where it was taken out.' }),
      balance_after: Type.String({ description: 'What stood in that balance after it.' }),
      transaction_id: nullable(Text),
      refund_id: nullable(Text),
      customer_reference: nullable(Text, 'Yours, of that payment, payout or refund.'),
      reference: nullable(Text, 'Of a settlement: under which your bank was told to pay.'),
    }),
  ),
  next_cursor: NextCursor,
});

const StatusName = Type.Union([
  Type.Literal('pending'),
  Type.Literal('processing'),
  Type.Literal('pending_otp_verification'),
  Type.Literal('pending_mobile_money_verification'),
  Type.Literal('pendingBankProofUpload'),
  Type.Literal('approved'),
  Type.Literal('declined'),
  Type.Literal('failed'),
  Type.Literal('cancelled'),
  Type.Literal('expired'),
  Type.Literal('refunded'),
]);

export const TRANSACTIONS_MOST = 100;
export const TRANSACTIONS = 20;

export const TransactionsQuery = Type.Object({
  status: Type.Optional(StatusName),
  payment_method: Type.Optional(MethodName),
  method: Type.Optional(Type.Union(MethodName.anyOf, wordFor('payment_method'))),
  currency: Type.Optional(CurrencyCode),
  customer_reference: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Yours, whole.' })),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 255, ...wordFor('customer_reference') })),
  ...SPAN_QUERY,
  cursor: Type.Optional(Type.String({ maxLength: 255, description: 'The `next_cursor` of the page before.' })),
  limit: limitQuery(TRANSACTIONS_MOST, TRANSACTIONS),
});
export type TransactionsQuery = Static<typeof TransactionsQuery>;

export const TransactionsAnswer = Type.Object({
  success: Type.Boolean(),
  transactions: Type.Array(
    Type.Object({
      transaction_id: Text,
      status: Text,
      amount: BoundAmount,
      currency: Text,
      created_at: Timestamp,
      completed_at: Type.Optional(Timestamp),
      customer_reference: Text,
      payment_method: Type.String({ description: '`none` until the customer has chosen.' }),
      fee_amount: Amount,
      total_amount: TotalAmount,
      refunded_amount: Type.String({ description: 'What has been given back.' }),
    }),
    { description: 'Newest first. A page may be short, or empty, and yet not be the last.' },
  ),
  next_cursor: NextCursor,
});
