/**
 * One-time codes: six digits that prove that the customer holds the wallet's phone (contract §4, §8).
 *
 * Invariant: at most five codes are evaluated in five minutes per payment, right or wrong, however many arrive in parallel; fewer
 * if its merchant has set a lower limit. Each try is written by a guarded update before it is answered.
 */

import type { Currency } from './currency.ts';
import { HOUR_MS, MINUTE_MS } from './durations.ts';
import { secondsUntil } from './elapsed.ts';
import type { LimitCount, Merchant, OneTimeCode, Payment, Wallet } from './records.ts';
import { CODE_GUARDS, guardedCalls } from './traffic-limit.ts';

/** 10 min for which a code is valid, in milliseconds (contract §4). */
export const CODE_LIFE_MS = 10 * MINUTE_MS;
/** Milliseconds for which a try counts. */
export const CODE_WINDOW_MS = CODE_GUARDS.codes.seconds * 1000;
const CODE_RESENDS = 3;

/** What is left of a limit that guards a code: how many, and the whole seconds until that changes. */
export interface Left {
  readonly count: number;
  readonly seconds: number;
}

/** The tries that still count, newest last. */
export function recentTries(code: Pick<OneTimeCode, 'tries'>, now: number): number[] {
  return code.tries.filter((at) => at > now - CODE_WINDOW_MS);
}

/** The tries that are left of `most`, and when the oldest no longer counts; all of them if no code was ever requested. */
export function triesLeft(code: Pick<OneTimeCode, 'tries'> | undefined, now: number, most: number): Left {
  const tries = code === undefined ? [] : recentTries(code, now).slice(-most);
  return { count: most - tries.length, seconds: secondsUntil((tries[0] ?? now) + CODE_WINDOW_MS, now) };
}

/** How many codes a payment gets besides its first: three, or its merchant's own limit if that is lower. */
export function mostResends({ settings }: Pick<Merchant, 'settings'>): number {
  return Math.min(CODE_RESENDS, guardedCalls('resends', settings.rate_limits));
}

/** The resends that are left of the payment's `most`; used ones do not come back before the payment ends. */
export function resendsLeft(resends: number, most: number, endsAt: number, now: number): Left {
  return { count: Math.max(0, most - resends), seconds: secondsUntil(endsAt, now) };
}

/**
 * Whether an operator has changed the account since its PIN was verified for this code: then neither the code nor another one pays,
 * and the payment has to be begun anew.
 */
export function isOutdated(
  code: Pick<OneTimeCode, 'account_changes'> | undefined,
  wallet: Pick<Wallet, 'changes'> | undefined,
): boolean {
  return code !== undefined && wallet !== undefined && code.account_changes !== wallet.changes;
}

/** 1 h: the span in which the texts for an account are counted. It begins with the first of them. */
export const TEXTS_SPAN_MS = HOUR_MS;

/** Whether a count's span has not ended. A span that has yet to begin was begun by a process whose clock is ahead. */
function isCounting(
  count: LimitCount | undefined,
  now: number,
): count is LimitCount & { readonly pin_failed_at: number } {
  return count !== undefined && count.pin_failed_at !== null && now < count.pin_failed_at + TEXTS_SPAN_MS;
}

/** The texts that are left of `most` for an account, and when its span ends. */
export function textsLeft(count: LimitCount | undefined, now: number, most: number): Left {
  if (!isCounting(count, now)) return { count: most, seconds: secondsUntil(now + TEXTS_SPAN_MS, now) };
  return {
    count: Math.max(0, most - count.pin_failures),
    seconds: secondsUntil(count.pin_failed_at + TEXTS_SPAN_MS, now),
  };
}

/** What one more text does to the count, which is kept in the form of one of wrong PINs: when its span began, and how many. */
export function afterText(count: LimitCount | undefined, now: number): LimitCount & { readonly pin_failed_at: number } {
  const [began, sent] = isCounting(count, now) ? [count.pin_failed_at, count.pin_failures] : [now, 0];
  return { pin_failures: sent + 1, pin_failed_at: began, locked_until: null };
}

/**
 * When a payment that waits for its code expires: not before the code. Its session may end sooner, but any live session of the
 * merchant may still finish the payment (contract §3).
 */
export function expiryWithCode(payment: Pick<Payment, 'expires_at'>, code: Pick<OneTimeCode, 'expires_at'>): number {
  return Math.max(payment.expires_at, code.expires_at);
}

/** Six digits. */
export const CODE_FORM = /^[0-9]{6}$/;

/** Six digits, leading zeros included. */
export function writeCode(value: number): string {
  return String(value % 1_000_000).padStart(6, '0');
}

/** Minor units from which a code is required if the merchant has set no threshold: about the worth of 100 US dollars. */
export const CODE_THRESHOLDS: { readonly [currency in Currency]: bigint } = {
  usd: 100_00n,
  cdf: 230_000_00n,
  eur: 90_00n,
  xof: 58_000n,
  xaf: 58_000n,
  kes: 13_000_00n,
  ugx: 360_000n,
  tzs: 250_000_00n,
  zmw: 2_300_00n,
  rwf: 145_000n,
  bif: 295_000n,
  ngn: 145_000_00n,
  ghs: 1_100_00n,
  zar: 1_700_00n,
};
