/**
 * Checks the PIN of an account, and counts wrong ones; in the same way for numbers without an account.
 *
 * Invariant: a wrong PIN is counted before it is answered, and the answer to a right one guards the same count. Neither the
 * bytes of a reply, nor the number of tries left in it, nor the work behind it reveals whether there is such an account: the
 * same rows are read, the same hash is computed, one row is written (one under each of two master keys, while there are two). A
 * PIN is hashed anew only after it has been answered as right.
 */

import { type Change, guardedUpdate } from '../domain/change.ts';
import type { Account, LimitCount, Wallet, WalletKind } from '../domain/records.ts';
import { afterWrongPin, decidingCount, isWalletNumber, shardOfWallet } from '../domain/wallet.ts';
import type { Deps } from './deps.ts';
import { type LimitCounters, readCounters, writeCounter } from './limit-counters.ts';
import { commitDecision } from './perform.ts';

/** The rows by which a PIN is checked. */
export interface PinRows {
  /** The account, if the number is one of that kind. */
  readonly wallet: Wallet | undefined;
  readonly account: Account | undefined;
  /** The counters of wrong PINs for a number without an account, under each key of the ring. */
  readonly counters: LimitCounters;
}

/** Reads the rows for a number, which may be any text. */
export async function readPinRows(
  deps: Pick<Deps, 'store' | 'secrets'>,
  number: string,
  kind: WalletKind,
): Promise<PinRows> {
  const known = isWalletNumber(number);
  const [wallet, account, counters] = await Promise.all([
    known ? deps.store.wallet.get(shardOfWallet(number), number) : undefined,
    known ? deps.store.account.get(shardOfWallet(number), number) : undefined,
    readCounters(deps, kind, number),
  ]);
  return wallet?.kind === kind ? { wallet, account, counters } : { wallet: undefined, account: undefined, counters };
}

/** Whether a PIN is the account's: `wrong` also for a number without an account. */
export type PinVerdict = 'right' | 'wrong';

/** Verifies the PIN, once; not to be called while it is locked. `owner`: in whose queue the hash is computed. */
export async function judgePin(
  deps: Pick<Deps, 'secrets'>,
  rows: PinRows,
  pin: string,
  owner: string,
): Promise<PinVerdict> {
  const { id = '', pin_hash = '' } = rows.wallet ?? {};
  // An account without a PIN takes the same work as no account.
  return (await deps.secrets.verifyPin(pin, pin_hash || undefined, id, owner)) ? 'right' : 'wrong';
}

/**
 * Hashes a right PIN anew if its hash needs an older key of the ring, so that this key can one day be removed, or is not bound to
 * its account, as earlier builds made them. To be called only after the reply: the time it takes would tell a right PIN behind a
 * lock from wrong ones. Payments take precedence: while PINs are being verified, this is left to the next payment.
 */
export async function renewPinHash(
  deps: Pick<Deps, 'store' | 'secrets'>,
  { shard, id, pin_hash: judged }: Wallet,
  pin: string,
): Promise<void> {
  if (deps.secrets.isPinHashNew(judged, id)) return;
  const pin_hash = await deps.secrets.hashPinIfFree(pin, id);
  if (pin_hash === undefined) return;
  await commitDecision(
    deps.store,
    () => deps.store.wallet.get(shard, id),
    (wallet) => {
      if (wallet?.pin_hash !== judged) return { answer: undefined };
      return { change: { updates: [guardedUpdate('wallet', wallet, { pin_hash })] }, answer: undefined };
    },
  );
}

/** The count that decides: the account's own, or the one of a number without an account. */
export function countOf({ wallet, counters }: PinRows, now: number): LimitCount | undefined {
  return wallet ?? decidingCount(counters, now);
}

/** Counts one more wrong PIN: what it writes, and how many tries are left. */
export function countWrongPin(
  deps: Pick<Deps, 'secrets'>,
  rows: PinRows,
  number: string,
  kind: WalletKind,
  now: number,
): { readonly change: Change; readonly left: number } {
  const { row, left } = afterWrongPin(countOf(rows, now), now);
  const { wallet, counters } = rows;
  if (wallet !== undefined) return { change: { updates: [guardedUpdate('wallet', wallet, row)] }, left };
  return { change: writeCounter(deps, kind, number, counters, row), left };
}
