/**
 * The network's transaction ids of an attempt.
 *
 * Invariant: the same attempt gives the same ids, for ever. They are the network's idempotency keys: a request that is
 * accidentally sent again under them moves nothing a second time.
 */

import { isId } from '../../domain/ids.ts';

/** The id of an operation that moves money: PAY or REFUND. */
export function referenceFor(attemptId: string): string {
  return attemptId;
}

/** The id of the customer's authentication. */
export function authenticationFor(attemptId: string): string {
  return `${attemptId}-3ds`;
}

/** The attempt behind either id. */
export function attemptOf(transactionId: string): string | undefined {
  const id = transactionId.endsWith('-3ds') ? transactionId.slice(0, -4) : transactionId;
  return isId('att', id) ? id : undefined;
}
