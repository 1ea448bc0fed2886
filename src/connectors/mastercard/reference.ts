/**
 * The network's transaction ids of an attempt.
 *
 * Invariant: the same attempt gives the same ids, for ever. They are the network's idempotency keys: what is sent
 * again under them, by whatever accident, moves nothing a second time.
 */

import { isId } from '../../domain/ids.ts';

/** Of what moves money: PAY, REFUND or VOID. */
export function referenceFor(attemptId: string): string {
  return attemptId;
}

/** Of the customer's authentication. */
export function authenticationFor(attemptId: string): string {
  return `${attemptId}-3ds`;
}

/** The attempt behind one of the two. */
export function attemptOf(transactionId: string): string | undefined {
  const id = transactionId.endsWith('-3ds') ? transactionId.slice(0, -4) : transactionId;
  return isId('att', id) ? id : undefined;
}
