/**
 * Payment methods: their ids, what a merchant offers for a payment, and limits on amounts.
 *
 * A method's id is derived from the merchant's, so that nothing has to be stored; a method's own name is accepted in
 * its place (contract §4).
 */

import type { Currency } from './currency.ts';
import { bytesOfId, idOfBytes } from './ids.ts';
import { formatMinor } from './money.ts';
import { AVAILABLE_METHODS, PAYMENT_METHODS } from './payment.ts';
import type { Merchant, PaymentMethod } from './records.ts';
import { Refusal, refuseField } from './refusal.ts';

/** The id by which a merchant's customers choose a method: `pm_…`. */
export function methodId(merchantId: string, method: PaymentMethod): string {
  const bytes = bytesOfId(merchantId);
  // Byte 7 lies in the random part, away from the version, the variant and the shard.
  bytes[7] = (bytes[7] ?? 0) ^ (PAYMENT_METHODS.indexOf(method) + 1);
  return idOfBytes('pm', bytes);
}

/** The method that an id or a name stands for; undefined when it is not one of this merchant's. */
export function methodNamed(merchantId: string, text: string): PaymentMethod | undefined {
  return PAYMENT_METHODS.find((method) => method === text || methodId(merchantId, method) === text);
}

/** The methods a customer can choose: every merchant offers those that the gateway carries out. */
export function offeredMethods(): readonly PaymentMethod[] {
  return AVAILABLE_METHODS;
}

/** Refuses a method that this gateway does not carry out (1103). */
export function requireAvailable(method: PaymentMethod, field: string): void {
  if (AVAILABLE_METHODS.includes(method)) return;
  throw refuseField(1103, field, 'METHOD_NOT_AVAILABLE', { method, options: AVAILABLE_METHODS.join(', ') });
}

/** Refuses an amount outside the merchant's limits for the currency (1202). */
export function requireWithinLimits(merchant: Merchant, amountMinor: bigint, currency: Currency): void {
  const limits = merchant.settings.limits?.[currency];
  if (limits?.min !== undefined && amountMinor < BigInt(limits.min)) {
    throw limit('AMOUNT_BELOW_MINIMUM', { minimum: formatMinor(BigInt(limits.min), currency), currency });
  }
  if (limits?.max !== undefined && amountMinor > BigInt(limits.max)) {
    throw limit('AMOUNT_ABOVE_MAXIMUM', { maximum: formatMinor(BigInt(limits.max), currency), currency });
  }
}

function limit(code: 'AMOUNT_BELOW_MINIMUM' | 'AMOUNT_ABOVE_MAXIMUM', words: { [name: string]: string }): Refusal {
  return new Refusal(1202, { details: [{ field: 'amount', code, words }] });
}
