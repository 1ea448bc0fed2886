/**
 * Reads the values of command-line options: durations, times, lists and amounts by currency.
 */

import { isIP } from 'node:net';
import type { Currency } from '../domain/currency.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/durations.ts';
import { PAYMENT_METHODS } from '../domain/payment.ts';
import type { FeeRule, PaymentMethod, PayoutFeeMethod } from '../domain/records.ts';
import { requireLimit } from '../usecases/merchant-set.ts';
import { UsageError } from '../usecases/operator-error.ts';
import { requireAmount, requireCurrency } from '../usecases/operator-input.ts';
import type { Io } from './output.ts';

/** A value that stands for the first line of the standard input. */
const FROM_INPUT = '-';
/** Characters; no secret is longer. */
const MAX_LINE_LENGTH = 1_024;

/**
 * The value of an option that holds a secret. `-` means the first line of the standard input: what is written in a command can be
 * read by every user of the machine while it runs (`ps`), and stays in the shell's history.
 */
export async function readSecret(text: string, input: Io['input']): Promise<string> {
  if (text !== FROM_INPUT) return text;
  let read = '';
  for await (const piece of input?.() ?? []) {
    read += typeof piece === 'string' ? piece : Buffer.from(piece).toString();
    if (read.includes('\n') || read.length > MAX_LINE_LENGTH) break;
  }
  return read.split('\n', 1)[0]?.trim() ?? '';
}

const UNITS: { readonly [unit: string]: number } = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/**
 * A duration such as `90s`, `30m`, `24h`, `7d` or `0`, in milliseconds. `also`: what else the error says may be written, for a
 * caller that accepts no duration at all.
 */
export function readDuration(text: string, also: '' | ', or 0' = ''): number {
  if (text === '0') return 0;
  const match = /^([0-9]+)([smhd])$/.exec(text);
  if (match === null) {
    const units = 'in days (d), hours (h), minutes (m) or seconds (s)';
    throw new UsageError(`${JSON.stringify(text)} is not a duration: write it ${units}, like 24h or 30m${also}`);
  }
  return Number(match[1]) * (UNITS[match[2] ?? ''] ?? 0);
}

/** RFC 3339, which also allows small letters; most languages and databases write six or nine fraction digits. */
const TIME = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/i;

/** An ISO 8601 time with its zone, or a date (its start in UTC), in whole milliseconds since 1970. */
export function readTime(text: string): number {
  const day = TIME.exec(text)?.[1];
  const at = day === undefined ? Number.NaN : Date.parse(text.toUpperCase());
  if (Number.isNaN(at) || day === undefined || !isDay(day)) {
    throw new UsageError(`${JSON.stringify(text)} is not a time: write it like 2026-03-01T08:00:00Z or 2026-03-01`);
  }
  return at;
}

/** Years that are accepted; earlier and later ones are taken for typing errors. */
const YEARS = { first: 1970, last: 2999 };

/** Whether the day exists: `Date.parse` reads the 30th of February as a day in March. */
function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  const year = Number(day.slice(0, 'yyyy'.length));
  return year >= YEARS.first && year <= YEARS.last && midnight.toISOString().startsWith(day);
}

/** A whole number within bounds. */
export function readWhole(text: string, noun: string, from: number, to: number): number {
  const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= from && number <= to) return number;
  throw new UsageError(`the ${noun} must be a whole number from ${from} to ${to}`);
}

/**
 * E.164, as the phone-number library reads it, with nothing else around it. The library's tables are loaded only for commands that
 * need them.
 */
export async function readPhone(text: string): Promise<string> {
  const { default: parse } = await import('libphonenumber-js/max');
  const typed = text.trim();
  const phone = typed.startsWith('+') ? parse(typed, { extract: false }) : undefined;
  if (phone?.isValid() === true) return phone.number;
  throw new UsageError('the phone number is not valid: write it in international form, like +243810000042');
}

/** 1000 rows at most in one page of a list. */
const MAX_LISTED = 1_000;

/** `--limit` of a list. */
export function readLimit(text: string): number {
  return readWhole(text, 'limit', 1, MAX_LISTED);
}

/** `--status` of a list; `noun` says in errors what has the status. Dashes count as underscores. */
export function readStatus<S extends string>(text: string, statuses: readonly S[], noun: string): S {
  const status = statuses.find((known) => known === text.replaceAll('-', '_'));
  if (status !== undefined) return status;
  throw new UsageError(`${JSON.stringify(text)} is not a status of ${noun}: use one of ${statuses.join(', ')}`);
}

/** Items between commas, each once; `word` alone means no restriction and gives null. */
export function readList(text: string, word: string): readonly string[] | null {
  if (text === word) return null;
  const items = text.split(',').map((item) => item.trim());
  return [...new Set(items)].filter((item) => item !== '');
}

