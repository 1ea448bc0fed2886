/**
 * Schemas of what only payments by card have: the callback of the card network, and the reads that ask about its order.
 *
 * Invariant: as in all schemas, unknown fields are ignored, never refused.
 */

import { type Static, Type } from 'typebox';
import { named } from './components.ts';
import { nullable, PathId, Text } from './schema-words.ts';
import { STATUS_FIELDS } from './status-schemas.ts';

const Order = Type.String({ minLength: 1, maxLength: 255 });

export const CardCallbackBody = Type.Object(
  {
    order_id: Type.Optional(Order),
    transaction_id: Type.Optional(Order),
    result: Type.Optional(Type.String({ maxLength: 64, description: 'AUTHENTICATED, REJECTED or UNAVAILABLE.' })),
    timestamp: Type.Optional(
      Type.Union([Type.String({ pattern: '^[0-9]{1,12}$' }), Type.Integer({ minimum: 0 })], {
        description: 'When the callback was signed, in Unix seconds; at most five minutes ago.',
      }),
    ),
    nonce: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'A value of the sender’s choice, without a full stop; part of the signed text.',
      }),
    ),
    signature: Type.Optional(
      Type.String({
        maxLength: 255,
        description:
          'HMAC-SHA-256 over `timestamp.nonce.order_id.transaction_id.result`, in hexadecimal. The header ' +
          '`X-Cardnet-Signature` may carry it instead.',
      }),
    ),
    'order.id': Type.Optional(Type.String({ maxLength: 255, description: 'The network’s own order id.' })),
  },
  named('CardCallbackBody'),
);
export type CardCallbackBody = Static<typeof CardCallbackBody>;

/** The query of the return address that the gateway gave to the network. */
export const CardReturnQuery = Type.Object({
  t: Type.Optional(Type.String({ maxLength: 64 })),
  e: Type.Optional(Type.String({ maxLength: 16 })),
  n: Type.Optional(Type.String({ maxLength: 64 })),
  s: Type.Optional(Type.String({ maxLength: 64 })),
});

export const OrderParams = Type.Object({ order_id: PathId });

export const CheckStatusAnswer = Type.Object(
  {
    ...STATUS_FIELDS,
    upstream_status: nullable(
      Text,
      'The order’s status in the card network’s own terms; null if the network knows no such order, or was not asked.',
    ),
  },
  named('CheckStatusAnswer'),
);

export const CardStatusAnswer = Type.Object(
  {
    ...STATUS_FIELDS,
    three_ds: Type.Object(
      {
        status: nullable(Type.String({ description: 'The result, in the card network’s own terms.' })),
        eci: nullable(Type.String({ description: 'Electronic commerce indicator (EMV 3-D Secure).' })),
        challenge_url: nullable(
          Type.String({ description: 'The URL of the issuer’s challenge; null if none is open.' }),
        ),
      },
      named('ThreeDs'),
    ),
  },
  named('CardStatusAnswer'),
);
