/**
 * Compares our attempts with the book of upstreams that let us look into it.
 *
 * Invariant: it asks and writes nothing. An attempt that is open, or still asked about, is no finding: only what we hold
 * for settled is compared, and both sides are read in the order in which they were written.
 */

import type { BookLine, BookPage, Books } from '../connectors/connector.ts';
import { isId, shardOf } from '../domain/ids.ts';
import type { Attempt } from '../domain/records.ts';
import { findAttempt } from './archive-find.ts';
import type { Deps } from './deps.ts';

/** Something in which a book and we differ. */
export interface BookFinding {
  readonly kind: /** They moved money that nobody here asked for. */
    | 'book_unknown'
    /** They moved another amount, or the other way. */
    | 'book_amount'
    /** They moved it more than once. */
    | 'book_times'
    /** They moved it, and here it has not been paid. */
    | 'book_unpaid'
    /** Here it has been paid, and they moved nothing. */
    | 'book_missing';
  readonly attemptId: string;
}

/** How far a book was compared. */
export interface BookMark {
  readonly startedAt: string;
  /** How many of its movements were looked at. */
  readonly after: number;
  /** From when on, by our clock, our attempts are compared: those made before may stand in an earlier book. */
  readonly since: number;
  /** Attempts that ended before this instant were looked at. */
  readonly settledFrom: number;
  /** Attempts to look at again. */
  readonly again: readonly string[];
}

export interface BookCompared {
  readonly findings: readonly BookFinding[];
  readonly mark: BookMark;
  /** How many movements and attempts were looked at. */
  readonly looked: number;
}

type NeedsBooks = Pick<Deps, 'store' | 'clock'>;

/** A run reads so many pages, so that a great book is worked off over some minutes. */
const MOST_PAGES = 10;
const PAGE = 1_000;
/** So many attempts are looked up at once: callers' own reads wait behind them. */
const AT_ONCE = 100;
/** What is committed while we read comes up in the next run. */
const OVERLAP_MS = 60_000;
/** How long after its making an attempt may end, and still be compared. */
const LONGEST_OPEN_MS = 2 * 24 * 60 * 60_000;
/** What is looked at again is kept with the mark: so many, of its kind the oldest first. */
const MOST_AGAIN = 1_000;

/**
 * Goes on where `mark` stands; without one it begins: what is in the book by then is left alone, because it may have
 * been moved for another database. Undefined: nobody answers.
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
  const approved = await deps.store.attempt.approved({
    connectors: books.connectors,
    madeFrom: Math.max(begun.since, begun.settledFrom - LONGEST_OPEN_MS),
    settledFrom: begun.settledFrom,
    limit: PAGE,
  });
  // Asked after our approvals were read: what is approved here was in their book before.
  const ids = [...new Set([...begun.again, ...approved.map(({ id }) => id)])];
  const theirs = await linesOf(books, ids);
  if (theirs === undefined) return undefined;
  const byAttempt = new Map([...read.lines, ...first.repeated, ...theirs].map((line) => [line.attemptId, line]));
  const asked = [...new Set([...ids, ...byAttempt.keys()])];
  const verdicts: Verdict[] = [];
  for (let from = 0; from < asked.length; from += AT_ONCE) {
    const some = asked.slice(from, from + AT_ONCE);
    const judged = some.map(async (id) => judge(books, id, await attemptOf(deps, id), byAttempt.get(id), begun.since));
    verdicts.push(...(await Promise.all(judged)));
  }
  const findings = verdicts.flatMap(({ finding }) => finding ?? []);
  // If there are too many to remember, undecided ones take precedence: the others have already been reported.
  const waiting = verdicts.filter((one) => one.again).toSorted((one, other) => rankOf(one) - rankOf(other));
  // A page that is full may have left out others of its last instant.
  const settledFrom = approved.length < PAGE ? now - OVERLAP_MS : (approved.at(-1)?.settled_at ?? now);
  return {
    findings,
    looked: asked.length,
    mark: {
      ...begun,
      after: read.after,
      settledFrom: Math.max(begun.settledFrom, settledFrom),
      again: waiting.slice(0, MOST_AGAIN).map(({ id }) => id),
    },
  };
}

/** A book that has begun anew, as a pretend one does with its process, is compared from now on and from its beginning. */
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
  for (let pages = 0; pages < MOST_PAGES && at < size; pages += 1) {
    const page = await books.page(at);
    if (page === undefined || page.startedAt !== startedAt || page.lines.length === 0) break;
    lines.push(...page.lines);
    at += page.lines.length;
    size = page.size;
  }
  return { lines, after: at };
}

/** What the book holds of these attempts; undefined: nobody answers. */
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
  /** It is not over, or a finding that stands until somebody has mended it. */
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
    // What an operator has said so is the operator's.
    return attempt.status === 'approved' && attempt.reason !== 'settled_by_operator' ? found('book_missing') : fine;
  }
  if (line.times !== 1) return found('book_times');
  const way = attempt.purpose === 'payment' ? 'debit' : 'credit';
  const isSame = line.amountMinor === attempt.amount_minor && line.currency === attempt.currency && line.kind === way;
  if (!isSame) return found('book_amount');
  if (attempt.status === 'approved') return fine;
  // Open, or asked about again: what is heard then may still settle it.
  return attempt.next_inquiry_at === null ? found('book_unpaid') : { id, again: true };
}
