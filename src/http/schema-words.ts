/**
 * The small schemas that all others are made of.
 *
 * Invariant: what several requests or answers share is defined here, once; what only one of them uses is defined there.
 */

import { type TSchema, Type } from 'typebox';

export const Text = Type.String();

/** ISO 8601, UTC, milliseconds. */
export const Timestamp = Type.String({ format: 'date-time' });

/** The schema, or null; `description` is for both. */
export function nullable<T extends TSchema>(schema: T, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
}

/** One of a few words. Not for what may gain words without notice, such as a reason: clients are generated from this. */
export function oneOf(words: readonly string[], description?: string) {
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    description === undefined ? {} : { description },
  );
}

/** How the document writes an amount in a request. How many decimals there may be depends on the currency. */
export const AMOUNT_FORM = { type: 'string', pattern: '^(0|[1-9][0-9]{0,14})(\\.[0-9]+)?$' };

/** A code as a caller writes it: its form is checked where it is used. */
export const CurrencyCode = Type.String({ maxLength: 16, documentedAs: { type: 'string', pattern: '^[a-z]{3}$' } });

export const BoundAmount = Type.String({ description: 'The amount that the session binds, byte for byte.' });

export const TotalAmount = Type.String({ description: 'The amount, plus the fee if the buyer covers it.' });

export const MethodName = Type.Union([
  Type.Literal('wallet'),
  Type.Literal('mobile_money'),
  Type.Literal('card'),
  Type.Literal('flash'),
  Type.Literal('bank_transfer'),
  Type.Literal('google_pay'),
  Type.Literal('apple_pay'),
  Type.Literal('none'),
]);

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

export const PaymentStatusName = Type.Union(PAYMENT_STATUSES.map((status) => Type.Literal(status)));

const ENDS =
  'approved, declined, failed, cancelled, expired and refunded are final; only approved can still become refunded.';

/** Where a payment stands. */
export const PaymentStatus = oneOf(PAYMENT_STATUSES, `Where the payment stands: ${ENDS}`);

/** Where a payment or a payout line stands: one call reads both. */
export const AnyStatus = oneOf(
  [...PAYMENT_STATUSES, 'completed'],
  `Where the payment or the payout line stands. Of a payment, ${ENDS} A payout line is pending, processing, completed or failed; ` +
    'the last two are final.',
);

/** Where a payout line, or a refund, stands. */
export const OutgoingStatus = oneOf(
  ['pending', 'processing', 'completed', 'failed'],
  'completed and failed are final.',
);

/** An id in a path: none of ours is as long. */
export const PathId = Type.String({ maxLength: 512 });

/** The parameters of a path with one `id`; `description` says which. */
export function idParams(description: string) {
  return Type.Object({ id: Type.String({ ...PathId, description }) });
}

export const NextCursor = nullable(Text, 'Send it as `cursor` to get the next page; null on the last page.');
