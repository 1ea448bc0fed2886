/**
 * Puts money into a customer's wallet or flash account: an operator's cash-in.
 *
 * Invariant: an amount is credited once, and the ledger names the command that did it.
 */

import type { Transfer } from '../domain/change.ts';
import { floatAccount, walletAccount } from '../domain/ledger.ts';
import type { Wallet } from '../domain/records.ts';
import { isWalletNumber, shardOfWallet } from '../domain/wallet.ts';
import { newId } from './deps.ts';
import { commitOnce, type OperatorDeps, OperatorError, readAfter, requireAmount, UsageError } from './operator.ts';

export interface WalletCredited {
  readonly wallet: Wallet;
  /** Minor units, after the credit. */
  readonly balance: bigint;
}

/** `amount` is decimal text in the wallet's currency. @throws OperatorError for an unknown wallet or a bad amount. */
export async function creditWallet(deps: OperatorDeps, number: string, amount: string): Promise<WalletCredited> {
  if (!isWalletNumber(number))
    throw new UsageError('that is not a wallet number: use the one that `mbongo wallet open` printed');
  const wallet = await deps.store.wallet.get(shardOfWallet(number), number);
  if (wallet === undefined) throw new OperatorError('there is no such wallet: `mbongo wallet open` makes one');
  const { shard, currency } = wallet;
  const transfer: Transfer = {
    shard,
    id: newId(deps, 'trf', shard),
    debit: floatAccount(shard, currency),
    credit: walletAccount(number),
    amount_minor: requireAmount(amount, currency),
    currency,
    cause: 'wallet_credit',
    cause_id: number,
    at: deps.clock.now(),
  };
  if ((await commitOnce(deps, shard, transfer.id, { transfers: [transfer] })) === 'lost') {
    throw new Error('a credit cannot lose');
  }
  const account = await readAfter(deps, () => deps.store.account.get(shard, number));
  return { wallet, balance: account?.balance ?? 0n };
}
