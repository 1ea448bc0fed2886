/**
 * Puts money into a customer's wallet or flash account: an operator's cash-in.
 *
 * Invariant: that of `creditAccount`.
 */

import { walletAccount } from '../domain/ledger.ts';
import type { Wallet } from '../domain/records.ts';
import { shardOfWallet } from '../domain/wallet.ts';
import { type AccountCredited, creditAccount } from './credit-account.ts';
import type { OperatorDeps } from './deps.ts';
import { OperatorError } from './operator-error.ts';
import { requireAmount } from './operator-input.ts';
import { requireNumber } from './wallet-see.ts';

export interface WalletCredited extends AccountCredited {
  readonly wallet: Wallet;
}

/**
 * `text` is the wallet's number; `amount` is decimal text in the wallet's currency.
 *
 * @throws OperatorError for an unknown wallet or a bad amount, and as `creditAccount`.
 */
export async function creditWallet(
  deps: OperatorDeps,
  text: string,
  amount: string,
  reference: string | null = null,
): Promise<WalletCredited> {
  const number = requireNumber(text);
  const wallet = await deps.store.wallet.get(shardOfWallet(number), number);
  if (wallet === undefined) throw new OperatorError('there is no such wallet: `mbongo wallet open` makes one');
  const { currency } = wallet;
  const amountMinor = requireAmount(amount, currency);
  const account = walletAccount(number);
  const order = { account, currency, amountMinor, cause: 'wallet_credit', ownerId: number, reference } as const;
  return { wallet, ...(await creditAccount(deps, order)) };
}
