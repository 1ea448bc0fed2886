/**
 * Shows customers' wallets and flash accounts to an operator.
 *
 * Invariant: nothing is written, and neither a PIN nor its hash leaves.
 */

import { walletAccount } from '../domain/ledger.ts';
import type { Wallet } from '../domain/records.ts';
import { decidingCount, isWalletNumber, lockedFor, shardOfWallet, ungrouped } from '../domain/wallet.ts';
import { readCodeCounts } from './code-lockout.ts';
import type { Deps } from './deps.ts';
import { OperatorError, UsageError } from './operator-error.ts';

/** An account, with its balance and locks. */
export interface WalletSeen {
  readonly wallet: Wallet;
  /** Minor units. */
  readonly balance: bigint;
  /** Until when (ms) no PIN of it is checked; null: PINs are. */
  readonly pinLockedUntil: number | null;
  /** Until when (ms) no one-time code of it is checked; null: codes are. */
  readonly codesLockedUntil: number | null;
}

/** A wallet or flash account; blanks and hyphens in its number do not matter. @throws OperatorError when there is none. */
export async function seeWallet(deps: Pick<Deps, 'store' | 'clock' | 'secrets'>, text: string): Promise<WalletSeen> {
  const number = requireNumber(text);
  const { store, clock } = deps;
  const wallet = await store.wallet.get(shardOfWallet(number), number);
  if (wallet === undefined) throw new OperatorError(`there is no wallet ${number}: see \`mbongo wallet list\``);
  const [account, counts] = await Promise.all([
    store.account.get(wallet.shard, walletAccount(number).id),
    readCodeCounts(deps, number),
  ]);
  const now = clock.now();
  const until = (count: Parameters<typeof lockedFor>[0]) =>
    lockedFor(count, now) === undefined ? null : (count?.locked_until ?? null);
  return {
    wallet,
    balance: account?.balance ?? 0n,
    pinLockedUntil: until(wallet),
    codesLockedUntil: until(decidingCount(counts, now)),
  };
}

/** @throws UsageError for a text that cannot be the number of a wallet or flash account. */
export function requireNumber(text: string): string {
  const number = ungrouped(text);
  if (isWalletNumber(number)) return number;
  throw new UsageError('the number is not that of a wallet or flash account: it has 16 digits and begins with 5707');
}
