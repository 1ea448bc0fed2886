/**
 * Amounts, spans of time and dates, as the reader's language writes them.
 *
 * Invariant: an amount goes from minor units to text without ever being a floating-point number, with exactly the
 * fraction digits of our own table: `Intl` is wrong about some currencies.
 */

import { type Currency, exponentOf } from '../domain/currency.ts';
import { formatMinor } from '../domain/money.ts';
import type { Language } from '../messages/messages.ts';

/** The locale for `Intl`. Readers of Lingala are used to French figures. */
const LOCALES: { readonly [language in Language]: string } = {
  en: 'en',
  fr: 'fr',
  es: 'es',
  ru: 'ru',
  zh: 'zh',
  ln: 'fr',
};

const numbers = new Map<string, Intl.NumberFormat>();

/** `45,90 $US`, `$45.90`. */
export function amountText(language: Language, minor: bigint, currency: Currency): string {
  const digits = exponentOf(currency);
  const format = kept(numbers, `${language} ${currency}`, () => {
    const options = {
      style: 'currency',
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    } as const;
    return new Intl.NumberFormat(LOCALES[language], options);
  });
  const text = formatMinor(minor, currency);
  return isDecimal(text) ? format.format(text) : text;
}

function isDecimal(text: string): text is `${number}` {
  return /^-?\d+(\.\d+)?$/.test(text);
}

/** A span in one unit, rounded up: `28 min`, `45 s`, `3 h`. */
export function spanText(language: Language, milliseconds: number): string {
  return textOf(language, milliseconds, Math.ceil);
}

/** The time that is left for something, in one unit. Whole hours are rounded down: a customer who relies on them must not be late. */
export function leftText(language: Language, milliseconds: number): string {
  return textOf(language, milliseconds, Math.floor);
}

/** `whole` rounds hours and days. */
function textOf(language: Language, milliseconds: number, whole: (count: number) => number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000));
  if (seconds < 90) return unitText(language, seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  if (minutes <= 120) return unitText(language, minutes, 'minute');
  const hours = whole(minutes / 60);
  return hours <= 48 ? unitText(language, hours, 'hour') : unitText(language, whole(hours / 24), 'day');
}

function unitText(language: Language, count: number, unit: 'second' | 'minute' | 'hour' | 'day'): string {
  const style = { style: 'unit', unit, unitDisplay: unit === 'day' ? 'long' : 'short' } as const;
  return kept(numbers, `${language} ${unit}`, () => new Intl.NumberFormat(LOCALES[language], style)).format(count);
}

/** Minutes and seconds: `3:08`. */
export function clockText(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1_000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const moments = new Map<Language, Intl.DateTimeFormat>();

/** Date and time in UTC, and marked so: the server does not know where the reader is. */
export function momentText(language: Language, at: number): string {
  const style = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  const format = kept(moments, language, () => new Intl.DateTimeFormat(LOCALES[language], style));
  return `${format.format(at)} UTC`;
}

const regions = new Map<Language, Intl.DisplayNames>();

/** A country's name in the reader's language. */
export function countryText(language: Language, country: string): string {
  const names = kept(regions, language, () => new Intl.DisplayNames(LOCALES[language], { type: 'region' }));
  return names.of(country) ?? country;
}

function kept<K, F>(formats: Map<K, F>, key: K, make: () => F): F {
  let format = formats.get(key);
  if (format === undefined) {
    format = make();
    formats.set(key, format);
  }
  return format;
}
