/**
 * What an operator's commands have in common: how they are refused, and how they happen once.
 *
 * Invariant: a command whose commit was acknowledged has happened once; one whose answer was lost is looked up, and
 * never carried out a second time.
 */

import type { Change, Claim } from '../domain/change.ts';
import { CURRENCIES, type Currency, isCurrency } from '../domain/currency.ts';
import { isId, type Prefix, shardOf } from '../domain/ids.ts';
import { formatMinor, parseAmount } from '../domain/money.ts';
import type { Merchant } from '../domain/records.ts';
import type { Deps } from './deps.ts';

/** What an operator's command is handed; the command line, the console and `serve` have it alike. */
export type OperatorDeps = Pick<Deps, 'store' | 'clock' | 'random' | 'secrets' | 'mode'>;

/** A command that is not carried out. The message is one English sentence that says what to do; it holds no secret. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

const TRIES = 5;

/**
 * Commits a change that has no guard of its own, once. `commandId` names the command and is remembered for a day.
 *
 * Answers `lost` when something that the change relied on has moved, or a floor was reached. Throws `CommitUnknown`
 * when the database stays away.
 */
export async function commitOnce(
  deps: Pick<Deps, 'store' | 'clock'>,
  shard: number,
  commandId: string,
  change: Change,
): Promise<'won' | 'lost'> {
  const id = `command:${commandId}`;
  const row = { shard, id, version: 1, request_hash: '', status: 200, body: '', created_at: deps.clock.now() };
  const claim: Claim = { table: 'idempotency', row };
  const whole = { ...change, claims: [claim, ...(change.claims ?? [])] };
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await deps.store.commit(whole)) === 'won') return 'won';
      return (await deps.store.idempotency.get(shard, id)) === undefined ? 'lost' : 'won';
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'CommitUnknown' || attempt === TRIES) throw error;
    }
  }
}

/** The merchant with that id. */
export async function requireMerchant(deps: Pick<Deps, 'store'>, merchantId: string): Promise<Merchant> {
  requireId('mch', merchantId, 'merchant');
  const merchant = await deps.store.merchant.get(shardOf(merchantId), merchantId);
  if (merchant === undefined)
    throw new OperatorError(`there is no merchant ${merchantId}: see \`mbongo merchant list\``);
  return merchant;
}

/** Refuses what has not the form of an id: a shard is read from it. */
export function requireId(prefix: Prefix, id: string, noun: string): void {
  if (!isId(prefix, id)) throw new OperatorError(`that is no ${noun} id: it looks like ${prefix}_ and 26 characters`);
}

/** A currency's code, as the operator wrote it. */
export function requireCurrency(text: string): Currency {
  if (isCurrency(text)) return text;
  throw new OperatorError(
    `${JSON.stringify(text)} is no currency of this gateway: use one of ${CURRENCIES.join(', ')}`,
  );
}

/** An amount above zero in minor units. */
export function requireAmount(text: string, currency: Currency, noun = 'amount'): bigint {
  const money = parseAmount(text, currency);
  if (money !== undefined) return money.minor;
  const example = formatMinor(parseAmount('100', currency)?.minor ?? 0n, currency);
  throw new OperatorError(`${JSON.stringify(text)} is no ${noun} in ${currency}: write it like ${example}`);
}

/** An amount that may also be zero. */
export function requireAmountOrZero(text: string, currency: Currency, noun = 'amount'): bigint {
  return /^0(\.0+)?$/.test(text) ? 0n : requireAmount(text, currency, noun);
}

/** Refuses a grace that is no whole number of milliseconds from 0 up to 30 days. */
export function requireGrace(ms: number): void {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > 30 * 24 * 60 * 60_000) {
    throw new OperatorError('the grace must be from 0 to 30 days, for example 24h');
  }
}
