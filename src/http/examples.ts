/**
 * One example for each call: what is sent, and what is answered. The OpenAPI document carries them, and so does everything that
 * is derived from it.
 *
 * Invariant: an example is a call that succeeds. Tests hold each against its schema, and demand one of every route.
 */

import type { Example } from './example.ts';
import { MONEY_EXAMPLES } from './examples-money.ts';
import { PAYMENT_EXAMPLES } from './examples-payments.ts';

/** The example of a call; undefined for a route that has none. */
export function exampleOf(operationId: string): Example | undefined {
  return EXAMPLES.get(operationId);
}

const EXAMPLES: ReadonlyMap<string, Example> = new Map(
  Object.entries<Example>({ ...PAYMENT_EXAMPLES, ...MONEY_EXAMPLES }),
);
