/**
 * One-time codes: six digits that prove that the customer holds the wallet's phone (contract §4, §8).
 *
 * Invariant: at most five codes are evaluated in five minutes per payment, right or wrong, however parallel they
 * come: each try is written by a guarded update before it is answered.
 */

import type { OneTimeCode } from './records.ts';

export const CODE_LIFE_MS = 10 * 60_000;
export const CODE_TRIES = 5;
export const CODE_WINDOW_MS = 5 * 60_000;
export const CODE_RESENDS = 3;

/** The tries that still count, newest last. */
export function recentTries(code: OneTimeCode, now: number): number[] {
  return code.tries.filter((at) => at > now - CODE_WINDOW_MS);
}

/** Seconds until the next try counts again; undefined while there are tries left. */
export function triesUsedUp(code: OneTimeCode, now: number): number | undefined {
  const tries = recentTries(code, now);
  const oldest = tries[tries.length - CODE_TRIES];
  return oldest === undefined ? undefined : Math.max(1, Math.ceil((oldest + CODE_WINDOW_MS - now) / 1000));
}

/** Six digits, leading zeros included. */
export function writeCode(value: number): string {
  return String(value % 1_000_000).padStart(6, '0');
}

/** From which amount a code is asked when the merchant has not set it: about the worth of 100 US dollars, in minor units. */
export const CODE_THRESHOLDS: { readonly [currency: string]: bigint } = {
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
