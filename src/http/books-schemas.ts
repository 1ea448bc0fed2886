/**
 * Schemas of what a merchant reads about its money: balances, statements and payments.
 */

import { type Static, Type } from 'typebox';
import { MERCHANT_CAUSES } from '../domain/transfer-cause.ts';
import { named } from './components.ts';
import { aliasOf, limitQuery, spanQuery } from './list-query.ts';
import {
  Amount,
  BoundAmount,
  CurrencyCode,
  described,
  MethodName,
  NextCursor,
  nullable,
  oneOf,
  PaymentStatus,
  SignedAmount,
  Text,
  Timestamp,
  TotalAmount,
} from './schema-words.ts';

export const BalancesAnswer = Type.Object(
  {
    success: Type.Boolean(),
    balances: Type.Array(
      Type.Object(
        {
          currency: CurrencyCode,
          available: described(Amount, 'What you can spend: it pays payouts, refunds and settlements.'),
          reserved: described(Amount, 'Set aside for payouts and refunds in progress.'),
          held: described(Amount, 'The money of delayed deliveries, until it is released.'),
        },
        named('Balances'),
      ),
      { description: 'One entry for every currency in which you have ever had an account.' },
    ),
  },
  named('BalancesAnswer'),
);

const BALANCES = ['available', 'reserved', 'held'] as const;

const BalanceName = oneOf(BALANCES, named('BalanceName', 'Which of your balances.'));

export const MAX_STATEMENT_LINES = 1_000;
export const STATEMENT_LINES = 100;

export const StatementQuery = Type.Object({
  currency: Type.Optional(
    described(CurrencyCode, 'A lower-case ISO 4217 code. May be left out if all your accounts are in one currency.'),
  ),
  ...spanQuery('at'),
  balance: Type.Optional(
    oneOf([...BALANCES, 'all'], named('StatementBalance', 'Which balance to show. Default: `all`.')),
  ),
  format: Type.Optional(
    oneOf(
      ['json', 'csv'],
      named(
        'StatementFormat',
        'Default: what the Accept header prefers. CSV returns the whole span, without cursor and limit.',
      ),
    ),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 4096, description: 'The `next_cursor` of the previous page.' })),
  limit: limitQuery(MAX_STATEMENT_LINES, STATEMENT_LINES),
});
export type StatementQuery = Static<typeof StatementQuery>;

/** The shown balances at both ends of a span or a page. */
const SpanAnswer = Type.Object({
  opening_balance: described(Amount, 'The sum of the balances shown, before the first line.'),
  closing_balance: described(Amount, 'The sum after the last line: the opening balance plus every line in between.'),
  balances: Type.Array(
    Type.Object(
      {
        balance: BalanceName,
        opening_balance: described(Amount, 'The balance before the first line.'),
        closing_balance: described(Amount, 'The balance after the last line.'),
      },
      named('BalanceSpan'),
    ),
  ),
});

export const StatementAnswer = Type.Object(
  {
    success: Type.Boolean(),
    currency: CurrencyCode,
    from: Type.String({ format: 'date-time', description: 'The first instant of the span.' }),
    to: Type.String({
      format: 'date-time',
      description: 'The last instant of the span. The first page fixes it for all pages.',
    }),
    ...SpanAnswer.properties,
    page: Type.Object(
      SpanAnswer.properties,
      named('StatementPage', 'The same balances, before and after the lines of this page.'),
    ),
    lines: Type.Array(
      Type.Object(
        {
          id: Type.String({
            description: 'Identifies the line. A transfer between two of your balances is two lines.',
          }),
          at: Timestamp,
          balance: described(BalanceName, 'The balance that the line changes.'),
          cause: Type.String({
            description: `Why the money moved: ${MERCHANT_CAUSES.join(', ')}. There may be new ones in future.`,
          }),
          amount: SignedAmount,
          balance_after: described(Amount, 'That balance after the line.'),
          transaction_id: nullable(
            Text,
            'The payment or payout line that the line belongs to, `txn_…`; null for a refund and for what belongs to neither.',
          ),
          refund_id: nullable(Text, 'The refund that the line belongs to, `rfd_…`; null if it belongs to none.'),
          customer_reference: nullable(Text, 'Your own reference of the payment, the payout or the refunded payment.'),
          reference: nullable(
            Text,
            'Of a settlement: the reference under which the money was paid out to your bank. Of a balance_credit: the one that ' +
              'the operator gave, if any.',
          ),
        },
        named('StatementLine'),
      ),
    ),
    next_cursor: NextCursor,
  },
  named('StatementAnswer'),
);

export const MAX_TRANSACTIONS = 100;
export const TRANSACTIONS = 20;

export const TransactionsQuery = Type.Object({
  status: Type.Optional(described(PaymentStatus, 'Only payments with this status.')),
  payment_method: Type.Optional(MethodName),
  method: Type.Optional(described(MethodName, aliasOf('payment_method'))),
  currency: Type.Optional(CurrencyCode),
  customer_reference: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Your own reference: exactly this one, not a part of it.',
    }),
  ),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: aliasOf('customer_reference') })),
  ...spanQuery('created_at'),
  cursor: Type.Optional(Type.String({ maxLength: 255, description: 'The `next_cursor` of the previous page.' })),
  limit: limitQuery(MAX_TRANSACTIONS, TRANSACTIONS),
});
export type TransactionsQuery = Static<typeof TransactionsQuery>;

export const TransactionsAnswer = Type.Object(
  {
    success: Type.Boolean(),
    transactions: Type.Array(
      Type.Object(
        {
          transaction_id: Text,
          status: PaymentStatus,
          amount: BoundAmount,
          currency: CurrencyCode,
          created_at: Timestamp,
          completed_at: Type.Optional(Timestamp),
          customer_reference: Text,
          payment_method: described(MethodName, 'The method that pays; `none` until the customer has chosen one.'),
          fee_amount: Amount,
          total_amount: TotalAmount,
          refunded_amount: described(Amount, 'The amount refunded so far.'),
        },
        named('Transaction'),
      ),
      { description: 'Newest first. A page may be short, or empty, without being the last.' },
    ),
    next_cursor: NextCursor,
  },
  named('TransactionsAnswer'),
);
