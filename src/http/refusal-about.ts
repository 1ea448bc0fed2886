/**
 * Which payment a refusal is about that was made before the payment was read.
 *
 * Invariant: another merchant's payment is never named, nor is its existence shown.
 */

import type { Refusal } from '../domain/refusal.ts';
import type { MerchantCaller, SessionCaller } from '../usecases/callers.ts';
import { isJson } from './json-node.ts';
import type { Route } from './route.ts';

/** Finds out which payment a refused call was about. */
export interface PaymentsKnown {
  /** The transaction behind an id that a caller has named; undefined if it is none of its merchant's payments. */
  transactionOf(caller: MerchantCaller | SessionCaller, id: string): Promise<string | undefined>;
}

const NAMES = ['payment_id', 'transaction_id'] as const;

/** The payment's id in a body, on a route that takes one. */
export function paymentIdIn({ body: schema }: Pick<Route, 'body'>, body: unknown): string | undefined {
  if (!isJson(schema) || !isJson(schema.properties) || !isJson(body)) return undefined;
  const { properties } = schema;
  const name = NAMES.find((one) => one in properties);
  const id = name === undefined ? undefined : body[name];
  return typeof id === 'string' ? id : undefined;
}

/** A refusal of a body names the payment that the body is about, if it is one of the caller's (contract §2). */
export async function aboutPayment(
  parts: PaymentsKnown,
  caller: MerchantCaller | SessionCaller | undefined,
  refusal: Refusal,
  paymentId: string | undefined,
): Promise<Refusal> {
  if (paymentId === undefined || caller === undefined) return refusal;
  const transactionId = await parts.transactionOf(caller, paymentId);
  return transactionId === undefined ? refusal : refusal.about(transactionId);
}
