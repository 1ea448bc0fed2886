/**
 * `mbongo balance`: credits and shows a merchant's balances.
 */

import { formatMinor } from '../domain/money.ts';
import { creditBalance } from '../usecases/balance-credit.ts';
import { readBalances } from '../usecases/balances-read.ts';
import { requireAmount, requireCurrency, requireMerchant } from '../usecases/operator-input.ts';
import { toldOfCredit } from './credited.ts';
import { type Output, table } from './output.ts';
import type { Tools } from './tools.ts';

/**
 * Puts money into a merchant's available balance: `{merchant_id, currency, available}` (contract §10), and what `toldOfCredit` adds
 * for a reference. Under one reference the amount is credited once.
 *
 * @throws OperatorError when there is no such merchant, a value is not usable, or another amount was credited under the
 *   reference.
 */
export async function balanceCredit(
  { deps }: Tools,
  options: {
    readonly merchant: string;
    readonly currency: string;
    readonly amount: string;
    readonly reference?: string;
  },
): Promise<Output> {
  const { merchant, amount, reference = null } = options;
  const currency = requireCurrency(options.currency);
  const credited = await creditBalance(deps, merchant, currency, requireAmount(amount, currency), reference);
  const available = formatMinor(credited.available, currency);
  const told = toldOfCredit(credited);
  return {
    document: { merchant_id: credited.merchant_id, currency, available, ...told.document },
    lines: [`${credited.merchant_id}  ${available} ${currency} available`, ...told.lines],
  };
}

/**
 * The merchant's balances as `{merchant_id, balances: [{currency, available, reserved, held}]}`, in decimal text. A currency is
 * listed once the merchant has had an account in it.
 *
 * @throws OperatorError when there is no such merchant.
 */
export async function balanceShow({ deps }: Tools, options: { readonly merchant: string }): Promise<Output> {
  const merchant = await requireMerchant(deps, options.merchant);
  const balances = (await readBalances(deps, merchant)).map(({ currency, available, reserved, held }) => ({
    currency,
    available: formatMinor(available, currency),
    reserved: formatMinor(reserved, currency),
    held: formatMinor(held, currency),
  }));
  return {
    document: { merchant_id: merchant.id, balances },
    lines: table(
      ['currency', 'available', 'reserved', 'held'],
      balances.map((balance) => Object.values(balance)),
    ),
  };
}
