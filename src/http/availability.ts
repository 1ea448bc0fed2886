/**
 * The route that tells which methods and carriers work just now (contract §9).
 */

import { Type } from 'typebox';
import { isCurrency } from '../domain/currency.ts';
import { type Availabilities, openAvailability } from '../usecases/availability.ts';
import type { Deps } from '../usecases/deps.ts';
import { timestamp } from './present.ts';
import { defineRoute, type Route } from './route.ts';
import { nullable, Text } from './schema-words.ts';

const AvailabilityQuery = Type.Object({
  currency: Type.Optional(
    Type.String({ maxLength: 16, description: 'A lower-case ISO 4217 code; all of yours when absent.' }),
  ),
});

const AvailabilityAnswer = Type.Object({
  success: Type.Boolean(),
  checked_at: Type.String({ format: 'date-time', description: 'When the last calls were looked at.' }),
  services: Type.Array(
    Type.Object({
      use: Type.String({ description: '`payment`: your customers pay you by it. `payout`: you pay people by it.' }),
      method: Text,
      currency: Text,
      carrier: nullable(
        Text,
        'The carrier or card network, as its customers know it; null where it is the gateway’s own.',
      ),
      country: nullable(Text, 'Whose numbers the carrier serves, ISO 3166-1 alpha-2; null where it is no country’s.'),
      status: Type.String({ description: '`operational`, `degraded` or `down`.' }),
    }),
    { description: 'What you and your customers can use, and nothing else.' },
  ),
});

export function availabilityRoutes(deps: Deps): Route[] {
  const availability = openAvailability(deps);
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/availability',
      operationId: 'readAvailability',
      summary: 'Read what works just now',
      description:
        'Every carrier and the card network, by method and currency: `operational`; `degraded`, when a tenth of the last ' +
        'calls were not answered; `down`, when nine tenths were not, of three or more. The last calls are those of the ' +
        'last minute, or of five minutes where that says too little. Whom nobody has called is operational.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      allowConsumed: true,
      querystring: AvailabilityQuery,
      answers: { 200: AvailabilityAnswer },
      refusals: [1102, 1110],
      checkQuery: ({ currency }) =>
        currency === undefined || isCurrency(currency) ? [] : [{ field: 'currency', code: 'INVALID_CURRENCY' }],
      run: async (call) => {
        const { currency } = call.query;
        const wanted = isCurrency(currency) ? currency : undefined;
        return call.reply(200, present(await availability(call.caller.merchant, wanted)));
      },
    }),
  ];
}

function present({ at, services }: Availabilities) {
  return { success: true, checked_at: timestamp(at), services };
}
