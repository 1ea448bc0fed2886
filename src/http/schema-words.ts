/**
 * The small schemas that all others are made of.
 *
 * Invariant: what several requests or answers share is defined here, once; what only one of them uses is defined there.
 */

import { type TLiteral, type TSchema, type TSchemaOptions, type TUnion, Type } from 'typebox';
import { named } from './components.ts';

export const Text = Type.String();

export const DateText = Type.String({
  format: 'date',
  description: 'A calendar date in ISO 8601, for example `2026-11-30`.',
});

/** ISO 8601, UTC, milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

/** The schema, or null; `description` is for both. */
export function nullable<T extends TSchema>(schema: T, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** The same schema, described otherwise: for a named one whose place has a meaning of its own. */
export function described<T extends TSchema>(schema: T, description: string): T {
  return Type.With(schema, { description }) as T;
}

/**
 * One of a few words, with a description or with options. Not for what may gain words without notice, such as a reason: clients
 * are generated from this.
 */
export function oneOf<const Word extends string>(words: readonly Word[], about: string | TSchemaOptions = {}) {
  const literals = words.map((word) => Type.Literal(word));
  // The type says one literal of all words, because TypeBox has none for a list whose length is not known.
  return Type.Union(literals, typeof about === 'string' ? { description: about } : about) as TUnion<[TLiteral<Word>]>;
}

/** How the document writes an amount in a request. How many decimals there may be depends on the currency. */
export const AMOUNT_FORM = { type: 'string', pattern: '^(0|[1-9][0-9]{0,14})(\\.[0-9]+)?$' };

/** A code as a caller writes it: its form is checked where it is used. */
export const CurrencyCode = Type.String({
  ...named('CurrencyCode', 'A lower-case ISO 4217 code, for example `usd`.'),
  maxLength: 16,
  documentedAs: { type: 'string', pattern: '^[a-z]{3}$' },
});

/** An amount in an answer. Its name has a description, and each field one of its own. */
export const Amount = Type.String({
  component: named('Amount', 'A decimal string in the currency’s main unit, for example `12.50`.').component,
  pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$',
});

/** An amount that may be below zero. */
export const SignedAmount = Type.String({
  ...named('SignedAmount', 'A decimal string; negative if money left the balance.'),
  pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$',
});

export const BoundAmount = described(Amount, 'The amount that the session binds, byte for byte.');

export const TotalAmount = described(Amount, 'The amount, plus the fee if the buyer covers it.');

export const MethodName = oneOf(
  ['wallet', 'mobile_money', 'card', 'flash', 'bank_transfer', 'google_pay', 'apple_pay', 'none'],
  named(
    'PaymentMethod',
    'The method that pays: `wallet`, `mobile_money`, `card`, `flash`, `bank_transfer`, `google_pay` or `apple_pay`; ' +
      '`none` as long as none has been chosen.',
  ),
);

export const FeeCoveredBy = oneOf(
  ['buyer', 'merchant'],
  named(
    'FeeCoveredBy',
    '`buyer`: the fee is added to what the customer pays. `merchant`: the fee is deducted from what you receive.',
  ),
);

export const DeliveryBehaviour = oneOf(
  ['direct_delivery', 'delayed_delivery'],
  named(
    'DeliveryBehaviour',
    '`direct_delivery`: the money is available to you at once. `delayed_delivery`: it is held until you release it.',
  ),
);

const PAYMENT_STATUSES = [
  'pending',
  'processing',
  'pending_otp_verification',
  'pending_mobile_money_verification',
  'pendingBankProofUpload',
  'approved',
  'declined',
  'failed',
  'cancelled',
  'expired',
  'refunded',
] as const;

const ENDS =
  'approved, declined, failed, cancelled, expired and refunded are final; only approved can still become refunded.';

/** Where a payment stands. */
export const PaymentStatus = oneOf(PAYMENT_STATUSES, named('PaymentStatus', `Where the payment stands: ${ENDS}`));

/** Where a payment or a payout line stands: one call reads both. */
export const AnyStatus = oneOf(
  [...PAYMENT_STATUSES, 'completed'],
  named(
    'TransactionStatus',
    `Where the payment or the payout line stands. Of a payment, ${ENDS} A payout line is pending, processing, completed or ` +
      'failed; the last two are final.',
  ),
);

/** Where a payout line, or a refund, stands. */
export const OutgoingStatus = oneOf(
  ['pending', 'processing', 'completed', 'failed'],
  named('OutgoingStatus', 'completed and failed are final.'),
);

export const TakenAfterAll = Type.Boolean({
  description:
    'Whether an upstream has taken this up although it was reported as failed: it has been paid, or that is not certain yet. ' +
    'Do not pay it another way. It is of this one alone: where a payout line pays another one again, look at both.',
});

export const PayoutReference = Type.String({ description: 'Your own name for the payout.' });

export const ReceiptMode = oneOf(
  ['mobile_money', 'wallet'],
  named('ReceiptMode', 'How all beneficiaries receive their money.'),
);

/** An id in a path: none of ours is as long. */
export const PathId = Type.String({ maxLength: 512 });

/** The parameters of a path with one `id`; `description` says which. */
export function idParams(description: string) {
  return Type.Object({ id: Type.String({ ...PathId, description }) });
}

export const NextCursor = nullable(Text, 'Send it as `cursor` to get the next page; null on the last page.');
