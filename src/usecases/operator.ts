/**
 * What an operator's commands have in common: how they are refused, and how they happen once.
 *
 * Invariant: a command whose commit was acknowledged has happened once; one whose answer was lost is looked up, and
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

/** What an operator's command is handed; the command line, the console and `serve` have it alike. */
export type OperatorDeps = Pick<Deps, 'store' | 'clock' | 'random' | 'secrets' | 'mode'>;

/** A command that is not carried out. The message is one English sentence that says what to do; it holds no secret. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

/**
 * A command that is wrongly asked: it could not be carried out whatever the database holds, because an option has a value
 * that it never may have, or lacks the one that goes with it. The exit status says so (docs/operating.md).
 */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}

/** How long to wait before each further try, once an answer was lost: some ten seconds in all, a database's restart. */
const PAUSES_MS = [200, 500, 1_000, 2_500, 5_500];
const LOOK_AT_BALANCE = 'look at the balance first';

/**
 * Runs what ends in a commit. Once a commit's answer was lost, later failures do not resolve the doubt: it is retried, and
 * finally reported as unknown. `attempt` must be safe to repeat, and recognise what an earlier try committed. A failure before
 * any doubt is thrown as it is: nothing was written.
 *
 * @throws OperatorError that says it may have happened, and `look`: what to look at before doing it again.
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
  const certainty = happened === 'has' ? 'it has happened, once' : 'it may have happened';
  throw new OperatorError(`the database went away before it answered, but ${certainty}: ${look}`);
}

/** The loop of `commitDecision` for operators, who wait for a lost answer; `look` as for `commitOnce`. */
export function commitDecisionKnown<R, A>(
  deps: Pick<Deps, 'store' | 'clock'>,
  read: () => Promise<R>,
  decide: (rows: R) => { readonly change?: Change; readonly answer: A },
  look: string,
): Promise<A> {
  return untilKnown(deps, () => commitDecision(deps.store, read, decide), look);
}

/** Reads what a command answers with once it has happened: from then on no failure may read as if it had not. */
export function readAfter<A>(deps: Pick<Deps, 'clock'>, read: () => Promise<A>, look = LOOK_AT_BALANCE): Promise<A> {
  return untilKnown(deps, read, look, 'has');
}

/**
 * Commits a change that has no guard of its own, once. `commandId` names the command and is remembered for a day. Its
 * events are due at once: a command posts none, so that any worker may.
 *
 * Answers `lost` when something that the change relied on has moved, or a floor was reached.
 *
 * @throws OperatorError that ends in `look` when the database stays away after an answer was lost; a store's own error
 *   when nothing was written.
 */
export async function commitOnce(
  deps: Pick<Deps, 'store' | 'clock'>,
  shard: number,
  commandId: string,
  change: Change,
  look = LOOK_AT_BALANCE,
): Promise<'won' | 'lost'> {
  const id = `command:${commandId}`;
  const now = deps.clock.now();
  const row = { shard, id, version: 1, request_hash: '', status: 200, body: '', created_at: now };
  const claim: Claim = { table: 'idempotency', row };
  const whole = dueAtOnce({ ...change, claims: [claim, ...(change.claims ?? [])] }, now);
  const attempt = async (): Promise<'won' | 'lost'> => {
    if ((await deps.store.commit(whole)) === 'won') return 'won';
    // Lost against an earlier try of ours, if our claim stands.
    return (await deps.store.idempotency.get(shard, id)) === undefined ? 'lost' : 'won';
  };
  return untilKnown(deps, attempt, look);
}

/** Losing this often means that something is wrong with the rule: who has come first is found the next time round. */
const MOST_ROUNDS = 50;

/**
 * An operator's decision about one thing: decided on fresh rows, and committed once (`commitOnce`, which `look` is for). Whoever
 * loses against somebody else's word looks again, and finds out what has been done. `decide` reads what it decides on, each
 * time anew, and throws an OperatorError where nothing can be decided any more.
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

/** A change of a command: its events, which are born leased to whoever posts them from memory, wait for nobody. */
export function dueAtOnce(change: Change, next_at: number): Change {
  const inserts = change.inserts?.map((insert): Insert => {
    return insert.table === 'webhook_event' ? { ...insert, row: { ...insert.row, next_at } } : insert;
  });
  return inserts === undefined ? change : { ...change, inserts };
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
  if (!isId(prefix, id)) throw new UsageError(`that is no ${noun} id: it looks like ${prefix}_ and 26 characters`);
}

/** Who says so, and on what grounds. */
export interface Say {
  readonly by: string;
  readonly why: string | null;
}

const SAY_MOST = 500;

/** As it stands in the log, which is left neither without a name nor with more than a line. */
export function requireSay({ by, why }: Say): Say {
  return {
    by: requireLine(by, 'who says so', SAY_MOST),
    why: why === null ? null : requireLine(why, 'why', SAY_MOST),
  };
}

/** Characters that end a line, change the reading order, are invisible or malformed: they could forge the text around them. */
const UNREADABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/u;

/** A text that people read, as it is kept: one clean line, without the blanks around it. `noun` is what it says. */
export function requireLine(text: string, noun: string, most: number): string {
  const line = text.trim().normalize('NFC');
  if (line !== '' && line.length <= most && !UNREADABLE.test(line)) return line;
  throw new UsageError(`${noun} is one line of 1 to ${most} characters in UTF-8, without invisible characters`);
}

/** A currency's code, as the operator wrote it. */
export function requireCurrency(text: string): Currency {
  if (isCurrency(text)) return text;
  throw new UsageError(`${JSON.stringify(text)} is no currency of this gateway: use one of ${CURRENCIES.join(', ')}`);
}

/** An amount above zero in minor units. */
export function requireAmount(text: string, currency: Currency, noun = 'amount'): bigint {
  const money = parseAmount(text, currency);
  if (money !== undefined) return money.minor;
  const example = formatMinor(parseAmount('100', currency)?.minor ?? 0n, currency);
  throw new UsageError(`${JSON.stringify(text)} is no ${noun} in ${currency}: write it like ${example}`);
}

/** An amount that may also be zero. */
export function requireAmountOrZero(text: string, currency: Currency, noun = 'amount'): bigint {
  return /^0(\.0+)?$/.test(text) ? 0n : requireAmount(text, currency, noun);
}

/** Refuses a span that runs backwards or holds no time: nothing is what it would always find. */
export function requireSpan({ from, to }: { readonly from: number; readonly to: number }, unsaid = ''): void {
  if (from >= to) throw new UsageError(`--from must be before --to${unsaid}`);
}

/** Refuses a grace that is no whole number of milliseconds from 0 up to 30 days. */
export function requireGrace(ms: number): void {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > 30 * 24 * 60 * 60_000) {
    throw new UsageError('the grace must be from 0 to 30 days, for example 24h');
  }
}