/** IP addresses and networks between commas; `any` gives null. */
export function readNetworks(text: string): readonly string[] | null {
  const list = readList(text, 'any');
  // An empty list would allow no address; the operator must have meant another list, or all addresses.
  if (list?.length === 0) throw new UsageError('name at least one address or network, like 192.0.2.7; or any');
  for (const item of list ?? []) {
    const [address = '', prefix = '0', ...rest] = item.split('/');
    const most = isIP(address) === 4 ? 32 : 128;
    if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > most) {
      throw new UsageError(`${JSON.stringify(item)} is not an address: write it like 192.0.2.7 or 10.0.0.0/8`);
    }
  }
  return list;
}

/** `usd:100.00` items between commas; `usd:default` gives null for that currency. */
export function readAmounts(text: string): ReadonlyMap<Currency, bigint | null> {
  const amounts = new Map<Currency, bigint | null>();
  for (const item of text.split(',')) {
    const [currency, amount] = readCurrencyPair(item);
    setOnce(amounts, currency, amount === 'default' ? null : requireAmount(amount, currency));
  }
  return amounts;
}

interface Limit {
  readonly min?: bigint;
  readonly max?: bigint;
}

/** `usd:1.00-5000.00` items between commas; either end may be missing, `usd:none` gives null for that currency. */
export function readLimits(text: string): ReadonlyMap<Currency, Limit | null> {
  const limits = new Map<Currency, Limit | null>();
  for (const item of text.split(',')) {
    const [currency, range] = readCurrencyPair(item);
    setOnce(limits, currency, range === 'none' ? null : readRange(item, currency, range));
  }
  return limits;
}

/** `wallet:usd:1.00-5000.00` items between commas: the same for single methods. */
export function readMethodLimits(text: string): ReadonlyMap<PaymentMethod, ReturnType<typeof readLimits>> {
  const byMethod = new Map<PaymentMethod, Map<Currency, Limit | null>>();
  for (const item of text.split(',')) {
    const colon = item.indexOf(':');
    if (colon < 0) throw new UsageError(`${JSON.stringify(item)} is not a limit: write it like wallet:usd:1-5000`);
    const method = requireMethod(item.slice(0, colon).trim());
    const limits = byMethod.get(method) ?? new Map<Currency, Limit | null>();
    for (const [currency, limit] of readLimits(item.slice(colon + 1)))
      setOnce(limits, currency, limit, `${method}:${currency}`);
    byMethod.set(method, limits);
  }
  return byMethod;
}

/** A payment method by its name. `also`: other names that the caller accepts, for the error. */
export function requireMethod(text: string, also: readonly string[] = []): PaymentMethod {
  const method = PAYMENT_METHODS.find((known) => known === text);
  if (method !== undefined) return method;
  const names = [...PAYMENT_METHODS, ...also].join(', ');
  throw new UsageError(`${JSON.stringify(text)} is not a payment method: use one of ${names}`);
}

const PAYOUT_FEES: readonly PayoutFeeMethod[] = ['payout_mobile_money', 'payout_wallet'];

/** The method that a fee is for: a payment method, or a payout method. */
export function requireFeeMethod(text: string): NonNullable<FeeRule['method']> {
  return PAYOUT_FEES.find((known) => known === text) ?? requireMethod(text, PAYOUT_FEES);
}

const NO_LIMIT = ' (leave it out for no limit)';

/** `1-5000`, `1..5000`, `1-` or `-5000`. */
function readRange(item: string, currency: Currency, range: string): Limit {
  const [min = '', max, ...rest] = range.split(/\.\.|-/);
  if (max === undefined || rest.length > 0 || (min === '' && max === '')) {
    throw new UsageError(
      `${JSON.stringify(item)} is not a limit: write it like ${currency}:1-5000 or ${currency}:none`,
    );
  }
  return {
    ...(min === '' ? {} : { min: requireAmount(min, currency, 'smallest amount', NO_LIMIT) }),
    ...(max === '' ? {} : { max: requireAmount(max, currency, 'largest amount', NO_LIMIT) }),
  };
}

/** `name:120` items between commas, by the names of rate limits; `name:default` gives null for that name. */
export function readCounts(text: string): ReadonlyMap<string, number | null> {
  const counts = new Map<string, number | null>();
  for (const item of text.split(',')) {
    const [name, count] = readPair(item);
    const most = requireLimit(name);
    setOnce(counts, name, count === 'default' ? null : readWhole(count, `limit ${JSON.stringify(name)}`, 1, most));
  }
  return counts;
}

/** Refuses a second value for the same name: it would be unclear which one was meant. `said`: the name as it was written. */
function setOnce<N extends string, V>(values: Map<N, V>, name: N, value: V, said: string = name): void {
  if (values.has(name)) throw new UsageError(`${said} is named twice: name it once, with one value`);
  values.set(name, value);
}

function readCurrencyPair(item: string): readonly [Currency, string] {
  const [currency, value] = readPair(item);
  return [requireCurrency(currency), value];
}

function readPair(item: string): readonly [string, string] {
  const [name = '', value = '', ...rest] = item.trim().split(':');
  if (rest.length > 0) throw new UsageError(`${JSON.stringify(item)} has too many parts: write one name and one value`);
  return [name, value];
}
