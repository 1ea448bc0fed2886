/**
 * The route that tells which methods and carriers work just now (contract §9).
 */

import { Type } from 'typebox';
import { isCurrency } from '../domain/currency.ts';
import { type Availabilities, openAvailability } from '../usecases/availability.ts';
import type { Deps } from '../usecases/deps.ts';
import { named } from './components.ts';
import { currencyFaults } from './list-query.ts';
import { timestamp } from './present.ts';
import { defineRoute, type Route } from './route.ts';
import { CurrencyCode, described, MethodName, nullable, oneOf, Text } from './schema-words.ts';

const AvailabilityQuery = Type.Object({
  currency: Type.Optional(
    described(CurrencyCode, 'A lower-case ISO 4217 code. Default: every currency that you may use.'),
  ),
});

const AvailabilityAnswer = Type.Object(
  {
    success: Type.Boolean(),
    checked_at: Type.String({ format: 'date-time', description: 'When the recent calls to the upstreams were read.' }),
    services: Type.Array(
      Type.Object(
        {
          use: oneOf(
            ['payment', 'payout'],
            named(
              'ServiceUse',
              '`payment`: your customers can pay you this way. `payout`: you can pay people this way.',
            ),
          ),
          method: described(MethodName, 'The payment method.'),
          currency: CurrencyCode,
          carrier: nullable(
            Text,
            'The carrier or card network, as its customers know it; null if the gateway itself moves the money.',
          ),
          country: nullable(
            Text,
            'The country whose numbers the carrier serves, as ISO 3166-1 alpha-2; null if the service belongs to no country.',
          ),
          status: oneOf(['operational', 'degraded', 'down'], named('ServiceStatus', 'Judged by the last calls to it.')),
        },
        named('Service'),
      ),
      { description: 'Only what you and your customers may use.' },
    ),
  },
  named('AvailabilityAnswer'),
);

/** `GET /internal/availability`, for a merchant's backend. */
export function availabilityRoutes(deps: Deps): Route[] {
  const availability = openAvailability(deps);
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/availability',
      operationId: 'readAvailability',
      summary: 'Read which methods are available',
      description:
        'Every carrier and the card network, by method and currency, judged by the gateway’s recent calls to it. `degraded`: ' +
        'at least a tenth of the calls were not answered. `down`: at least nine tenths, and at least three, were not. ' +
        '`operational`: anything else, also when there were no calls. Recent calls are those of the last minute, or of the ' +
        'last five if there are too few. If none of those was answered, calls of the last hour that are still unanswered ' +
        'count too.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'read',
      querystring: AvailabilityQuery,
      answers: { 200: AvailabilityAnswer },
      refusals: [1102, 1110],
      checkQuery: currencyFaults,
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
