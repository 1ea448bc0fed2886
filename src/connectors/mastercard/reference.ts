/**
 * The network's transaction ids of an attempt.
 *
 * Invariant: the same attempt gives the same ids, for ever. They are the network's idempotency keys: a request that is
 * accidentally sent again under them moves nothing a second time.
 */

import { hash } from 'node:crypto';
import { isId } from '../../domain/ids.ts';
import type { MastercardConfig } from './client.ts';

/** The id of an operation that moves money: PAY or REFUND. */
export function referenceFor(attemptId: string): string {
  return attemptId;
}

/** The id of the customer's authentication. */
export function authenticationFor(attemptId: string): string {
  return `${attemptId}-3ds`;
}

/** Which merchant id of ours the ids are within, at which host: a hash, as attempts keep it. */
export function accountOf({ baseUrl, merchantId }: Pick<MastercardConfig, 'baseUrl' | 'merchantId'>): string {
  return hash('sha256', [new URL(baseUrl).hostname, merchantId].join('\n'), 'hex').slice(0, 16);
}

/** The attempt behind either id. */
export function attemptOf(transactionId: string): string | undefined {
  const id = transactionId.endsWith('-3ds') ? transactionId.slice(0, -4) : transactionId;
  return isId('att', id) ? id : undefined;
}
