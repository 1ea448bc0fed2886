/**
 * What a payment costs: a percentage plus a fixed part, kept between a minimum and a maximum (contract §4).
 *
 * Invariant: computed in integer minor units, rounded once, half to even.
 */

import type { Currency } from './currency.ts';
import { divideHalfEven } from './money.ts';
import type {
  FeeCoveredBy,
  FeeRule,
  Merchant,
  Payment,
  PaymentMethod,
  PayoutFeeMethod,
  ReceiptMode,
} from './records.ts';

const MILLION = 1_000_000n;

/**
 * The rule that applies: the method's own, otherwise the general one. The general one is for payments only: it was set with
 * customers in mind, and payouts cost nothing until a rule names them.
 */
export function feeRuleFor(
  rules: readonly FeeRule[] | undefined,
  method: PaymentMethod | PayoutFeeMethod | 'none',
  currency: Currency,
): FeeRule | undefined {
  const inCurrency = (rules ?? []).filter((rule) => rule.currency === currency);
  const own = inCurrency.find((rule) => rule.method === method);
  if (own !== undefined || method === 'payout_mobile_money' || method === 'payout_wallet') return own;
  return inCurrency.find((rule) => rule.method === undefined);
}

/** The fee on a payout of that amount, in minor units; the merchant pays it on top. */
export function payoutFeeOf(merchant: Merchant, mode: ReceiptMode, amountMinor: bigint, currency: Currency): bigint {
  return feeOf(feeRuleFor(merchant.settings.fees, `payout_${mode}`, currency), amountMinor);
}

/** The fee on an amount, in minor units. Without a rule it is zero. */
export function feeOf(rule: FeeRule | undefined, amountMinor: bigint): bigint {
  if (rule === undefined) return 0n;
  const exact = amountMinor * BigInt(rule.rate_ppm) + BigInt(rule.fixed_minor ?? '0') * MILLION;
  const rounded = divideHalfEven(exact, MILLION);
  const floored = rule.min_minor !== undefined && rounded < BigInt(rule.min_minor) ? BigInt(rule.min_minor) : rounded;
  return rule.max_minor !== undefined && floored > BigInt(rule.max_minor) ? BigInt(rule.max_minor) : floored;
}

/** What the customer pays: the amount, plus the fee when the buyer covers it. */
export function totalOf(amountMinor: bigint, feeMinor: bigint, coveredBy: FeeCoveredBy): bigint {
  return coveredBy === 'buyer' ? amountMinor + feeMinor : amountMinor;
}

/** A payment's fee columns. A fee that the merchant covers never exceeds the amount it is taken out of. */
export function feeColumns(
  merchant: Pick<Merchant, 'settings'>,
  method: PaymentMethod | 'none',
  bound: Pick<Payment, 'amount_minor' | 'currency'>,
  coveredBy: FeeCoveredBy,
): Pick<Payment, 'fee_minor' | 'total_minor'> {
  const rule = feeRuleFor(merchant.settings.fees, method, bound.currency);
  const full = feeOf(rule, bound.amount_minor);
  const fee = coveredBy === 'merchant' && full > bound.amount_minor ? bound.amount_minor : full;
  return { fee_minor: fee, total_minor: totalOf(bound.amount_minor, fee, coveredBy) };
}
