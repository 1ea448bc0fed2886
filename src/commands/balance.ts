/**
 * `mbongo balance`: credit and show what a merchant has with us.
 */

import { CURRENCIES } from '../domain/currency.ts';
import { type MerchantAccount, merchantAccount } from '../domain/ledger.ts';
import { formatMinor } from '../domain/money.ts';
import { creditBalance } from '../usecases/balance-credit.ts';
import { requireAmount, requireCurrency, requireMerchant } from '../usecases/operator.ts';
import { type Output, table } from './output.ts';
import type { Tools } from './tools.ts';

export async function balanceCredit(
  { deps }: Tools,
  options: { readonly merchant: string; readonly currency: string; readonly amount: string },
): Promise<Output> {
  const currency = requireCurrency(options.currency);
  const credited = await creditBalance(deps, options.merchant, currency, requireAmount(options.amount, currency));
  const available = formatMinor(credited.available, currency);
  return {
    document: { merchant_id: credited.merchant_id, currency, available },
    lines: [`${credited.merchant_id}  ${available} ${currency} available`],
  };
}

const KINDS: readonly MerchantAccount[] = ['available', 'reserved', 'held'];

export async function balanceShow({ deps }: Tools, options: { readonly merchant: string }): Promise<Output> {
  const { id } = await requireMerchant(deps, options.merchant);
  const balances = [];
  for (const currency of CURRENCIES) {
    const refs = KINDS.map((kind) => merchantAccount(id, kind, currency));
    const accounts = await Promise.all(refs.map((ref) => deps.store.account.get(ref.shard, ref.id)));
    if (accounts.every((account) => account === undefined)) continue;
    const [available = '', reserved = '', held = ''] = accounts.map((found) =>
      formatMinor(found?.balance ?? 0n, currency),
    );
    balances.push({ currency, available, reserved, held });
  }
  return {
    document: { merchant_id: id, balances },
    lines: table(
      ['currency', ...KINDS],
      balances.map(({ currency, available, reserved, held }) => [currency, available, reserved, held]),
    ),
  };
}
