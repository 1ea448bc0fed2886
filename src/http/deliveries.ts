/**
 * The route that releases delayed deliveries (contract §9).
 */

import type { Released } from '../domain/delivery.ts';
import { releaseForMerchant } from '../usecases/delivery-release.ts';
import type { Deps } from '../usecases/deps.ts';
import { presentReleased } from './present.ts';
import { defineRoute, type Route } from './route.ts';
import { ReleasedAnswer, TransactionParams } from './schemas.ts';

/** `POST /internal/deliveries/{transaction_id}/release`, for a merchant's backend. */
export function deliveryRoutes(deps: Deps): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/deliveries/:transaction_id/release',
      operationId: 'releaseDelivery',
      summary: 'Release a delayed delivery',
      description:
        'Moves the money of an approved payment with `delayed_delivery` from your held to your available balance. It is ' +
        'released only once: a repeated call gets the same answer.',
      credential: 'merchant',
      limit: 'none',
      loadClass: 'begin',
      params: TransactionParams,
      answers: { 200: ReleasedAnswer },
      refusals: [1203, 1204, 1205],
      run: (call) =>
        releaseForMerchant(
          deps,
          call.caller,
          call.params.transaction_id,
          call.answering((released: Released) => ({ status: 200, value: presentReleased(released, call.language) })),
        ),
    }),
  ];
}
