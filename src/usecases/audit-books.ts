/**
 * Compares our attempts with the books of upstreams that let us read them.
 *
 * Invariant: it only reads. An attempt that is open, or still inquired about, is no finding: only what we consider settled is
 * compared, and both sides are read in the order in which they were written.
 */

import type { BookLine, BookPage, Books } from '../connectors/connector.ts';
import { DAY_MS } from '../domain/durations.ts';
import { isId, shardOf } from '../domain/ids.ts';
import type { Attempt } from '../domain/records.ts';
import { findAttempt } from './archive-find.ts';
import type { Deps } from './deps.ts';
import { inParts } from './in-parts.ts';
import { hasFields, isListOf, isText } from './stored-json.ts';

/** A difference between an upstream's book and our attempts. */
export interface BookFinding {
  readonly kind: BookDifference;
  readonly attemptId: string;
}

/**
 * `book_unknown`: the upstream moved money without an attempt of ours. `book_amount`: it moved another amount or currency, or in the
 * other direction. `book_times`: it moved the money more than once. `book_unpaid`: it moved the money, and our attempt ended unpaid.
 * `book_missing`: our attempt is approved, and the upstream moved nothing.
 */
type BookDifference = 'book_unknown' | 'book_amount' | 'book_times' | 'book_unpaid' | 'book_missing';

/** How far a book was compared. */
export interface BookMark {
  readonly startedAt: string;
  /** How many of its movements have been compared. */
  readonly after: number;
  /** By our clock: attempts made before this instant are not compared, since they may be in an earlier book. */
  readonly since: number;
  /** Attempts that ended before this instant have been compared. */
  readonly settledFrom: number;
  /** Attempts to look at again. */
  readonly again: readonly string[];
}

/** Whether a stored value is a mark. */
export function isBookMark(value: unknown): value is BookMark {
  if (!hasFields(value)) return false;
  const { startedAt, after, since, settledFrom, again } = value;
  const hasTimes = [after, since, settledFrom].every((one) => typeof one === 'number');
  return isText(startedAt) && hasTimes && isListOf(again, isText);
}

/** What a comparison found, and where the next one continues. */
export interface BookCompared {
  readonly findings: readonly BookFinding[];
  readonly mark: BookMark;
  /** How many attempts were compared, including ids that only the book has. */
  readonly looked: number;
}

type NeedsBooks = Pick<Deps, 'store' | 'clock'>;

/** 10 pages at most per run, so that a large book is worked through over some minutes. */
const MAX_PAGES = 10;
const PAGE = 1_000;
/** 100 attempts are looked up at once: callers' own reads queue behind them. */
const AT_ONCE = 100;
/** 1 min by which runs overlap: what is committed while this run reads is compared by the next. */
const OVERLAP_MS = 60_000;
/** 2 days: an attempt that ends later than this after it was made is not compared. */
const MAX_OPEN_MS = 2 * DAY_MS;
/** 1000 attempts at most are kept in the mark to be compared again: undecided ones first, and of each kind the oldest. */
const MAX_AGAIN = 1_000;

/**
 * Continues from `mark`. Without one it only sets the mark: what is in the book by then is ignored, because it may have been
 * moved for another database. Undefined if the upstream does not answer.
 */
export async function compareBooks(
  deps: NeedsBooks,
  books: Books,
  mark: BookMark | undefined,
): Promise<BookCompared | undefined> {
  const now = deps.clock.now();
  const first = await books.page(mark?.after ?? 0);
  if (first === undefined) return undefined;
  const begun = markFor(first, mark, now);
  if (mark === undefined) return { findings: [], mark: begun, looked: 0 };
  const read = await readLines(books, first, begun);
  const approved = await readApproved(deps, books, begun);
  // Their lines are asked for after our approvals were read: what is approved here was in their book before.
  const ids = [...new Set([...begun.again, ...approved.map(({ id }) => id)])];
  const theirs = await linesOf(books, ids);
  if (theirs === undefined) return undefined;
  const byAttempt = new Map([...read.lines, ...first.repeated, ...theirs].map((line) => [line.attemptId, line]));
  const asked = [...new Set([...ids, ...byAttempt.keys()])];
  const verdicts = await inParts(asked, AT_ONCE, async (id) =>
    judge(books, id, await attemptOf(deps, id), byAttempt.get(id), begun.since),
  );
  const findings = verdicts.flatMap(({ finding }) => finding ?? []);
  const settledFrom = Math.max(begun.settledFrom, settledUntil(approved, now));
  return {
    findings,
    looked: asked.length,
    mark: { ...begun, after: read.after, settledFrom, again: toCompareAgain(verdicts) },
  };
}

