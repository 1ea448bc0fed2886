/**
 * Compares an upstream's statement with our attempts and with the ledger.
 *
 * Invariant: it changes nothing, and holds no more than a part of either side in memory at a time, besides the few attempts that
 * were open for long. The attempts it reads are bounded by the span, whatever the dates of single lines. A statement may name attempts
 * by our reference or by our own id, all in one way.
 */

import { startOfDay } from '../domain/day.ts';
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import { isId } from '../domain/ids.ts';
import type { Attempt } from '../domain/records.ts';
import type { UpstreamSpan } from '../store/upstream-span.ts';
import type { Deps } from './deps.ts';
import { OperatorError } from './operator-error.ts';
import { requireSpan } from './operator-input.ts';
import {
  endedWithin,
  type KeyOf,
  type Matched,
  matchPart,
  type OurSide,
  type Part,
  type Span,
  sideOf,
  type UpstreamStatement,
  VERDICTS,
  type Verdict,
} from './reconcile-match.ts';

/** The sums of one currency, in minor units. */
export interface CurrencyTotals {
  readonly currency: string;
  /** The total of the statement's paid lines. */
  readonly statementMinor: bigint;
  /** The total of our approved attempts that ended in the span. */
  readonly attemptsMinor: bigint;
  /** Whether the ledger's movements in that span add up to our attempts. */
  readonly isBooked: boolean;
  /** The total of approved attempts that match a line but ended outside the span, and so are in neither of our sums. */
  readonly outsideMinor: bigint;
}

/** The result of a comparison. `from` and `to` are the span that it covers, in milliseconds. */
export interface Reconciled {
  readonly from: number;
  readonly to: number;
  readonly lines: number;
  readonly counts: { readonly [verdict in Verdict]: number };
  readonly totals: readonly CurrencyTotals[];
  readonly agrees: boolean;
}

/** 200 000 attempts and as many lines are compared at a time: measured, half a gigabyte of memory in all. */
const PART = 200_000;
const PAGE = 5_000;
/** 7 days: few attempts are open for longer before they are paid, and those are read separately. */
const LONG_OPEN_MS = 7 * DAY_MS;
/** Exports write 1970 for a missing date: earlier dates than this do not count towards a statement's span. */
const FIRST_DATE = Date.UTC(2000, 0, 1);
/** 1 day: the upstream's clock may be ahead of ours or behind, and its days end at other times. */
const APART_MS = DAY_MS;

/**
 * Compares a statement with our attempts. `report` is called with every verdict, and awaited; `size` is how many of each side are
 * compared at a time.
 *
 * @throws OperatorError when the statement has no dates and no span was given, our records of its time have been dropped from the
 *   archive, or it names attempts in two ways; UsageError when the span ends before it begins.
 */
export async function reconcile(
  deps: Pick<Deps, 'store'>,
  statement: UpstreamStatement,
  report: (matched: Matched) => Promise<void>,
  size = PART,
): Promise<Reconciled> {
  const { connector } = statement;
  const { keyOf, lines, first, last, paid } = await scan(statement);
  const { from, to } = spanOf(statement, { first, last });
  const kept = Math.min(from, first ?? from);
  await requireKept(deps, kept);
  const ours = await deps.store.upstreamSpan({
    connector,
    made: { from: from - APART_MS - LONG_OPEN_MS, to: to + APART_MS },
    settled: { from, to },
  });
  const tally = createTally({ from, to });
  const count = (matched: Matched): Promise<void> => {
    tally.add(matched);
    return report(matched);
  };
  const parts = Math.max(1, Math.ceil(Math.max(lines, ours.attempts) / size));
  for (let part = 0; part < parts; part += 1) {
    const isMine = (reference: string): boolean => parts === 1 || partOf(reference, parts) === part;
    const sides = await readOurs(deps, connector, ours, { keyOf, isMine });
    await matchPart(deps, statement, { ours: sides, keyOf, isMine, from, to }, count);
  }
  // Again: a month may have been dropped while this was reading.
  await requireKept(deps, kept);
  const { counts, outside } = tally;
  const totals = totalsOf(ours, paid, outside);
  const differing = VERDICTS.filter((verdict) => verdict !== 'matched' && counts[verdict] > 0);
  const agrees = differing.length === 0 && totals.every(({ isBooked }) => isBooked);
  return { from, to, lines, counts, totals, agrees };
}

/** The sums of a comparison: how often each verdict was given, and by currency what matched but ended outside the span. */
interface Tally {
  readonly counts: Reconciled['counts'];
  /** Minor units of approved attempts that match a line. */
  readonly outside: ReadonlyMap<string, bigint>;
  add(matched: Matched): void;
}

