/**
 * Changes the PIN of a customer's wallet or flash account, or the phone that its one-time codes go to: for a customer who has
 * forgotten the one or lost the other, or from whom both were stolen.
 *
 * Invariant: from the commit on the old PIN pays nothing, also if it was verified before, a code that was sent to the old phone pays
 * nothing either, and an account without a PIN pays nothing at all.
 */

import { guardedUpdate } from '../domain/change.ts';
import type { Wallet } from '../domain/records.ts';
import { shardOfWallet, UNLOCKED } from '../domain/wallet.ts';
import type { OperatorDeps } from './deps.ts';
import { commitDecisionKnown } from './operator-commit.ts';
import { OperatorError, UsageError } from './operator-error.ts';
import { requirePhone, requirePin } from './wallet-open.ts';
import { requireNumber } from './wallet-see.ts';

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
  const pin_hash = typeof pin === 'string' ? await deps.secrets.hashPin(pin) : '';
  const row = {
    ...(pin === undefined ? {} : { pin_hash, ...UNLOCKED }),
    ...(phone === undefined ? {} : { phone }),
  };
  return commitDecisionKnown(
    deps,
    () => deps.store.wallet.get(shardOfWallet(number), number),
    (wallet) => {
      if (wallet === undefined) throw new OperatorError(`there is no wallet ${number}: see \`mbongo wallet list\``);
      return { change: { updates: [guardedUpdate('wallet', wallet, row)] }, answer: { ...wallet, ...row } };
    },
    'give the command again: it changes nothing more',
  );
}
