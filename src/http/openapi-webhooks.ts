/**
 * The webhooks of the OpenAPI document: what we post to merchants, with its headers (contract §6).
 *
 * Invariant: bodies gain fields and lose none, so that no receiver has to be changed for a release.
 */

import { Type } from 'typebox';
import { PAYOUT_WEBHOOK_BODY, WEBHOOK_BODY } from './examples-money.ts';
import { withMeanings } from './field-meanings.ts';
import { nullable, Text, Timestamp } from './schema-words.ts';

type Json = { readonly [name: string]: unknown };

const ABOUT = { transaction_id: Text, customer_reference: Text };

const PaymentEvent = Type.Object({
  ...ABOUT,
  status: Type.String({ description: 'approved, declined, failed, cancelled, expired or refunded.' }),
  amount: Type.String({ description: 'The payment’s; of `refunded`, what this one refund gave back.' }),
  currency: Text,
  completed_at: Timestamp,
});

const PayoutEvent = Type.Object({
  event: Type.String({ description: '`payout.` and the status.' }),
  batch_id: Text,
  ...ABOUT,
  status: Type.String({ description: 'pending when it was made; completed or failed at its end.' }),
  amount: Text,
  fee_amount: Text,
  currency: Text,
  receipt_mode: Text,
  phone_number: Type.Optional(Type.String({ description: 'Of mobile money: who receives it, in E.164.' })),
  wallet_number: Type.Optional(nullable(Text, 'Of a wallet: which one receives it.')),
  occurrence: Type.Integer({ description: 'Which of the payout’s dates: 1, 2, …; 1 of an immediate one.' }),
  scheduled_date: nullable(Text, 'The date that it was due on; null for an immediate one.'),
  created_at: Timestamp,
  completed_at: nullable(Timestamp, 'Null while it is pending.'),
  message: Text,
});

const HEADERS: readonly (readonly [name: string, description: string])[] = [
  ['webhook-id', 'The event’s id, the same on every try: drop one that you have seen.'],
  ['webhook-timestamp', 'When this try was signed, in Unix seconds.'],
  ['webhook-signature', 'Standard Webhooks: `v1,` and the signature; two of them while a secret is being changed.'],
  ['webhook-event', 'For example `payment.approved` or `payout.completed`.'],
  [
    'webhook-sequence',
    '1, 2, … per transaction: a smaller one than you have seen tells of an older status. Count every `payment.refunded` all the same.',
  ],
];

/** Keyed by the first word of the event's name. */
export function webhookDescriptions(): Json {
  return {
    payment: posted('paymentEvent', 'A payment has become final, or was refunded', PaymentEvent, WEBHOOK_BODY),
    payout: posted('payoutEvent', 'A payout’s line was made, or is over', PayoutEvent, PAYOUT_WEBHOOK_BODY),
  };
}

function posted(operationId: string, summary: string, schema: object, example: Json): Json {
  return {
    post: {
      operationId,
      summary,
      tags: ['webhooks'],
      security: [],
      parameters: HEADERS.map(([name, description]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: { required: true, content: { 'application/json': { schema: withMeanings(schema), example } } },
      responses: {
        '2XX': {
          description: 'Taken. Anything that is not named here, or nothing, and it is posted again, for three days.',
        },
        '410': { description: 'Nobody wants it: it is never posted again.' },
      },
    },
  };
}