/** A page of our approved attempts that have ended since the last run. */
function readApproved({ store }: NeedsBooks, { connectors }: Books, mark: BookMark): Promise<readonly Attempt[]> {
  const { since, settledFrom } = mark;
  const madeFrom = Math.max(since, settledFrom - MAX_OPEN_MS);
  return store.attempt.approved({ connectors, madeFrom, settledFrom, limit: PAGE });
}

/** The instant up to which approved attempts have been read: the next run continues there. */
function settledUntil(approved: readonly Attempt[], now: number): number {
  // A full page may have left out other attempts of its last instant.
  return approved.length < PAGE ? now - OVERLAP_MS : (approved.at(-1)?.settled_at ?? now);
}

/** The attempts that the next run compares again. Undecided ones take precedence: findings have already been reported. */
function toCompareAgain(verdicts: readonly Verdict[]): readonly string[] {
  const waiting = verdicts.filter(({ again }) => again).toSorted((one, other) => rankOf(one) - rankOf(other));
  return waiting.slice(0, MAX_AGAIN).map(({ id }) => id);
}

/** A book that began anew, as the sandbox's does when it restarts, is read from its beginning, for attempts made from now on. */
function markFor(page: BookPage, mark: BookMark | undefined, now: number): BookMark {
  if (mark !== undefined && mark.startedAt === page.startedAt && page.size >= mark.after) return mark;
  const after = mark === undefined ? page.size : 0;
  return { startedAt: page.startedAt, after, since: now, settledFrom: now, again: [] };
}

async function readLines(
  books: Books,
  first: BookPage,
  { after, startedAt }: BookMark,
): Promise<{ lines: readonly BookLine[]; after: number }> {
  const lines: BookLine[] = [];
  let at = after;
  let size = first.size;
  for (let pages = 0; pages < MAX_PAGES && at < size; pages += 1) {
    const page = await books.page(at);
    if (page === undefined || page.startedAt !== startedAt || page.lines.length === 0) break;
    lines.push(...page.lines);
    at += page.lines.length;
    size = page.size;
  }
  return { lines, after: at };
}

/** What the book holds of these attempts; undefined if the upstream does not answer. */
async function linesOf(books: Books, ids: readonly string[]): Promise<readonly BookLine[] | undefined> {
  const lines: BookLine[] = [];
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = await books.ofAttempts(ids.slice(from, from + PAGE));
    if (page === undefined) return undefined;
    lines.push(...page);
  }
  return lines;
}

function attemptOf(deps: NeedsBooks, id: string): Promise<Attempt | undefined> {
  return isId('att', id) ? findAttempt(deps, shardOf(id), id) : Promise.resolve(undefined);
}

interface Verdict {
  readonly id: string;
  readonly finding?: BookFinding;
  /** Compare it again: it is not over yet, or it is a finding that an operator has not resolved. */
  readonly again: boolean;
}

function rankOf({ finding }: Verdict): 0 | 1 {
  return finding === undefined ? 0 : 1;
}

function judge(
  books: Books,
  id: string,
  attempt: Attempt | undefined,
  line: BookLine | undefined,
  since: number,
): Verdict {
  const found = (kind: BookFinding['kind']): Verdict => ({ id, finding: { kind, attemptId: id }, again: true });
  const fine: Verdict = { id, again: false };
  if (attempt === undefined) return line === undefined ? fine : found('book_unknown');
  if (!books.connectors.includes(attempt.connector) || attempt.created_at < since) return fine;
  if (line === undefined) {
    // An approval that an operator decided is the operator's responsibility.
    return attempt.status === 'approved' && attempt.reason !== 'settled_by_operator' ? found('book_missing') : fine;
  }
  if (line.times !== 1) return found('book_times');
  const kind = attempt.purpose === 'payment' ? 'debit' : 'credit';
  const isSame = line.amountMinor === attempt.amount_minor && line.currency === attempt.currency && line.kind === kind;
  if (!isSame) return found('book_amount');
  if (attempt.status === 'approved') return fine;
  // An attempt that is still to be inquired about may yet be settled.
  return attempt.next_inquiry_at === null ? found('book_unpaid') : { id, again: true };
}
