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

/** A code as a caller writes it: its form is checked where it is used. */
export const CurrencyCode = Type.String({ maxLength: 16 });

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

/** An id in a path: none of ours is as long. */
export const PathId = Type.String({ maxLength: 512 });
export const IdParams = Type.Object({ id: PathId });

export const NextCursor = nullable(Text, 'Send it as `cursor` to get the next page; null on the last page.');
