/**
 * Money: integer minor units and a currency. Parsed once at the edge, formatted once on the way out.
 *
 * Invariant: no `number` ever holds an amount. Every operation below is exact, or says how it rounds.
 */

import { type Currency, exponentOf } from './currency.ts';

/** An amount: minor units and their currency. */
export interface Money {
  readonly minor: bigint;
  readonly currency: Currency;
}

/** Contract §1: plain decimal notation, no sign, no exponent, no leading zeros, at most 15 integer digits. */
const AMOUNT = /^(0|[1-9][0-9]{0,14})(?:\.([0-9]+))?$/;

/**
 * Reads an amount as the contract writes it, for example `12.50` in `usd` as 1250 minor units.
 *
 * Returns undefined for anything else: a JSON number, a blank, `1e3`, more fraction digits than the currency
 * has, and amounts that are not above zero.
 */
export function parseAmount(text: unknown, currency: Currency): Money | undefined {
  if (typeof text !== 'string' || text.length > 32) return undefined;
  const match = AMOUNT.exec(text);
  if (match === null) return undefined;
  const whole = match[1] ?? '0';
  const fraction = match[2] ?? '';
  const exponent = exponentOf(currency);
  if (fraction.length > exponent) return undefined;
  const minor = BigInt(whole + fraction.padEnd(exponent, '0'));
  return minor > 0n ? { minor, currency } : undefined;
}

/**
 * Reads an amount written by another system, which may pad it with zeros that the currency does not have: `100.00` in `xof` is
 * 100.
 *
 * Returns undefined for whatever `parseAmount` does not read without those zeros.
 */
export function parsePaddedAmount(text: unknown, currency: Currency): Money | undefined {
  if (typeof text !== 'string' || text.length > 32) return undefined;
  const point = text.indexOf('.');
  if (point < 0) return parseAmount(text, currency);
  const kept = text.slice(0, point + 1 + exponentOf(currency));
  if (/[^0]/.test(text.slice(kept.length))) return undefined;
  return parseAmount(kept.endsWith('.') ? kept.slice(0, -1) : kept, currency);
}

/** Writes minor units with exactly the currency's fraction digits: 5 in `usd` is `0.05`, 5 in `xof` is `5`. */
export function formatMinor(minor: bigint, currency: Currency): string {
  const exponent = exponentOf(currency);
  const sign = minor < 0n ? '-' : '';
  const digits = (minor < 0n ? -minor : minor).toString().padStart(exponent + 1, '0');
  if (exponent === 0) return sign + digits;
  return `${sign}${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
}

/** An amount with its currency, for sentences: `12.50 usd`. */
export function moneyText(minor: bigint, currency: Currency): string {
  return `${formatMinor(minor, currency)} ${currency}`;
}

/** Divides and rounds half to even, the rule that does not drift when many amounts are rounded (contract §4). */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  if (denominator <= 0n || numerator < 0n) throw new RangeError('divideHalfEven takes n >= 0 and d > 0');
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  if (twice < denominator) return quotient;
  if (twice > denominator) return quotient + 1n;
  return quotient % 2n === 0n ? quotient : quotient + 1n;
}
