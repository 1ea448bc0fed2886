/**
 * Which payment a refusal is about that was made before the payment was read.
 *
 * Invariant: another merchant's payment is never named, nor is its existence shown.
 */

import type { Refusal } from '../domain/refusal.ts';
import type { MerchantCaller, SessionCaller } from '../usecases/callers.ts';
import { hasFields, isText } from '../usecases/stored-json.ts';
import type { Route } from './route.ts';

export interface PaymentsKnown {
  /** The transaction behind a payment_id that a session has named; undefined if it is none of its merchant's. */
  transactionOf(caller: SessionCaller, paymentId: string): Promise<string | undefined>;
}

/** The payment_id in a body, on a route that takes one. */
export function paymentIdIn({ body: schema }: Pick<Route, 'body'>, body: unknown): string | undefined {
  const takesOne = hasFields(schema) && hasFields(schema.properties) && 'payment_id' in schema.properties;
  return takesOne && hasFields(body) && isText(body.payment_id) ? body.payment_id : undefined;
}

/** A refusal of a body names the payment that the body is about, if it is one of the caller's (contract §2). */
export async function aboutPayment(
  parts: PaymentsKnown,
  caller: MerchantCaller | SessionCaller | undefined,
  refusal: Refusal,
  paymentId: string | undefined,
): Promise<Refusal> {
  if (paymentId === undefined || caller?.kind !== 'session') return refusal;
  const transactionId = await parts.transactionOf(caller, paymentId);
  return transactionId === undefined ? refusal : refusal.about(transactionId);
}
