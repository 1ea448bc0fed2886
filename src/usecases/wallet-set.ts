/**
 * Changes the PIN of a customer's wallet or flash account, or the phone that its one-time codes go to: for a customer who has
 * forgotten the one or lost the other, or from whom both were stolen.
 *
 * Invariant: from the commit on neither a PIN that was verified before pays nor any code of a payment that was begun before: such a
 * payment has to be begun anew. A command takes effect once, also if the answer to its commit is lost.
 */

import { revise } from '../domain/change.ts';
import type { Wallet } from '../domain/records.ts';
import { shardOfWallet, UNLOCKED } from '../domain/wallet.ts';
import type { OperatorDeps } from './deps.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { requirePhone, requirePin } from './wallet-open.ts';
import { requireNumber } from './wallet-see.ts';

/** What to change of an account. */
export interface WalletChange {
  /** Four to eight digits; null: no PIN opens it until one is set; undefined: it stays. */
  readonly pin: string | null | undefined;
  /** E.164; undefined: it stays. */
  readonly phone: string | undefined;
}

/**
 * Blanks and hyphens in the number do not matter. A new PIN also ends the lock of the old one.
 *
 * @throws OperatorError when there is no such account; UsageError when a value is not usable, or nothing is to be changed.
 */
export async function setWallet(deps: OperatorDeps, text: string, { pin, phone }: WalletChange): Promise<Wallet> {
  const number = requireNumber(text);
  if (pin === undefined && phone === undefined) {
    throw new UsageError('nothing to set: add --pin or --phone, see `mbongo wallet set --help`');
  }
  if (typeof pin === 'string') requirePin(pin);
  if (phone !== undefined) requirePhone(phone);
  const shard = shardOfWallet(number);
  const pin_hash = typeof pin === 'string' ? await deps.secrets.hashPin(pin, number) : '';
  const row = {
    ...(pin === undefined ? {} : { pin_hash, ...UNLOCKED }),
    ...(phone === undefined ? {} : { phone }),
  };
  return decideOnce(deps, shard, `see \`mbongo journal list --about ${number}\``, async () => {
    const wallet = await deps.store.wallet.get(shard, number);
    if (wallet === undefined) throw new OperatorError(`there is no wallet ${number}: see \`mbongo wallet list\``);
    const { update, after } = revise('wallet', wallet, { ...row, changes: wallet.changes + 1 });
    return { change: { updates: [update] }, answer: after };
  });
}
