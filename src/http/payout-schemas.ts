/**
 * Schemas of payouts: what send takes, what it answers, and what is read of batches and lines.
 *
 * Invariant: fields of another sending_type are ignored, whatever is in them, so their form is checked by the route and only
 * described here.
 */

import { type Static, type TSchema, Type } from 'typebox';
import { MAX_BENEFICIARIES, MAX_NOTE } from '../domain/payout-order.ts';
import { MAX_OCCURRENCES } from '../domain/schedule.ts';
import { discriminatedBy, named } from './components.ts';
import { aliasOf, limitQuery, spanQuery } from './list-query.ts';
import {
  AMOUNT_FORM,
  Amount,
  CurrencyCode,
  DateText,
  described,
  nullable,
  OutgoingStatus,
  oneOf,
  PathId,
  PayoutReference,
  ReceiptMode,
  TakenAfterAll,
  Text,
  Timestamp,
} from './schema-words.ts';
import { DetailAnswer } from './status-schemas.ts';

/** A field of one sending_type only: with the others, anything passes. */
const OfOne = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(Type.Union([schema, Type.Unknown()], { description, documentedAs: schema }));

const SendingType = oneOf(['immediate', 'scheduled', 'recurring'], named('SendingType'));
const Frequency = oneOf(['daily', 'weekly', 'biweekly', 'monthly'], named('Frequency'));

const BeneficiaryIn = Type.Object(
  {
    phone_number: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'For mobile_money: an international phone number, for example `+243810000042`.',
      }),
    ),
    wallet_number: Type.Optional(Type.String({ maxLength: 64, description: 'For wallet: the number of the wallet.' })),
    amount: Type.String({
      maxLength: 64,
      documentedAs: AMOUNT_FORM,
      description: 'A decimal string above zero, never a JSON number.',
    }),
  },
  named('Beneficiary'),
);

export const PayoutBody = Type.Object(
  {
    customer_reference: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Your own name for the payout. It need not be unique: each call makes its own batch.',
    }),
    currency: CurrencyCode,
    receipt_mode: described(ReceiptMode, 'How all beneficiaries of this call receive their money.'),
    notify_url: Type.String({
      maxLength: 2048,
      description: 'Where webhooks are sent: two for each line, when it is made and when it is final.',
    }),
    sending_type: Type.Optional(
      described(
        SendingType,
        'When the payout runs; fields that belong to another way are ignored. Default: immediate; a payout with dates must say it.',
      ),
    ),
    scheduled_dates: OfOne(
      Type.Array(DateText, { minItems: 1, maxItems: MAX_OCCURRENCES }),
      `For scheduled: the dates, 1 to ${MAX_OCCURRENCES}, none in the past and none twice.`,
    ),
    recurring_frequency: OfOne(
      Frequency,
      'For recurring: how often. monthly keeps the day of the month, or takes the last day of a month that has no such day.',
    ),
    recurring_start_date: OfOne(DateText, 'For recurring: the first date, today or later.'),
    recurring_occurrences: OfOne(
      Type.Integer({ minimum: 1, maximum: MAX_OCCURRENCES }),
      `For recurring: the number of occurrences, 1 to ${MAX_OCCURRENCES}.`,
    ),
    beneficiaries: Type.Array(BeneficiaryIn, {
      minItems: 1,
      maxItems: MAX_BENEFICIARIES,
      description:
        'The people to pay, none of them twice; the amounts add up to at most 1000000 in the currency’s unit.',
    }),
    note: Type.Optional(
      Type.String({ maxLength: MAX_NOTE, description: 'Your message to the receivers, if the carrier shows one.' }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'true: everything is checked and the fees are quoted, but nothing is made.' }),
    ),
  },
  named('PayoutBody'),
);
export type PayoutBody = Static<typeof PayoutBody>;

export const RetryBody = Type.Object(
  {
    transaction_ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        minItems: 1,
        maxItems: MAX_BENEFICIARIES,
        description: 'The failed lines to pay again. Default: all of them, but only the first of each beneficiary.',
      }),
    ),
  },
  named('RetryBody'),
);
export type RetryBody = Static<typeof RetryBody>;

