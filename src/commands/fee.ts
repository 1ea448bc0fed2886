/**
 * `mbongo fee`: sets and lists the fees that a merchant pays.
 */

import { formatMinor } from '../domain/money.ts';
import type { FeeRule, Merchant } from '../domain/records.ts';
import { removeFee, setFee } from '../usecases/fee-set.ts';
import { UsageError } from '../usecases/operator-error.ts';
import { requireAmount, requireAmountOrZero, requireCurrency, requireMerchant } from '../usecases/operator-input.ts';
import { requireFeeMethod } from './options.ts';
import { type Output, table } from './output.ts';
import type { Tools } from './tools.ts';

/**
 * The options of `mbongo fee set` (contract §4). `method`: a payment or payout method; undefined: every payment method without a
 * fee of its own. `rate` is in per cent, the amounts in `currency`. `remove` excludes the rate and the amounts.
 */
export interface FeeSetOptions {
  readonly merchant: string;
  readonly method?: string;
  readonly currency: string;
  readonly rate?: string;
  readonly fixed?: string;
  readonly min?: string;
  readonly max?: string;
  readonly remove?: true;
}

/** What `--max 0` may have been meant as. */
const NO_MAXIMUM = ' (leave out --max for no maximum, or set --rate 0 for no fee)';

/**
 * Sets or removes one of a merchant's fees, and returns all of them as `feeList` does. A fee of 0 is a fee: it overrides the one
 * for every method.
 *
 * @throws UsageError when a value is malformed or missing; OperatorError when there is no such merchant, or no such fee to
 *   remove.
 */
export async function feeSet({ deps }: Tools, options: FeeSetOptions): Promise<Output> {
  const currency = requireCurrency(options.currency);
  const method = options.method === undefined ? undefined : requireFeeMethod(options.method);
  const place = { merchantId: options.merchant, method, currency };
  const { rate, fixed, min, max, remove } = options;
  if (remove === true) {
    const said = [rate, fixed, min, max].some((part) => part !== undefined);
    if (said) throw new UsageError('--remove removes the whole fee: leave out the rate and the amounts');
    return outputOf(await removeFee(deps, place));
  }
  // Not 0 if it is left out: a fixed part that was meant as an addition would end the rate that was set before.
  if (rate === undefined) {
    const fee = '--rate in per cent, like 2.5, or --rate 0 for a fixed amount alone';
    throw new UsageError(`the rate is missing: add ${fee}; --remove removes the fee`);
  }
  const merchant = await setFee(deps, {
    ...place,
    rate,
    fixed: fixed === undefined ? 0n : requireAmountOrZero(fixed, currency, 'fixed part'),
    min: min === undefined ? undefined : requireAmountOrZero(min, currency, 'minimum'),
    max: max === undefined ? undefined : requireAmount(max, currency, 'maximum', NO_MAXIMUM),
  });
  return outputOf(merchant);
}

/**
 * A merchant's fees as `{merchant_id, fees: [{method, currency, rate, fixed, min, max}]}`: `method` is `all` where it is for every
 * payment method, `rate` is in per cent, the rest are decimal amounts; null: no bound.
 *
 * @throws OperatorError when there is no such merchant.
 */
export async function feeList({ deps }: Tools, options: { readonly merchant: string }): Promise<Output> {
  return outputOf(await requireMerchant(deps, options.merchant));
}

function outputOf(merchant: Merchant): Output {
  const fees = (merchant.settings.fees ?? []).map(documentOf);
  const rows = fees.map((fee) => [fee.method, fee.currency, `${fee.rate} %`, fee.fixed, fee.min ?? '', fee.max ?? '']);
  return {
    document: { merchant_id: merchant.id, fees },
    lines: table(['method', 'currency', 'rate', 'fixed', 'min', 'max'], rows),
  };
}

function documentOf(rule: FeeRule) {
  const format = (minor: string | undefined): string | null =>
    minor === undefined ? null : formatMinor(BigInt(minor), rule.currency);
  return {
    method: rule.method ?? 'all',
    currency: rule.currency,
    rate: percentOf(rule.rate_ppm),
    fixed: formatMinor(BigInt(rule.fixed_minor ?? '0'), rule.currency),
    min: format(rule.min_minor),
    max: format(rule.max_minor),
  };
}

/** Parts per million as percent: 25000 is `2.5`. */
function percentOf(ppm: number): string {
  const digits = String(ppm).padStart(5, '0');
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`.replace(/\.?0+$/, '');
}
