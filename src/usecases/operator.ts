/**
 * What operators' commands have in common: how they are refused, and how they take effect once.
 *
 * Invariant: a command whose commit was acknowledged has taken effect once; one whose outcome was lost is looked up, and
 * never carried out a second time.
 */

import type { Change, Claim, Insert } from '../domain/change.ts';
import { CURRENCIES, type Currency, isCurrency } from '../domain/currency.ts';
import { isId, type Prefix, shardOf } from '../domain/ids.ts';
import { formatMinor, parseAmount } from '../domain/money.ts';
import type { Merchant } from '../domain/records.ts';
import { CommitUnknown } from '../store/errors.ts';
import { type Deps, newId } from './deps.ts';
import { pause } from './patience.ts';
import { commitDecision } from './perform.ts';

/** What an operator's command is handed, the same from the command line, the console and `serve`. */
export type OperatorDeps = Pick<Deps, 'store' | 'clock' | 'random' | 'secrets' | 'mode'>;

/** A command was not carried out. The message is one English sentence that says what to do; it holds no secret. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

/**
 * A command was used wrongly: it could not be carried out whatever the database holds, because an option has an invalid value,
 * or an option that it needs is missing. The exit status says so (docs/operating.md).
 */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}

/** Pauses before each further try once an outcome was lost: some ten seconds in all, which covers a database's restart. */
const PAUSES_MS = [200, 500, 1_000, 2_500, 5_500];
const LOOK_AT_BALANCE = 'check the balance first';

/**
 * Runs work that ends in a commit. Once a commit's outcome was lost, later failures do not resolve the doubt: the work is
 * retried, and finally reported as unknown. `attempt` must be safe to repeat, and recognise what an earlier try committed. A
 * failure before any doubt is thrown as it is: nothing was written.
 *
 * @throws OperatorError that says that it may have happened, and `look`: what to check before doing it again.
 */
async function untilKnown<A>(
  deps: Pick<Deps, 'clock'>,
  attempt: () => Promise<A>,
  look: string,
  happened: 'may' | 'has' = 'may',
): Promise<A> {
  let inDoubt = happened === 'has';
  for (const milliseconds of [...PAUSES_MS, undefined]) {
    try {
      return await attempt();
    } catch (error) {
      inDoubt ||= error instanceof CommitUnknown;
      if (!inDoubt || error instanceof OperatorError) throw error;
    }
    if (milliseconds !== undefined) await pause(deps.clock, milliseconds);
  }
  const certainty = happened === 'has' ? 'the command has taken effect, once' : 'the command may have taken effect';
  throw new OperatorError(`the database went away before it answered, but ${certainty}: ${look}`);
}

/** The loop of `commitDecision` for operators, who wait until a lost outcome is known; `look` as for `commitOnce`. */
export function commitDecisionKnown<R, A>(
  deps: Pick<Deps, 'store' | 'clock'>,
  read: () => Promise<R>,
  decide: (rows: R) => { readonly change?: Change; readonly answer: A },
  look: string,
): Promise<A> {
  return untilKnown(deps, () => commitDecision(deps.store, read, decide), look);
}

/** Reads what a command reports once it has taken effect: from then on no failure may look as if it had not. */
export function readAfter<A>(deps: Pick<Deps, 'clock'>, read: () => Promise<A>, look = LOOK_AT_BALANCE): Promise<A> {
  return untilKnown(deps, read, look, 'has');
}

/** Claims a command's name for a day: of two changes with the same name, the second one is lost. */
function commandClaim(
  shard: number,
  commandId: string,
  now: number,
): Extract<Claim, { readonly table: 'idempotency' }> {
  const id = `command:${commandId}`;
  return {
    table: 'idempotency',
    row: { shard, id, version: 1, request_hash: '', status: 200, body: '', created_at: now },
  };
}

/**
 * Commits a change once, even if it has no guard of its own. `commandId` names the command and is remembered for a day. Its
 * events are due at once: a command posts no webhooks, so any worker may.
 *
 * Returns `lost` when something that the change relied on has moved, or a balance would go below its floor.
 *
 * @throws OperatorError that ends in `look` when the database stays away after an outcome was lost; the store's own error
 *   when nothing was written.
 */
