/**
 * The webhooks of the OpenAPI document: what we post to merchants, with its headers (contract §6).
 *
 * Invariant: bodies gain fields and lose none, so that no receiver has to be changed for a release.
 */

import { Type } from 'typebox';
import { named } from './components.ts';
import { asDocumented } from './documented.ts';
import { EVENT_TYPES } from './event-schemas.ts';
import { PAYOUT_WEBHOOK_BODY, WEBHOOK_BODY } from './examples-money.ts';
import { withMeanings } from './field-meanings.ts';
import { Amount, CurrencyCode, described, nullable, oneOf, ReceiptMode, Text, Timestamp } from './schema-words.ts';

type Json = { readonly [name: string]: unknown };

/** What an event is about: the first word of its type. */
type About = 'payment' | 'payout';

/** The types that an event about it can have. */
function typesOf(about: About) {
  const name = about === 'payment' ? 'PaymentEventType' : 'PayoutEventType';
  return oneOf(
    EVENT_TYPES.filter((type) => type.startsWith(`${about}.`)),
    named(name, 'The type of the event.'),
  );
}

const ABOUT = { transaction_id: Text, customer_reference: Text };

const PaymentEvent = Type.Object(
  {
    ...ABOUT,
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

const PayoutEvent = Type.Object(
  {
    event: described(typesOf('payout'), '`payout.` followed by the status.'),
    batch_id: Text,
    ...ABOUT,
    status: oneOf(
      ['pending', 'completed', 'failed'],
      named('PayoutEventStatus', 'pending when the line is made; completed or failed when it is final.'),
    ),
    amount: Amount,
    fee_amount: Amount,
    currency: CurrencyCode,
    receipt_mode: ReceiptMode,
    phone_number: Type.Optional(Type.String({ description: 'For mobile_money: the receiver’s number in E.164.' })),
    wallet_number: Type.Optional(nullable(Text, 'For wallet: the number of the receiver’s wallet.')),
    occurrence: Type.Integer({
      description: 'The number of the payout’s occurrence: 1, 2, …; 1 for an immediate payout.',
    }),
    scheduled_date: nullable(Text, 'The date of the occurrence; null for an immediate payout.'),
    created_at: Timestamp,
    completed_at: nullable(Timestamp, 'When the line became final; null while it is pending.'),
    message: Text,
  },
  named('PayoutEvent'),
);

const TEXT: Json = { type: 'string' };
const NUMBER: Json = { type: 'integer', minimum: 1 };

/** Those of an event about a payment, or about a payout line. */
function headersOf(about: About): readonly (readonly [name: string, schema: Json, description: string])[] {
  return [
    ['webhook-id', TEXT, 'The event’s id, the same on every try: ignore an id that you have already processed.'],
    ['webhook-timestamp', NUMBER, 'When this try was signed, in Unix seconds.'],
    [
      'webhook-signature',
      TEXT,
      'Standard Webhooks: `v1,` and the signature; while a secret is being rotated there are two, separated by a space.',
    ],
    ['webhook-event', asDocumented(typesOf(about)), 'The type of the event.'],
    [
      'webhook-sequence',
      NUMBER,
      '1, 2, … per transaction: a number lower than one you have seen reports an older status. But count every `payment.refunded`.',
    ],
  ];
}

export function webhookDescriptions(): Json {
  return {
    payment: posted('payment', 'A payment is final, or has been refunded', PaymentEvent, WEBHOOK_BODY),
    payout: posted('payout', 'A payout line is made, or is final', PayoutEvent, PAYOUT_WEBHOOK_BODY),
  };
}

function posted(about: About, summary: string, schema: object, example: Json): Json {
  return {
    post: {
      operationId: `${about}Event`,
      summary,
      tags: ['webhooks'],
      security: [],
      parameters: headersOf(about).map(([name, schema, description]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema,
      })),
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