export const BatchParams = Type.Object({ batch_id: PathId });

export const BatchQuery = Type.Object({
  occurrence: Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,2}$',
      documentedAs: { type: 'integer', minimum: 1, maximum: MAX_OCCURRENCES, default: 1 },
      description: 'The occurrence whose lines to list: 1, 2, … Default: 1.',
    }),
  ),
});

/** How many batches a page has, and has at most. */
export const PAGE = 20;
export const MAX_PAGE = 100;

const BatchStatus = oneOf(
  ['pending', 'processing', 'completed', 'partial_success', 'failed'],
  named('BatchStatus', 'completed, partial_success and failed are final.'),
);

export const BatchesQuery = Type.Object({
  status: Type.Optional(described(BatchStatus, 'Only payouts with this status.')),
  receipt_mode: Type.Optional(ReceiptMode),
  method: Type.Optional(described(ReceiptMode, aliasOf('receipt_mode'))),
  currency: Type.Optional(CurrencyCode),
  customer_reference: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Your own name for the payout: exactly this one.' }),
  ),
  reference: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: aliasOf('customer_reference') })),
  ...spanQuery('created_at'),
  limit: limitQuery(MAX_PAGE, PAGE),
  cursor: Type.Optional(Type.String({ maxLength: 64, description: 'The `next_cursor` of the previous page.' })),
});
export type BatchesQuery = Static<typeof BatchesQuery>;

const RECEIVER = {
  phone_number: Type.Optional(Type.String({ description: 'For mobile_money: the receiver’s number in E.164.' })),
  wallet_number: Type.Optional(Type.String({ description: 'For wallet: the number of the receiver’s wallet.' })),
};

const Line = Type.Object(
  {
    ...RECEIVER,
    amount: described(Amount, 'The amount as you sent it, byte for byte.'),
    currency: CurrencyCode,
    status: OutgoingStatus,
    transaction_id: Text,
    message: Text,
    fee_amount: Amount,
  },
  named('PayoutLine'),
);

/** What a call ordered; totals are of one occurrence. */
const ORDER_FIELDS = {
  customer_reference: PayoutReference,
  currency: CurrencyCode,
  receipt_mode: ReceiptMode,
  sending_type: SendingType,
  total_amount: described(Amount, 'The sum of the amounts of one occurrence, without fees.'),
  total_fee: described(
    Amount,
    'The sum of the fees of one occurrence, on top of `total_amount`; of lines that fail none is taken.',
  ),
  occurrences: Type.Integer({ description: 'The number of occurrences; 1 for an immediate payout.' }),
  next_run_at: nullable(
    Timestamp,
    'When the next occurrence runs; null if there is none, or the payout is paused or waits for approval.',
  ),
  approval: oneOf(
    ['none', 'waiting', 'approved', 'rejected'],
    named('PayoutApproval', '`none`: not needed. `waiting`: nothing is sent until an operator has decided.'),
  ),
};

const COUNTS = {
  successful_count: Type.Integer(),
  failed_count: Type.Integer(),
  pending_count: Type.Integer({
    description: 'The lines that are neither completed nor failed. The three counts add up to the number of lines.',
  }),
};

const BATCH_FIELDS = {
  batch_id: Text,
  ...ORDER_FIELDS,
  ...COUNTS,
  status: BatchStatus,
  retry_of: nullable(Text, 'The batch whose failed lines this batch pays again; null if it is not such a retry.'),
  created_at: Timestamp,
  completed_at: nullable(Timestamp),
};

export const PayoutAnswer = Type.Object(
  {
    success: Type.Boolean(),
    dry_run: Type.Literal(false, { description: 'Always false: the payout was made.' }),
    ...BATCH_FIELDS,
    beneficiaries: Type.Array(Line, {
      description: 'The lines of the first occurrence, in the order of the call.',
    }),
    message: Text,
    summary_code: Text,
  },
  named('PayoutAnswer'),
);

