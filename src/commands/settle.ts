/**
 * `mbongo settle`: pays money out of a merchant's balance to the merchant's own bank.
 *
 * Invariant: nothing is taken without --yes.
 */

import { formatMinor } from '../domain/money.ts';
import { settleBalance } from '../usecases/balance-settle.ts';
import { OperatorError, requireAmount, requireCurrency, requireMerchant } from '../usecases/operator.ts';
import { type Output, timeOf } from './output.ts';
import { thisUser } from './this-user.ts';
import type { Tools } from './tools.ts';

export interface SettleOptions {
  readonly merchant: string;
  readonly currency: string;
  readonly amount: string;
  readonly reference?: string;
  readonly by?: string;
  readonly why?: string;
  readonly yes?: true;
}

export async function settle({ deps }: Tools, options: SettleOptions): Promise<Output> {
  const currency = requireCurrency(options.currency);
  const amountMinor = requireAmount(options.amount, currency);
  const amount = formatMinor(amountMinor, currency);
  if (options.yes !== true) {
    const { id, name } = await requireMerchant(deps, options.merchant);
    throw new OperatorError(`this pays ${amount} ${currency} of ${id} (${name}) out to its bank: add --yes to do it`);
  }
  const settled = await settleBalance(deps, {
    merchantId: options.merchant,
    currency,
    amountMinor,
    reference: options.reference ?? null,
    by: options.by ?? thisUser(),
    why: options.why ?? null,
  });
  const { merchantId, reference } = settled;
  const available = formatMinor(settled.available, currency);
  const settled_at = timeOf(settled.settledAt);
  return {
    document: { merchant_id: merchantId, currency, amount, reference, available, settled_at },
    lines: [`${merchantId}  ${amount} ${currency} settled as ${reference}; ${available} ${currency} available`],
  };
}
