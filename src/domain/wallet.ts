/**
 * Wallets: their numbers, and how wrong PINs lock them (contract §4).
 *
 * Invariant: five wrong PINs in a row lock the account for fifteen minutes, however parallel they come, because each
 * one is counted by a guarded update before it is answered.
 */

import { SHARDS } from './ids.ts';
import type { Wallet } from './records.ts';

export const PIN_TRIES = 5;
export const PIN_LOCK_MS = 15 * 60_000;
/** Four to eight digits. */
export const PIN_FORM = /^[0-9]{4,8}$/;

const LEAD = '5707';

/**
 * A wallet number: 5707, two digits of shard, nine random digits and a check digit; sixteen in all.
 *
 * The check digit is Luhn's plus five, so that a typo is found and yet no wallet number is ever a valid card number:
 * a body that carries a card number is refused.
 */
export function makeWalletNumber(shard: number, random: number): string {
  if (!Number.isInteger(shard) || shard < 0 || shard >= SHARDS) throw new RangeError('no such shard');
  const body = `${LEAD}${String(shard).padStart(2, '0')}${String(random % 1_000_000_000).padStart(9, '0')}`;
  return `${body}${checkDigit(body)}`;
}

/** Whether a text can be a wallet number at all. */
export function isWalletNumber(text: unknown): text is string {
  if (typeof text !== 'string' || !/^5707[0-9]{12}$/.test(text)) return false;
  return Number(text.slice(4, 6)) < SHARDS && text.at(-1) === checkDigit(text.slice(0, -1));
}

/** The shard that a wallet number carries. */
export function shardOfWallet(number: string): number {
  return Number(number.slice(4, 6));
}

function checkDigit(body: string): string {
  let sum = 0;
  for (let i = 0; i < body.length; i += 1) {
    const digit = Number(body.at(-1 - i));
    const doubled = i % 2 === 0 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return String((((10 - (sum % 10)) % 10) + 5) % 10);
}

/** Whole seconds until a locked wallet may try again; undefined when it is not locked. */
export function lockedFor(wallet: Wallet, now: number): number | undefined {
  if (wallet.locked_until === null || wallet.locked_until <= now) return undefined;
  return Math.ceil((wallet.locked_until - now) / 1000);
}

/** What a wrong PIN does to a wallet: one failure more, and a lock at the fifth. A lock that has passed starts anew. */
export function afterWrongPin(
  wallet: Wallet,
  now: number,
): { readonly row: Pick<Wallet, 'pin_failures' | 'locked_until'>; readonly left: number } {
  const before = wallet.locked_until !== null && wallet.locked_until <= now ? 0 : wallet.pin_failures;
  const failures = before + 1;
  const left = Math.max(0, PIN_TRIES - failures);
  return { row: { pin_failures: failures, locked_until: left === 0 ? now + PIN_LOCK_MS : null }, left };
}
