/**
 * `mbongo wallet`: opens and credits customers' wallets and flash accounts.
 */

import { formatMinor } from '../domain/money.ts';
import type { WalletKind } from '../domain/records.ts';
import { requireAmountOrZero, requireCurrency } from '../usecases/operator.ts';
import { creditWallet } from '../usecases/wallet-credit.ts';
import { openWallet } from '../usecases/wallet-open.ts';
import { toldOfCredit } from './credited.ts';
import { readPhone, readSecret } from './options.ts';
import type { Output } from './output.ts';
import type { Tools } from './tools.ts';

export interface WalletOpenOptions {
  readonly number: string;
  readonly pin: string;
  readonly currency: string;
  readonly balance: string;
  readonly phone: string;
  readonly kind: WalletKind;
}

export async function walletOpen({ deps, input }: Tools, options: WalletOpenOptions): Promise<Output> {
  const currency = requireCurrency(options.currency);
  const { wallet, balance } = await openWallet(deps, {
    number: options.number === 'auto' ? undefined : options.number,
    pin: await readSecret(options.pin, input),
    currency,
    balance: requireAmountOrZero(options.balance, currency, 'balance'),
    phone: await readPhone(options.phone),
    kind: options.kind,
  });
  return outputOf(wallet.id, currency, formatMinor(balance, currency));
}

export async function walletCredit(
  { deps }: Tools,
  options: { readonly number: string; readonly amount: string; readonly reference?: string },
): Promise<Output> {
  const { wallet, balance, ...credited } = await creditWallet(deps, options.number, options.amount, options.reference);
  const { document, lines } = outputOf(wallet.id, wallet.currency, formatMinor(balance, wallet.currency));
  const told = toldOfCredit(credited);
  return { document: { ...document, ...told.document }, lines: [...lines, ...told.lines] };
}

function outputOf(wallet_number: string, currency: string, balance: string): Output {
  return { document: { wallet_number, currency, balance }, lines: [`${wallet_number}  ${balance} ${currency}`] };
}
