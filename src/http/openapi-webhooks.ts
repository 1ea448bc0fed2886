/**
 * The webhooks of the OpenAPI document: what we post to merchants, with its headers (contract §6).
 *
 * Invariant: bodies gain fields and lose none, so that no receiver has to be changed for a release.
 */

import { Type } from 'typebox';
import { asDocumented } from './documented.ts';
import { EVENT_TYPES } from './event-schemas.ts';
import { PAYOUT_WEBHOOK_BODY, WEBHOOK_BODY } from './examples-money.ts';
import { withMeanings } from './field-meanings.ts';
import { nullable, oneOf, Text, Timestamp } from './schema-words.ts';

type Json = { readonly [name: string]: unknown };

const ABOUT = { transaction_id: Text, customer_reference: Text };

const PaymentEvent = Type.Object({
  ...ABOUT,
  status: oneOf(['approved', 'declined', 'failed', 'cancelled', 'expired', 'refunded'], 'What became of the payment.'),
  amount: Type.String({
    description: 'The payment’s amount; with the status `refunded`, what this one refund returned.',
  }),
  currency: Text,
  completed_at: Timestamp,
});

const PayoutEvent = Type.Object({
  event: oneOf(['payout.pending', 'payout.completed', 'payout.failed'], '`payout.` followed by the status.'),
  batch_id: Text,
  ...ABOUT,
  status: oneOf(
    ['pending', 'completed', 'failed'],
    'pending when the line is made; completed or failed when it is final.',
  ),
  amount: Text,
  fee_amount: Text,
  currency: Text,
  receipt_mode: oneOf(['mobile_money', 'wallet']),
  phone_number: Type.Optional(Type.String({ description: 'For mobile_money: the receiver’s number in E.164.' })),
  wallet_number: Type.Optional(nullable(Text, 'For wallet: the number of the receiver’s wallet.')),
  occurrence: Type.Integer({
    description: 'The number of the payout’s occurrence: 1, 2, …; 1 for an immediate payout.',
  }),
  scheduled_date: nullable(Text, 'The date of the occurrence; null for an immediate payout.'),
  created_at: Timestamp,
  completed_at: nullable(Timestamp, 'When the line became final; null while it is pending.'),
  message: Text,
});

const TEXT: Json = { type: 'string' };
const NUMBER: Json = { type: 'integer', minimum: 1 };

/** `types` are those that the event can have. */
function headersOf(types: readonly string[]): readonly (readonly [name: string, schema: Json, description: string])[] {
  return [
    ['webhook-id', TEXT, 'The event’s id, the same on every try: ignore an id that you have already processed.'],
    ['webhook-timestamp', NUMBER, 'When this try was signed, in Unix seconds.'],
    [
      'webhook-signature',
      TEXT,
      'Standard Webhooks: `v1,` and the signature; while a secret is being rotated there are two, separated by a space.',
    ],
    ['webhook-event', { type: 'string', enum: types }, 'The type of the event.'],
    [
      'webhook-sequence',
      NUMBER,
      '1, 2, … per transaction: a number lower than one you have seen reports an older status. But count every `payment.refunded`.',
    ],
  ];
}

/** Keyed by the first word of the event's name. */
export function webhookDescriptions(): Json {
  return {
    payment: posted('payment', 'A payment is final, or has been refunded', PaymentEvent, WEBHOOK_BODY),
    payout: posted('payout', 'A payout line is made, or is final', PayoutEvent, PAYOUT_WEBHOOK_BODY),
  };
}

/** `about` is the first word of the events' names. */
function posted(about: string, summary: string, schema: object, example: Json): Json {
  return {
    post: {
      operationId: `${about}Event`,
      summary,
      tags: ['webhooks'],
      security: [],
      parameters: headersOf(EVENT_TYPES.filter((type) => type.startsWith(`${about}.`))).map(
        ([name, schema, description]) => ({ name, in: 'header', required: true, description, schema }),
      ),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: withMeanings(asDocumented(schema)), example } },
      },
      responses: {
        '2XX': {
          description:
            'The event is acknowledged. If the receiver answers anything else, or nothing, the event is sent again, for ' +
            'three days.',
        },
        '410': { description: 'The receiver no longer wants the event: no further try follows.' },
      },
    },
  };
}
