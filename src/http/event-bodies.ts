/**
 * Schemas of what we post to merchants (contract §6).
 *
 * Invariant: bodies gain fields and lose none, so that no receiver has to be changed for a release.
 */

import { Type } from 'typebox';
import { named } from './components.ts';
import {
  Amount,
  CurrencyCode,
  DateText,
  described,
  nullable,
  oneOf,
  PayoutReference,
  ReceiptMode,
  Text,
  Timestamp,
} from './schema-words.ts';

/** Every type that an event can have: the final states of payments, refunds, and the states of which payouts tell. */
export const EVENT_TYPES = [
  'payment.approved',
  'payment.declined',
  'payment.failed',
  'payment.cancelled',
  'payment.expired',
  'payment.refunded',
  'payout.pending',
  'payout.completed',
  'payout.failed',
] as const;

/** What an event is about: the first word of its type. */
export type About = 'payment' | 'payout';

/** The types that an event about it can have. */
export function typesOf(about: About) {
  const name = about === 'payment' ? 'PaymentEventType' : 'PayoutEventType';
  return oneOf(
    EVENT_TYPES.filter((type) => type.startsWith(`${about}.`)),
    named(name, 'The type of the event.'),
  );
}

export const PaymentEvent = Type.Object(
  {
    transaction_id: Text,
    customer_reference: Text,
    status: oneOf(
      ['approved', 'declined', 'failed', 'cancelled', 'expired', 'refunded'],
      named('PaymentEventStatus', 'What became of the payment.'),
    ),
    amount: described(Amount, 'The payment’s amount; with the status `refunded`, what this one refund returned.'),
    currency: CurrencyCode,
    completed_at: Timestamp,
  },
  named('PaymentEvent'),
);

export const PayoutEvent = Type.Object(
  {
    event: described(typesOf('payout'), '`payout.` followed by the status.'),
    batch_id: Text,
    transaction_id: Text,
    customer_reference: PayoutReference,
    status: oneOf(
      ['pending', 'completed', 'failed'],
      named('PayoutEventStatus', 'pending when the line is made; completed or failed when it is final.'),
    ),
    amount: Amount,
    fee_amount: Amount,
    currency: CurrencyCode,
    receipt_mode: ReceiptMode,
    phone_number: Type.Optional(Type.String({ description: 'For mobile_money: the receiver’s number in E.164.' })),
    wallet_number: Type.Optional(Type.String({ description: 'For wallet: the number of the receiver’s wallet.' })),
    occurrence: Type.Integer({
      description: 'The number of the payout’s occurrence: 1, 2, …; 1 for an immediate payout.',
    }),
    scheduled_date: nullable(DateText, 'The date of the occurrence; null for an immediate payout.'),
    created_at: Timestamp,
    completed_at: nullable(Timestamp, 'When the line became final; null while it is pending.'),
    message: Text,
  },
  named('PayoutEvent'),
);