const PayoutCheckedAnswer = Type.Object(
  {
    success: Type.Boolean(),
    dry_run: Type.Literal(true, { description: 'Always true: nothing was made.' }),
    sufficient_funds: Type.Boolean({ description: 'Whether your available balance covers the first occurrence now.' }),
    ...ORDER_FIELDS,
    dates: nullable(Type.Array(DateText), 'The dates on which it would run; null if it would run at once.'),
    beneficiaries: Type.Array(
      Type.Object(
        {
          ...RECEIVER,
          amount: Amount,
          currency: CurrencyCode,
          fee_amount: Amount,
          carrier: nullable(Type.String({ description: 'The carrier that would pay it out; null for wallets.' })),
        },
        named('CheckedLine'),
      ),
    ),
    message: Text,
    summary_code: Text,
  },
  named('PayoutCheckedAnswer', 'The answer to a dry run: nothing was made.'),
);

/** What send answers. */
export const PayoutSentAnswer = Type.Union([PayoutAnswer, PayoutCheckedAnswer], named('PayoutSentAnswer'));

export const BatchesAnswer = Type.Object(
  {
    success: Type.Boolean(),
    payouts: Type.Array(Type.Object(BATCH_FIELDS, named('Batch'))),
    next_cursor: nullable(
      Type.String({
        description:
          'Send it as `cursor` to get the next page; a short page need not be the last. null on the last page.',
      }),
    ),
  },
  named('BatchesAnswer'),
);

export const BatchAnswer = Type.Object(
  {
    success: Type.Boolean(),
    ...BATCH_FIELDS,
    note: nullable(Text),
    frequency: nullable(Frequency),
    dates: nullable(Type.Array(DateText)),
    paused_at: nullable(Timestamp),
    cancelled_at: nullable(Timestamp),
    runs: Type.Array(
      Type.Object(
        {
          occurrence: Type.Integer(),
          scheduled_date: nullable(DateText),
          ...COUNTS,
          status: BatchStatus,
          completed_at: nullable(Timestamp),
        },
        named('BatchRun'),
      ),
      { description: 'The occurrences that have lines, in order.' },
    ),
    occurrence: Type.Integer({ description: 'The occurrence whose lines are in `beneficiaries`.' }),
    beneficiaries: Type.Array(
      Type.Object({ ...Line.properties, reason: nullable(Text), taken_after_all: TakenAfterAll }, named('BatchLine')),
    ),
  },
  named('BatchAnswer'),
);

const PayoutDetailAnswer = Type.Object(
  {
    success: Type.Boolean(),
    kind: oneOf(['payout'], 'This transaction is a payout line.'),
    transaction_id: Text,
    batch_id: Text,
    status: OutgoingStatus,
    amount: Amount,
    currency: CurrencyCode,
    fee_amount: Amount,
    total_amount: described(Amount, 'The amount plus the fee: what the line costs you, unless it fails.'),
    customer_reference: PayoutReference,
    receipt_mode: ReceiptMode,
    phone_number: Type.Optional(Type.String({ description: 'For mobile_money: the receiver’s number, masked.' })),
    wallet_number: Type.Optional(Text),
    carrier: nullable(Text),
    provider_reference: nullable(Text),
    occurrence: Type.Integer(),
    scheduled_date: nullable(DateText),
    reason: nullable(Type.String({ description: 'Why the line failed, or why it waits.' })),
    taken_after_all: TakenAfterAll,
    message: Text,
    created_at: Timestamp,
    started_at: nullable(Timestamp),
    completed_at: Type.Optional(Timestamp),
    timeline: Type.Array(
      Type.Object({ status: OutgoingStatus, at: Timestamp, reason: nullable(Text) }, named('LineTimelineEntry')),
    ),
  },
  named('PayoutLineDetail', 'A payout line.'),
);

/** A transaction in full: a payment, or a payout line. Sessions and backends get the same. */
export const TransactionDetailAnswer = Type.Union([DetailAnswer, PayoutDetailAnswer], {
  ...named('TransactionDetailAnswer'),
  ...discriminatedBy('kind', { payment: DetailAnswer, payout: PayoutDetailAnswer }),
});
