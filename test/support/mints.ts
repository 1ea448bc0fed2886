/**
 * Mints as tests send them, valid and invalid.
 *
 * Invariant: exactly what the test gives is sent, and nothing is expected of the answer here.
 */

import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { bearerOf } from './flows.ts';
import type { Answer, CallOptions, World } from './world.ts';

/** The body of a mint that succeeds. */
export const MINT = { amount: '12.50', currency: 'usd', customer_reference: 'order-1' };

/** Sends a mint as that merchant's backend. */
export function sendMint(
  world: World,
  merchant: Pick<MerchantCreated, 'key_id' | 'secret'>,
  options: Omit<CallOptions, 'bearer'>,
): Promise<Answer> {
  return world.call('POST', '/internal/sessions/create', { ...options, bearer: bearerOf(merchant) });
}
