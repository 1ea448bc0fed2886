/**
 * Payment methods: their ids, what a merchant offers for a payment, and limits on amounts.
 *
 * A method's id is derived from the merchant's, so that nothing has to be stored; a method's own name is accepted in
 * its place (contract §4).
 */

import { type Currency, exponentOf } from './currency.ts';
import { bytesOfId, idOfBytes } from './ids.ts';
import { formatMinor } from './money.ts';
import { PAYMENT_METHODS } from './payment.ts';
import type { Merchant, PaymentMethod } from './records.ts';
import { Refusal, refuseField } from './refusal.ts';

/** The methods that pay by a token at collect, so that the collect consumes the session (contract §3). */
export type NativeMethod = Extract<PaymentMethod, 'google_pay' | 'apple_pay'>;

/** Whether the method pays by a token at collect. */
export function isNative(method: PaymentMethod | 'none'): method is NativeMethod {
  return method === 'google_pay' || method === 'apple_pay';
}

/** Whether the card network carries the method out. */
export function isByCard(method: PaymentMethod | 'none'): boolean {
  return method === 'card' || isNative(method);
}

/** The id by which a merchant's customers choose a method: `pm_…`. */
export function methodId(merchantId: string, method: PaymentMethod): string {
  const bytes = bytesOfId(merchantId);
  // Byte 7 lies in the random part, away from the version, the variant and the shard.
  bytes[7] = (bytes[7] ?? 0) ^ (PAYMENT_METHODS.indexOf(method) + 1);
  return idOfBytes('pm', bytes);
}

/** The method that an id or a name stands for; undefined when it is none of this merchant's. */
export function methodNamed(merchantId: string, text: string): PaymentMethod | undefined {
  const named = PAYMENT_METHODS.find((method) => method === text);
  return named ?? PAYMENT_METHODS.find((method) => methodId(merchantId, method) === text);
}

/** Which methods this gateway can carry out in the payment's currency, for any merchant. */
export type Reach = { readonly [method in PaymentMethod]: boolean };

/** The methods that a merchant's customers can choose, in the order in which they are shown. */
export function offeredMethods(merchant: Merchant, reach: Reach): readonly PaymentMethod[] {
  const allowed = merchant.settings.methods ?? PAYMENT_METHODS;
  return PAYMENT_METHODS.filter((method) => reach[method] && allowed.includes(method));
}

/** Refuses a method that is not offered (1103), and says which are. */
export function requireOffered(method: PaymentMethod, field: string, offered: readonly PaymentMethod[]): void {
  if (offered.includes(method)) return;
  throw refuseField(1103, field, 'METHOD_NOT_AVAILABLE', { method, options: offered.join(', ') });
}

/** Refuses an amount outside the merchant's limits for the currency, and the method's own (1202). */
export function requireWithinLimits(
  merchant: Merchant,
  method: PaymentMethod | 'none',
  amountMinor: bigint,
  currency: Currency,
): void {
  requireCarried(method, amountMinor, currency);
  const { limits, method_limits: byMethod } = merchant.settings;
  const ofMethod = method === 'none' ? undefined : byMethod?.[method];
  for (const rule of [limits?.[currency], ofMethod?.[currency]]) {
    if (rule?.min !== undefined && amountMinor < BigInt(rule.min)) {
      throw limit('AMOUNT_BELOW_MINIMUM', { minimum: formatMinor(BigInt(rule.min), currency), currency });
    }
    if (rule?.max !== undefined && amountMinor > BigInt(rule.max)) {
      throw limit('AMOUNT_ABOVE_MAXIMUM', { maximum: formatMinor(BigInt(rule.max), currency), currency });
    }
  }
}

/** Digits before the decimal point that card networks accept in an order's amount. */
const CARD_DIGITS = 12n;
/** Digits before the decimal point of any amount (contract §1); a fee on top must not make it longer. */
const DIGITS = 15n;

/** Refuses a total, fee included, that the method cannot carry at all, whatever the merchant's limits are (1202). */
export function requireCarried(method: PaymentMethod | 'none', totalMinor: bigint, currency: Currency): void {
  const digits = isByCard(method) ? CARD_DIGITS : DIGITS;
  const most = 10n ** (digits + BigInt(exponentOf(currency))) - 1n;
  if (totalMinor <= most) return;
  throw limit('AMOUNT_ABOVE_MAXIMUM', { maximum: formatMinor(most, currency), currency });
}

function limit(code: 'AMOUNT_BELOW_MINIMUM' | 'AMOUNT_ABOVE_MAXIMUM', words: { [name: string]: string }): Refusal {
  return new Refusal(1202, { details: [{ field: 'amount', code, words }] });
}
