/**
 * What an operator types, checked and made into our values.
 *
 * Invariant: whatever is wrong with it is a UsageError that says how it is written, thrown before anything is done.
 */

import { CURRENCIES, type Currency, exponentOf, isCurrency } from '../domain/currency.ts';
import { DAY_MS } from '../domain/durations.ts';
import { isId, type Prefix, shardOf } from '../domain/ids.ts';
import { formatMinor, parseAmount } from '../domain/money.ts';
import type { Merchant } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import { OperatorError, UsageError } from './operator-error.ts';

/** The merchant with that id. @throws OperatorError when there is none. */
export async function requireMerchant(deps: Pick<Deps, 'store'>, merchantId: string): Promise<Merchant> {
  requireId('mch', merchantId, 'merchant');
  const merchant = await deps.store.merchant.get(shardOf(merchantId), merchantId);
  if (merchant === undefined)
    throw new OperatorError(`there is no merchant ${merchantId}: see \`mbongo merchant list\``);
  return merchant;
}

/** Refuses text that does not have the form of an id: the shard is read from the id. */
export function requireId(prefix: Prefix, id: string, noun: string): void {
  if (!isId(prefix, id)) throw new UsageError(`the ${noun} id is not valid: it must be ${prefix}_ and 26 characters`);
}

/** Which operator gives a command, and on what grounds. */
export interface Attribution {
  readonly by: string;
  readonly why: string | null;
}

const MAX_ATTRIBUTION = 500;

/** Requires an attribution that can be logged: with a name, and each text one clean line. */
export function requireAttribution({ by, why }: Attribution): Attribution {
  return {
    by: requireLine(by, '--by', MAX_ATTRIBUTION),
    why: why === null ? null : requireLine(why, '--why', MAX_ATTRIBUTION),
  };
}

/** Characters that end a line, change the reading order, or are invisible or malformed: they could forge the text around them. */
const UNREADABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/u;

/** A text for people, as it is stored: one clean line, trimmed. `noun` names it in the error. */
export function requireLine(text: string, noun: string, most: number): string {
  const line = text.trim().normalize('NFC');
  if (line !== '' && line.length <= most && !UNREADABLE.test(line)) return line;
  throw new UsageError(`${noun} must be one line of 1 to ${most} characters in UTF-8, without invisible characters`);
}

/** 140 characters of an operator's reference of money that moves: what a statement can show. */
const MAX_REFERENCE = 140;

/** The reference under which an operator moves money. Its blanks count as one plain space each: nobody sees how they differ. */
export function requireReference(text: string): string {
  return requireLine(text.replaceAll(/\p{Zs}+/gu, ' '), 'the reference', MAX_REFERENCE);
}

/** A currency's code, as the operator wrote it. */
export function requireCurrency(text: string): Currency {
  if (isCurrency(text)) return text;
  throw new UsageError(
    `${JSON.stringify(text)} is not a currency of this gateway: use one of ${CURRENCIES.join(', ')}`,
  );
}

const ZERO = /^0(\.0+)?$/;

/** An amount above zero in minor units. `unsaid`: what else the error says may be written, by a caller that has a way around. */
export function requireAmount(text: string, currency: Currency, noun = 'amount', unsaid = ''): bigint {
  const money = parseAmount(text, currency);
  if (money !== undefined) return money.minor;
  const example = formatMinor(parseAmount('100', currency)?.minor ?? 0n, currency);
  const rule = brokenRule(text, currency, unsaid);
  throw new UsageError(`${JSON.stringify(text)} is not a valid ${noun} in ${currency}: ${rule} ${example}`);
}

/** What is wrong with a text that is no amount; an example follows. */
function brokenRule(text: string, currency: Currency, unsaid: string): string {
  if (ZERO.test(text)) return `it must be above zero${unsaid}, like`;
  const decimals = exponentOf(currency);
  const written = /^\d+\.(\d+)$/.exec(text)?.[1]?.length ?? 0;
  if (written <= decimals) return 'write it like';
  return `${currency} has ${decimals === 0 ? 'no decimals' : `at most ${decimals} decimals`}, like`;
}

/** An amount that may also be zero. */
export function requireAmountOrZero(text: string, currency: Currency, noun: string): bigint {
  return ZERO.test(text) ? 0n : requireAmount(text, currency, noun);
}

/** Refuses a span that runs backwards or is empty: it would always find nothing. */
export function requireSpan({ from, to }: { readonly from: number; readonly to: number }, unsaid = ''): void {
  if (from >= to) throw new UsageError(`--from must be before --to${unsaid}`);
}

/** Refuses a grace period that is not a whole number of milliseconds from 0 up to 30 days. */
export function requireGrace(ms: number): void {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > 30 * DAY_MS) {
    throw new UsageError('the grace period must be from 0 to 30 days, for example 24h');
  }
}