export async function commitOnce(
  deps: Pick<Deps, 'store' | 'clock'>,
  shard: number,
  commandId: string,
  change: Change,
  look = LOOK_AT_BALANCE,
): Promise<'won' | 'lost'> {
  const now = deps.clock.now();
  const claim = commandClaim(shard, commandId, now);
  const whole = dueAtOnce({ ...change, claims: [claim, ...(change.claims ?? [])] }, now);
  const attempt = async (): Promise<'won' | 'lost'> => {
    if ((await deps.store.commit(whole)) === 'won') return 'won';
    // If our claim exists, the change lost only to an earlier try of our own.
    return (await deps.store.idempotency.get(shard, claim.row.id)) === undefined ? 'lost' : 'won';
  };
  return untilKnown(deps, attempt, look);
}

/** 50 rounds: losing this often means that the rule is wrong, since each round decides on what the winner wrote. */
const MOST_ROUNDS = 50;

/**
 * Commits an operator's decision once, on fresh rows (`look` is for `commitOnce`). If it loses to another decision, it is decided
 * again, and finds what the other one did. `decide` reads its rows anew each time, and throws an OperatorError when there is
 * nothing left to decide.
 */
export async function decideOnce<A>(
  deps: Pick<Deps, 'store' | 'clock' | 'random'>,
  shard: number,
  look: string,
  decide: () => Promise<{ readonly change: Change; readonly answer: A }>,
): Promise<A> {
  const commandId = newId(deps, 'evt', shard);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const { change, answer } = await decide();
    if ((await commitOnce(deps, shard, commandId, change, look)) === 'won') return answer;
  }
  throw new Error('a decision lost against its neighbours too often');
}

/** A command's change, with its events due at once: events are otherwise made leased to a process that posts them from memory. */
export function dueAtOnce(change: Change, next_at: number): Change {
  const inserts = change.inserts?.map((insert): Insert => {
    return insert.table === 'webhook_event' ? { ...insert, row: { ...insert.row, next_at } } : insert;
  });
  return inserts === undefined ? change : { ...change, inserts };
}

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

const ATTRIBUTION_MOST = 500;

/** Requires an attribution that can be logged: with a name, and each text one clean line. */
export function requireAttribution({ by, why }: Attribution): Attribution {
  return {
    by: requireLine(by, '--by', ATTRIBUTION_MOST),
    why: why === null ? null : requireLine(why, '--why', ATTRIBUTION_MOST),
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
const REFERENCE_MOST = 140;

/** The reference under which an operator moves money. Its blanks count as one plain space each: nobody sees how they differ. */
export function requireReference(text: string): string {
  return requireLine(text.replaceAll(/\p{Zs}+/gu, ' '), 'the reference', REFERENCE_MOST);
}

/** A currency's code, as the operator wrote it. */
export function requireCurrency(text: string): Currency {
  if (isCurrency(text)) return text;
  throw new UsageError(
    `${JSON.stringify(text)} is not a currency of this gateway: use one of ${CURRENCIES.join(', ')}`,
  );
}

/** An amount above zero in minor units. */
export function requireAmount(text: string, currency: Currency, noun = 'amount'): bigint {
  const money = parseAmount(text, currency);
  if (money !== undefined) return money.minor;
  const example = formatMinor(parseAmount('100', currency)?.minor ?? 0n, currency);
  throw new UsageError(`${JSON.stringify(text)} is not a valid ${noun} in ${currency}: write it like ${example}`);
}

/** An amount that may also be zero. */
export function requireAmountOrZero(text: string, currency: Currency, noun: string): bigint {
  return /^0(\.0+)?$/.test(text) ? 0n : requireAmount(text, currency, noun);
}

/** Refuses a span that runs backwards or is empty: it would always find nothing. */
export function requireSpan({ from, to }: { readonly from: number; readonly to: number }, unsaid = ''): void {
  if (from >= to) throw new UsageError(`--from must be before --to${unsaid}`);
}

/** Refuses a grace period that is not a whole number of milliseconds from 0 up to 30 days. */
export function requireGrace(ms: number): void {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > 30 * 24 * 60 * 60_000) {
    throw new UsageError('the grace period must be from 0 to 30 days, for example 24h');
  }
}