function createTally(span: Span): Tally {
  const counts = { matched: 0, missing_here: 0, missing_there: 0, amount: 0, status: 0, duplicate: 0 };
  const outside = new Map<string, bigint>();
  return {
    counts,
    outside,
    add({ verdict, ours }) {
      counts[verdict] += 1;
      if (verdict !== 'matched' || ours?.status !== 'approved' || endedWithin(ours, span)) return;
      outside.set(ours.currency, (outside.get(ours.currency) ?? 0n) + ours.amountMinor);
    },
  };
}

/** What a first reading of a statement tells. */
interface Scanned {
  readonly keyOf: KeyOf;
  readonly lines: number;
  /** The earliest and the latest instant of its dates (milliseconds); undefined if it has none. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** The total of its paid lines in minor units, by currency. */
  readonly paid: ReadonlyMap<string, bigint>;
}

/** Reads the whole statement once, so that an unreadable line is reported before any verdict. */
async function scan(statement: UpstreamStatement): Promise<Scanned> {
  const paid = new Map<string, bigint>();
  let namesIds = false;
  let lines = 0;
  let first: number | undefined;
  let last: number | undefined;
  for await (const line of statement.read()) {
    lines += 1;
    namesIds ||= isId('att', line.reference);
    if (line.at !== undefined && line.at >= FIRST_DATE) {
      first = Math.min(first ?? line.at, line.at);
      last = Math.max(last ?? line.at, line.until ?? line.at);
    }
    if (line.status === 'paid') paid.set(line.currency, (paid.get(line.currency) ?? 0n) + line.amountMinor);
  }
  // By their ids, as MTN's External id and the card network's transaction id do, or else by our reference (MTN's X-Reference-Id).
  const keyOf: KeyOf = namesIds ? ({ id }) => id : ({ reference }) => reference;
  return { keyOf, lines, first, last, paid };
}

function spanOf(statement: UpstreamStatement, { first, last }: Pick<Scanned, 'first' | 'last'>): Span {
  const from = statement.from ?? first;
  const to = statement.to ?? last;
  if (from === undefined || to === undefined) {
    throw new OperatorError('the statement has no dates: give the span that it covers with --from and --to');
  }
  requireSpan({ from, to });
  return { from, to };
}

/** Of what has been dropped from the archive every line would be missing here, and look like money that is nobody's. */
async function requireKept({ store }: Pick<Deps, 'store'>, from: number): Promise<void> {
  const begins = await store.archive.ledgerBegins();
  if (begins === undefined || from >= startOfDay(begins)) return;
  throw new OperatorError(
    `records before ${begins} have been dropped from the archive: take the lines before that day out of the file`,
  );
}

/** Reads our attempts, an hour at a time, so that no page scans more than that. */
async function readOurs(
  deps: Pick<Deps, 'store'>,
  connector: string,
  { first = 0, last = -1, madeBefore }: Pick<UpstreamSpan, 'first' | 'last' | 'madeBefore'>,
  { keyOf, isMine }: Pick<Part, 'keyOf' | 'isMine'>,
): Promise<Map<string, OurSide>> {
  const ours = new Map<string, OurSide>();
  const take = (attempts: readonly Attempt[]): void => {
    for (const attempt of attempts) {
      const key = keyOf(attempt);
      if (isMine(key)) ours.set(key, sideOf(attempt, key));
    }
  };
  take(madeBefore);
  for (let from = first; from <= last; from += HOUR_MS) {
    const slice = { connectors: [connector], from, to: Math.min(from + HOUR_MS, last + 1), limit: PAGE };
    let page = await deps.store.attempt.made(slice);
    for (;;) {
      take(page);
      if (page.length < PAGE) break;
      page = await deps.store.attempt.made({ ...slice, after: page.at(-1)?.id });
    }
  }
  return ours;
}

/** The part that a reference belongs to. Any hash does, as long as it is the same for both sides (FNV-1a). */
function partOf(reference: string, parts: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < reference.length; at += 1) {
    hash = Math.imul(hash ^ reference.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash % parts;
}

function totalsOf(
  { totals }: UpstreamSpan,
  paid: ReadonlyMap<string, bigint>,
  outside: ReadonlyMap<string, bigint>,
): CurrencyTotals[] {
  const currencies = [...new Set([...paid.keys(), ...totals.map(({ currency }) => currency)])].toSorted();
  return currencies.map((currency) => {
    const found = totals.find((one) => one.currency === currency);
    return {
      currency,
      statementMinor: paid.get(currency) ?? 0n,
      attemptsMinor: found?.approved ?? 0n,
      isBooked: found === undefined || found.moved === found.ledger,
      outsideMinor: outside.get(currency) ?? 0n,
    };
  });
}
