/**
 * Fields of the network's JSON: looked up by path, and compared with what was ordered.
 *
 * Invariant: a field that is absent, of another type, or not one of their terms is undefined; nothing that could carry a card
 * number or a secret passes as a term.
 */

import type { Currency } from '../../domain/currency.ts';
import { isJsonObject, minorOf } from '../response.ts';

/** The value at a path such as `order.amount`. */
export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** One of their terms, safe to compare, to store and to log. */
export function termAt(body: unknown, path: string): string | undefined {
  const value = valueAt(body, path);
  return typeof value === 'string' && /^[A-Z][A-Z0-9_]{0,79}$/.test(value) ? value : undefined;
}

/** A text without control characters, at most that long. */
export function textAt(body: unknown, path: string, longest: number): string | undefined {
  const value = valueAt(body, path);
  if (typeof value !== 'string' || value === '' || value.length > longest) return undefined;
  return /[\p{Cc}\p{Cs}]/u.test(value) ? undefined : value;
}

/** What was ordered, as far as an answer is compared with it. */
export interface Ordered {
  readonly operation: 'PAY' | 'REFUND';
  readonly orderId: string;
  readonly transactionId: string;
  readonly amountMinor: bigint;
  readonly currency: Currency;
}

/** The first field in which an answer about a transaction differs from the order. A refund's amount is not its order's. */
export function differenceFrom(ordered: Ordered, body: unknown): string | undefined {
  if (valueAt(body, 'order.id') !== ordered.orderId) return 'order.id';
  if (valueAt(body, 'transaction.id') !== ordered.transactionId) return 'transaction.id';
  if (!isOfType(ordered, termAt(body, 'transaction.type'))) return 'transaction.type';
  return amountDifference(ordered, body, 'transaction');
}

/**
 * A transaction that took money never counts as giving it back, nor the reverse. They have several terms for taking, or send
 * none.
 */
function isOfType({ operation }: Ordered, type: string | undefined): boolean {
  if (operation === 'REFUND') return type === 'REFUND';
  return type !== 'REFUND' && type?.startsWith('VOID') !== true;
}

/** The field in which their amount or currency differs from what was ordered; a missing one differs. Undefined: neither. */
export function amountDifference(
  ordered: Pick<Ordered, 'amountMinor' | 'currency'>,
  body: unknown,
  where: 'order' | 'transaction',
): string | undefined {
  if (valueAt(body, `${where}.currency`) !== ordered.currency.toUpperCase()) return `${where}.currency`;
  const same = minorOf(valueAt(body, `${where}.amount`), ordered.currency) === ordered.amountMinor;
  return same ? undefined : `${where}.amount`;
}
