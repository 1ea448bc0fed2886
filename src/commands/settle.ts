/**
 * `mbongo settle`: pays money out of a merchant's balance to the merchant's own bank.
 *
 * Invariant: nothing is taken without --yes.
 */

import { formatMinor, moneyText } from '../domain/money.ts';
import { type BalanceSettled, previewSettlement, settleBalance } from '../usecases/balance-settle.ts';
import { OperatorError } from '../usecases/operator-error.ts';
import { requireAmount, requireCurrency } from '../usecases/operator-input.ts';
import { type Output, timeOf } from './output.ts';
import { attributionOf, type ConfirmedOptions } from './this-user.ts';
import type { Tools } from './tools.ts';

/**
 * The options of `mbongo settle`. `reference`: the bank transfer's, under which the amount is paid out once; undefined: every call
 * pays.
 */
export interface SettleOptions extends ConfirmedOptions {
  readonly merchant: string;
  readonly currency: string;
  readonly amount: string;
  readonly reference?: string;
}

/**
 * Takes money out of a merchant's available balance, to be paid to its bank:
 * `{merchant_id, currency, amount, reference, available, settled_at, repeated}`. `repeated`: it was taken before under that
 * reference, which is answered without --yes too.
 *
 * @throws OperatorError when there is no such merchant, a value is not usable, too little is available, or another amount was
 *   settled under the reference; and, without --yes, with what would be paid.
 */
export async function settle({ deps }: Tools, options: SettleOptions): Promise<Output> {
  const currency = requireCurrency(options.currency);
  const amountMinor = requireAmount(options.amount, currency);
  const order = { merchantId: options.merchant, currency, amountMinor, reference: options.reference ?? null };
  if (options.yes !== true) {
    const preview = await previewSettlement(deps, order);
    if ('isRepeated' in preview) return told(preview);
    const { id, name, status } = preview;
    const suspended = status === 'ALLOWED' ? '' : ', which is suspended,';
    const what = `${moneyText(amountMinor, currency)} of ${id} (${name})${suspended}`;
    throw new OperatorError(`this pays ${what} out to its bank: add --yes to do it`);
  }
  return told(await settleBalance(deps, { ...order, ...attributionOf(options) }));
}

function told({ merchantId, currency, reference, isRepeated, ...settled }: BalanceSettled): Output {
  const amount = formatMinor(settled.amountMinor, currency);
  const available = formatMinor(settled.available, currency);
  const settled_at = timeOf(settled.settledAt);
  const left = `${available} ${currency} available`;
  return {
    document: { merchant_id: merchantId, currency, amount, reference, available, settled_at, repeated: isRepeated },
    lines: isRepeated
      ? [
          `${merchantId}  ${left}`,
          `Nothing was taken now: this amount was already settled as ${reference} at ${settled_at}.`,
        ]
      : [`${merchantId}  ${amount} ${currency} settled as ${reference}; ${left}`],
  };
}
