/**
 * The currencies that a merchant may use.
 *
 * Invariant: a merchant without a list of its own may use every currency that the gateway serves.
 */

import { isCurrency } from './currency.ts';
import type { Merchant } from './records.ts';
import type { RefusalDetail } from './refusal.ts';

/** What is wrong with a currency, if one was named: unknown, or not one of the merchant's (1102). */
export function currencyFault(
  field: string,
  currency: string | null | undefined,
  { settings }: Merchant,
): RefusalDetail | undefined {
  if (currency === undefined || currency === null) return undefined;
  if (!isCurrency(currency)) return { field, code: 'INVALID_CURRENCY' };
  if (settings.currencies === undefined || settings.currencies.includes(currency)) return undefined;
  return { field, code: 'CURRENCY_NOT_ALLOWED', words: { currencies: settings.currencies.join(', ') } };
}
