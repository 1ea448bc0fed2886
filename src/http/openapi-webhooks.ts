/**
 * The webhooks of the OpenAPI document: what we post to merchants, with its headers (contract §6).
 *
 * Invariant: the types that a webhook's header lists are those whose body it has.
 */

import { asDocumented } from './documented.ts';
import { type About, PaymentEvent, PayoutEvent, typesOf } from './event-bodies.ts';
import { PAYOUT_WEBHOOK_BODY, WEBHOOK_BODY } from './examples-money.ts';
import { withMeanings } from './field-meanings.ts';
import type { Json } from './json-node.ts';

const TEXT: Json = { type: 'string' };
const NUMBER: Json = { type: 'integer', minimum: 1 };
const SECONDS: Json = { ...NUMBER, format: 'int64' };

/** Those of an event about a payment, or about a payout line. */
function headersOf(about: About): readonly (readonly [name: string, schema: Json, description: string])[] {
  return [
    ['webhook-id', TEXT, 'The event’s id, the same on every try: ignore an id that you have already processed.'],
    ['webhook-timestamp', SECONDS, 'When this try was signed, in Unix seconds.'],
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

/** The `webhooks` of the document, by name: `payment`, of payments and their refunds, and `payout`, of a payout's lines. */
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
