/**
 * Schemas of refunds (contract §9).
 *
 * Invariant: as in all schemas, unknown fields are ignored, never refused.
 */

import { type Static, Type } from 'typebox';
import { named } from './components.ts';
import { limitQuery, spanQuery } from './list-query.ts';
import {
  AMOUNT_FORM,
  Amount,
  CurrencyCode,
  described,
  MethodName,
  NextCursor,
  nullable,
  OutgoingStatus,
  TakenAfterAll,
  Text,
  Timestamp,
} from './schema-words.ts';

export const RefundBody = Type.Object(
  {
    transaction_id: Type.String({
      minLength: 1,
      maxLength: 512,
      description: 'The `transaction_id` of the approved payment.',
    }),
    amount: Type.Optional(
      Type.String({
        maxLength: 64,
        documentedAs: AMOUNT_FORM,
        description: 'A decimal string in the payment’s currency. Default: all that is left.',
      }),
    ),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Your own note, for your books.' })),
  },
  named('RefundBody'),
);
export type RefundBody = Static<typeof RefundBody>;

const REFUND = {
  refund_id: Text,
  transaction_id: Text,
  status: OutgoingStatus,
  message: Text,
  amount: described(Amount, 'The amount of this refund: as you wrote it, or all that was left.'),
  currency: CurrencyCode,
  method: described(MethodName, 'The method that paid, which also returns the money.'),
  by_hand: Type.Boolean({
    description: 'Whether an operator carries it out by hand, because no connected upstream can.',
  }),
  reason: nullable(Text, 'Your own note; null if you gave none.'),
  failure: nullable(
    Type.Object(
      { code: Type.String({ description: 'The reason, one of those on `/docs/errors#reasons`.' }), message: Text },
      named('RefundFailure'),
    ),
    'Why the refund failed: its money went back into your balance. Null if it has not failed.',
  ),
  taken_after_all: TakenAfterAll,
  refunded_amount: described(Amount, 'How much of the payment has been refunded, over all its refunds.'),
  provider_reference: nullable(Text),
  created_at: Timestamp,
  completed_at: nullable(Timestamp),
};

export const RefundAnswer = Type.Object(
  { success: Type.Boolean(), summary_code: Text, ...REFUND },
  named('RefundAnswer'),
);

export const MAX_REFUNDS = 100;
export const REFUNDS = 20;

export const RefundsQuery = Type.Object({
  status: Type.Optional(described(OutgoingStatus, 'Only refunds with this status.')),
  currency: Type.Optional(CurrencyCode),
  transaction_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'Only refunds of this payment, `txn_…`.' }),
  ),
  ...spanQuery('created_at'),
  cursor: Type.Optional(Type.String({ maxLength: 255, description: 'The `next_cursor` of the previous page.' })),
  limit: limitQuery(MAX_REFUNDS, REFUNDS),
});
export type RefundsQuery = Static<typeof RefundsQuery>;

export const RefundsAnswer = Type.Object(
  {
    success: Type.Boolean(),
    refunds: Type.Array(Type.Object(REFUND, named('Refund')), {
      description: 'Newest first. A page may be short, or empty, without being the last.',
    }),
    next_cursor: NextCursor,
  },
  named('RefundsAnswer'),
);
