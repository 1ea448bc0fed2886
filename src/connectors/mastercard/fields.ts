/**
 * Fields of the network's JSON: looked up by path, and compared with what was ordered.
 *
 * Invariant: what is absent, of another type, or no word of theirs is undefined; nothing that could carry a card
 * number or a secret is taken for a word.
 */

import type { Currency } from '../../domain/currency.ts';
import { parsePaddedAmount } from '../../domain/money.ts';

export type Body = { readonly [field: string]: unknown };

export function isBody(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path such as `order.amount`. */
export function valueAt(body: unknown, path: string): unknown {
  let value = body;
  for (const name of path.split('.')) {
    if (!isBody(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

/** A word of theirs, safe to compare, to keep and to log. */
export function wordAt(body: unknown, path: string): string | undefined {
  const value = valueAt(body, path);
  return typeof value === 'string' && /^[A-Z][A-Z0-9_]{0,79}$/.test(value) ? value : undefined;
}

/** A text that can be written, without control characters, at most that long. */
export function textAt(body: unknown, path: string, longest: number): string | undefined {
  const value = valueAt(body, path);
  if (typeof value !== 'string' || value === '' || value.length > longest) return undefined;
  return /[\p{Cc}\p{Cs}]/u.test(value) ? undefined : value;
}

/** What was ordered, as far as an answer is compared with it. */
export interface Ordered {
  readonly operation: 'PAY' | 'REFUND' | 'VOID';
  readonly orderId: string;
  readonly transactionId: string;
  readonly amountMinor: bigint;
  readonly currency: Currency;
}

/** The first thing in which an answer about a transaction differs from the order. A refund's amount is not its order's. */
export function differenceFrom(ordered: Ordered, body: unknown): string | undefined {
  if (valueAt(body, 'order.id') !== ordered.orderId) return 'order.id';
  if (valueAt(body, 'transaction.id') !== ordered.transactionId) return 'transaction.id';
  if (!isOfType(ordered, wordAt(body, 'transaction.type'))) return 'transaction.type';
  return amountDifference(ordered, body, 'transaction');
}

/** What took money never counts as giving it back, nor the reverse. They have several words for the former, also none. */
function isOfType({ operation }: Ordered, type: string | undefined): boolean {
  const isVoid = type?.startsWith('VOID') === true;
  if (operation === 'VOID') return isVoid;
  return operation === 'REFUND' ? type === 'REFUND' : type !== 'REFUND' && !isVoid;
}

/** Whether an amount or currency of theirs is another one than was ordered; one that is not there is another one. */
export function amountDifference(
  ordered: Pick<Ordered, 'amountMinor' | 'currency'>,
  body: unknown,
  where: 'order' | 'transaction',
): string | undefined {
  if (valueAt(body, `${where}.currency`) !== ordered.currency.toUpperCase()) return `${where}.currency`;
  const same = minorOf(valueAt(body, `${where}.amount`), ordered.currency) === ordered.amountMinor;
  return same ? undefined : `${where}.amount`;
}

/** They write `12.50` as the JSON number 12.5; its shortest decimal text is exact for every amount they take. */
function minorOf(amount: unknown, currency: Currency): bigint | undefined {
  return parsePaddedAmount(typeof amount === 'number' ? String(amount) : amount, currency)?.minor;
}
