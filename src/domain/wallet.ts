/**
 * Wallets: their numbers, and how wrong PINs lock them (contract §4).
 *
 * Invariant: five wrong PINs in a row lock the account for fifteen minutes, however many arrive in parallel, because each one is
 * counted by a guarded write before it is answered. A number that is no account is counted by the same rule.
 */

import { HOUR_MS, MINUTE_MS } from './durations.ts';
import { secondsUntil } from './elapsed.ts';
import { SHARDS } from './ids.ts';
import { luhnSum } from './luhn.ts';
import type { LimitCount } from './records.ts';

const PIN_TRIES = 5;
/**
 * 20 wrong one-time codes in a row, over all payments of an account, lock its codes: four payments' worth of tries. A code is asked
 * for only after the right PIN, so besides the payer only sessions of the same merchant, which may finish its payments (contract
 * §3), can come to lock it.
 */
const CODE_TRIES = 20;
/**
 * 20 wrong PINs in one session, at whatever accounts, none more than an hour after the one before: nobody mistypes that often, but
 * somebody who tries one PIN at many accounts does, and no account's own count notices.
 */
const SESSION_PIN_TRIES = 20;
/** 15 min for which a lock lasts, in milliseconds (contract §4). */
export const PIN_LOCK_MS = 15 * MINUTE_MS;
/**
 * Milliseconds after which a wrong PIN is forgotten if no other followed. It has to be: counts for numbers that are no account
 * cannot be kept for ever, and must fade no sooner than an account's. Guessing slowly gains nothing by it: four tries an hour,
 * where the lock allows twenty.
 */
export const PIN_MEMORY_MS = HOUR_MS;
/** Four to eight digits, as a part of a regular expression. */
export const PIN_DIGITS = '[0-9]{4,8}';
/** The form of a PIN. */
export const PIN_FORM = new RegExp(`^${PIN_DIGITS}$`);

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

/** A number without the blanks and hyphens by which people group its digits. */
export function ungrouped(number: string): string {
  return number.replaceAll(/[\s-]/g, '');
}

/** For people, the last two digits: `•••• 42`. */
export function maskNumber(number: string): string {
  return `•••• ${number.slice(-2)}`;
}

/** The shard that a wallet number carries. */
export function shardOfWallet(number: string): number {
  return Number(number.slice(4, 6));
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The shard of a `LimitCounter` whose id is a hash in base64url: its first character, one of 64. @throws RangeError for another id. */
export function shardOfCounter(id: string): number {
  const shard = BASE64URL.indexOf(id.charAt(0));
  if (id === '' || shard < 0) throw new RangeError('not a hash in base64url');
  return shard;
}

function checkDigit(body: string): string {
  const luhns = (10 - (luhnSum(`${body}0`) % 10)) % 10;
  return String((luhns + 5) % 10);
}

/** No wrong PINs: the count after a right one, and after an operator has set another. */
export const UNLOCKED = { pin_failures: 0, pin_failed_at: null, locked_until: null } as const satisfies LimitCount;

/** Whole seconds until a locked account may try again; undefined when it is not locked. */
export function lockedFor(count: LimitCount | undefined, now: number): number | undefined {
  const until = count?.locked_until ?? null;
  return until === null || until <= now ? undefined : secondsUntil(until, now);
}

/** Milliseconds by which the clocks of two processes may differ; a time further ahead is corrected by the next wrong PIN. */
const CLOCKS_APART_MS = 60_000;

/**
 * What a wrong PIN does to the count: one more failure, and a lock at the fifth. Its time is never earlier than the previous
 * one's, even if another process's clock wrote that: see `decidingCount`.
 */
export function afterWrongPin(
  count: LimitCount | undefined,
  now: number,
  tries = PIN_TRIES,
): { readonly row: LimitCount & { readonly pin_failed_at: number }; readonly left: number } {
  const failures = stillCounting(count, now) + 1;
  const left = Math.max(0, tries - failures);
  const locked_until = left === 0 ? now + PIN_LOCK_MS : null;
  const pin_failed_at = Math.max(now, Math.min(count?.pin_failed_at ?? now, now + CLOCKS_APART_MS));
  return { row: { pin_failures: failures, pin_failed_at, locked_until }, left };
}

/** The count after one more wrong PIN in a session, over all accounts: twenty end its tries for fifteen minutes. */
export function afterWrongPinOfSession(count: LimitCount | undefined, now: number): ReturnType<typeof afterWrongPin> {
  return afterWrongPin(count, now, SESSION_PIN_TRIES);
}

/** The count after one more wrong one-time code of an account: twenty lock its codes for fifteen minutes. */
export function afterWrongCode(count: LimitCount | undefined, now: number): ReturnType<typeof afterWrongPin> {
  return afterWrongPin(count, now, CODE_TRIES);
}

/**
 * The count of an account's wrong codes after a right one. It is not removed but written as one whose lock has passed, by any
 * process's clock, so that it counts nothing; and as the latest of the account's counts, so that it decides. Were it removed, an
 * older count under another master key, which a process without that key cannot see, would decide again.
 */
export function afterRightCode({ pin_failed_at }: LimitCount, now: number): ReturnType<typeof afterWrongPin>['row'] {
  const at = Math.max(now, (pin_failed_at ?? 0) + 1);
  return { pin_failures: 1, pin_failed_at: at, locked_until: now - CLOCKS_APART_MS };
}

/**
 * The count that decides for a number that has several: one under each master key. While a new key is rolled out, a process that
 * lacks one of two keys counts only under the other, so that a count may miss the latest tries. A locked count decides, and of
 * two the one that stays locked longer; if none is locked, the one that was written last, which has missed none.
 */
export function decidingCount<C extends LimitCount>(counts: readonly (C | undefined)[], now: number): C | undefined {
  let deciding: C | undefined;
  for (const count of counts) {
    if (count !== undefined && (deciding === undefined || outranks(count, deciding, now))) deciding = count;
  }
  return deciding;
}

function outranks(count: LimitCount, other: LimitCount, now: number): boolean {
  const [lock, otherLock] = [lockedFor(count, now) ?? 0, lockedFor(other, now) ?? 0];
  if (lock !== otherLock) return lock > otherLock;
  const [at, otherAt] = [count.pin_failed_at ?? 0, other.pin_failed_at ?? 0];
  return at === otherAt ? count.pin_failures > other.pin_failures : at > otherAt;
}

/** The failures that still count: none after a lock that has passed, or once they are forgotten. */
function stillCounting(count: LimitCount | undefined, now: number): number {
  if (count === undefined || count.pin_failed_at === null) return 0;
  const lockPassed = count.locked_until !== null && count.locked_until <= now;
  return lockPassed || count.pin_failed_at + PIN_MEMORY_MS <= now ? 0 : count.pin_failures;
}
