/**
 * `mbongo settle`: pays money out of a merchant's balance to the merchant's own bank.
 *
 * Invariant: nothing is taken without --yes.
 */

import { formatMinor } from '../domain/money.ts';
import { requireSettleable, settleBalance } from '../usecases/balance-settle.ts';
import { OperatorError, requireAmount, requireCurrency } from '../usecases/operator.ts';
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
  const reference = options.reference ?? null;
  if (options.yes !== true) {
    const { id, name } = await requireSettleable(deps, {
      merchantId: options.merchant,
      currency,
      amountMinor,
      reference,
    });
    throw new OperatorError(`this pays ${amount} ${currency} of ${id} (${name}) out to its bank: add --yes to do it`);
  }
  const settled = await settleBalance(deps, {
    merchantId: options.merchant,
    currency,
    amountMinor,
    reference,
    by: options.by ?? thisUser(),
    why: options.why ?? null,
  });
  const { merchantId } = settled;
  const available = formatMinor(settled.available, currency);
  const settled_at = timeOf(settled.settledAt);
  return {
    document: { merchant_id: merchantId, currency, amount, reference: settled.reference, available, settled_at },
    lines: [`${merchantId}  ${amount} ${currency} settled as ${settled.reference}; ${available} ${currency} available`],
  };
}
