/**
 * A merchant's statement: every line of its accounts in a span of time, with the balances before and after.
 *
 * Invariant: a statement adds up: the closing balance is the opening one plus every line between. A line that is committed a few
 * moments later than others of its time may be missed by a read in progress; the next read has it.
 */

import { mayBeArchived } from '../domain/archive.ts';
import type { Currency } from '../domain/currency.ts';
import { startOfDay } from '../domain/day.ts';
import { type MerchantAccount, merchantAccount } from '../domain/ledger.ts';
import type { Merchant } from '../domain/records.ts';
import { refuseField } from '../domain/refusal.ts';
import type { TransferCause } from '../domain/transfer-cause.ts';
import type { LedgerLine, LedgerSide } from '../store/ledger-reads.ts';
import type { Deps } from './deps.ts';

/** Which statement is asked for. */
export interface StatementOrder {
  readonly currency: Currency;
  /** Which balances to show. */
  readonly balances: readonly MerchantAccount[];
  /** Inclusive, milliseconds. */
  readonly from: number;
  /** Exclusive; an instant in the future means up to now. */
  readonly until: number;
}

/** All balances, for a statement that shows every one. */
export const ALL_BALANCES: readonly MerchantAccount[] = ['available', 'reserved', 'held'];

/** Minor units, in the order of the statement's balances. */
export type Standing = readonly bigint[];

/** One movement on one balance. */
export interface StatementLine {
  readonly id: string;
  readonly at: number;
  readonly balance: MerchantAccount;
  /** Minor units; negative if taken out. */
  readonly moved: bigint;
  /** That balance after the line. */
  readonly after: bigint;
  readonly cause: TransferCause;
  /** The payment, payout, refund or command that moved it. */
  readonly causeId: string;
  readonly customerReference: string | null;
}

/** How far a statement has been read. */
export interface StatementPosition {
  readonly order: StatementOrder;
  /** The balances before and after the whole span. */
  readonly opening: Standing;
  readonly closing: Standing;
  /** The balances after the last line read. */
  readonly running: Standing;
  readonly after: { readonly at: number; readonly id: string; readonly side: LedgerSide } | undefined;
}

/** Some lines of a statement, oldest first, with the balances around them. */
export interface StatementPage {
  /** Where the page begins, with the span's closing balances as now known. */
  readonly begun: StatementPosition;
  readonly lines: readonly StatementLine[];
  /** The balances after its last line. */
  readonly closing: Standing;
  /** Where the next page begins; undefined: this is the last one. */
  readonly next: StatementPosition | undefined;
}

/** Refuses a span whose lines have been dropped from the archive, since the statement would not add up. */
async function requireKept({ store }: Deps, from: number, now: number): Promise<void> {
  const begins = mayBeArchived(from, now) ? await store.archive.ledgerBegins() : undefined;
  if (begins === undefined || from >= startOfDay(begins)) return;
  throw refuseField(1110, 'from', 'BEFORE_RECORDS', { day: begins });
}

/** The beginning of a statement, which fixes its span. @throws Refusal 1110 when lines of the span are no longer kept. */
export async function openStatement(deps: Deps, merchant: Merchant, asked: StatementOrder): Promise<StatementPosition> {
  const now = deps.clock.now();
  const order = { ...asked, until: Math.max(asked.from, Math.min(asked.until, now + 1)) };
  await requireKept(deps, order.from, now);
  const accounts = accountsOf(merchant, order);
  const standingAt = async (at: number): Promise<Standing> => {
    const balances = await deps.store.ledger.balancesBefore(merchant.shard, accounts, at, now);
    return accounts.map((account) => balances.get(account) ?? 0n);
  };
  const [opening, closing] = await Promise.all([standingAt(order.from), standingAt(order.until)]);
  return { order, opening, closing, running: opening, after: undefined };
}

/** A page of a statement. @throws Refusal 1110 when lines that it should have are no longer kept. */
export async function readStatement(
  deps: Deps,
  merchant: Merchant,
  begun: StatementPosition,
  limit: number,
): Promise<StatementPage> {
  const { order, after } = begun;
  const accounts = accountsOf(merchant, order);
  // One line more than the page, to learn whether there is another page.
  const found = await deps.store.ledger.lines({
    shard: merchant.shard,
    accounts,
    from: order.from,
    until: order.until,
    after,
    limit: limit + 1,
    now: deps.clock.now(),
  });
  // Checked after the lines were read: a month may have been dropped since the statement was begun.
  await requireKept(deps, after?.at ?? order.from, deps.clock.now());
  const running = [...begun.running];
  const lines = found.slice(0, limit).map((line) => {
    const index = accounts.indexOf(line.account);
    const standing = (running[index] ?? 0n) + line.moved;
    running[index] = standing;
    return lineOf(order, line, index, standing);
  });
  const last = found[limit - 1];
  const more = found.length > limit && last !== undefined;
  if (!more) return { begun: { ...begun, closing: running }, lines, closing: running, next: undefined };
  const { at, id, side } = last;
  return { begun, lines, closing: running, next: { ...begun, running, after: { at, id, side } } };
}

/** 1000 lines at a time are held in memory while a statement is read to its end. */
const LINES_HELD = 1_000;

/** The pages from a position to the end, each read when it is asked for. */
export async function* streamStatement(
  deps: Deps,
  merchant: Merchant,
  begun: StatementPosition,
): AsyncGenerator<StatementPage, void, undefined> {
  for (let position: StatementPosition | undefined = begun; position !== undefined; ) {
    const page: StatementPage = await readStatement(deps, merchant, position, LINES_HELD);
    yield page;
    position = page.next;
  }
}

function accountsOf(merchant: Merchant, { balances, currency }: StatementOrder): string[] {
  return balances.map((balance) => merchantAccount(merchant.id, balance, currency).id);
}

/** A transfer between two balances is two lines: the balance tells their ids apart. */
function lineOf(order: StatementOrder, line: LedgerLine, index: number, after: bigint): StatementLine {
  const balance = order.balances[index];
  if (balance === undefined) throw new Error('a line of an account that nobody asked for');
  return {
    id: `${line.id}:${balance}`,
    at: line.at,
    balance,
    moved: line.moved,
    after,
    cause: line.cause,
    causeId: line.cause_id,
    customerReference: line.customer_reference,
  };
}
