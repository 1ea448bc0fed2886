/**
 * Matches the lines of an upstream's statement with our attempts, a part of either side at a time.
 *
 * Invariant: each line gets one verdict; so does each of our attempts that the statement should have and lacks. An attempt that is
 * not among those given is looked up by its reference, whatever the date of its line.
 */

import type { Currency } from '../domain/currency.ts';
import type { Attempt, AttemptStatus } from '../domain/records.ts';
import type { Deps } from './deps.ts';
import { OperatorError } from './operator-error.ts';

/** What became of an attempt, according to the statement. */
export type UpstreamLineStatus = 'paid' | 'not_paid' | 'open';

/** A parsed line of a statement. */
export interface UpstreamLine {
  /** Its line number in the file; the first is 1. */
  readonly line: number;
  /** Our reference at the upstream, or the attempt's own id. */
  readonly reference: string;
  /** 0: not given, of a line that is not paid. */
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly status: UpstreamLineStatus;
  /** The status in the upstream's own words. */
  readonly upstreamStatus: string;
  readonly at: number | undefined;
  /** The exclusive end of what its date covers: the end of a day, or the next millisecond. */
  readonly until: number | undefined;
  readonly providerReference: string | undefined;
}

/** What a comparison finds of a line, or of an attempt without one. */
export type Verdict =
  | 'matched'
  /** The statement has the line, and we have no attempt. */
  | 'missing_here'
  /** Our attempt is approved, and the statement has no line. */
  | 'missing_there'
  | 'amount'
  | 'status'
  /** The statement has the reference a second time. */
  | 'duplicate';

/** All verdicts. */
export const VERDICTS: readonly Verdict[] = [
  'matched',
  'missing_here',
  'missing_there',
  'amount',
  'status',
  'duplicate',
];

/** The part of an attempt that is needed to compare it. */
export interface OurSide {
  readonly id: string;
  readonly transactionId: string;
  /** What the statement would name it by. */
  readonly key: string;
  readonly amountMinor: bigint;
  readonly currency: Currency;
  readonly status: AttemptStatus;
  readonly settledAt: number | null;
  readonly providerReference: string | null;
}

/** A verdict, and the two sides that it compares. Undefined: that side has none. */
export interface Matched {
  readonly verdict: Verdict;
  readonly theirs: UpstreamLine | undefined;
  readonly ours: OurSide | undefined;
}

/** An upstream's statement, with the span that it is to cover. */
export interface UpstreamStatement {
  readonly connector: string;
  /** Reads it from its beginning; called several times. */
  read(): AsyncIterable<UpstreamLine>;
  /** The statement should have our attempts that ended from this instant on … */
  readonly from: number | undefined;
  /** … and before this one. Undefined: the span of its dates. */
  readonly to: number | undefined;
}

/** An interval of time in milliseconds: `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What a statement names an attempt by. */
export type KeyOf = (attempt: Attempt) => string;

/** What is needed of an attempt to compare it; `key` is what the statement would name it by. */
export function sideOf(attempt: Attempt, key: string): OurSide {
  const { id, payment_id, amount_minor, currency, status, settled_at, provider_reference } = attempt;
  return {
    id,
    transactionId: payment_id,
    key,
    amountMinor: amount_minor,
    currency,
    status,
    settledAt: settled_at,
    providerReference: provider_reference,
  };
}

/** The attempts, and the lines of a statement, whose references fall to one part of the work. */
export interface Part extends Span {
  /** By their keys. Attempts outside the span are added as lines ask for them. */
  readonly ours: Map<string, OurSide>;
  readonly keyOf: KeyOf;
  readonly isMine: (reference: string) => boolean;
}

/** Lines without an attempt in the span are judged after the rest; the statement is read again only if there are any. */
export async function matchPart(
  deps: Pick<Deps, 'store'>,
  statement: UpstreamStatement,
  { ours, keyOf, isMine, from, to }: Part,
  report: (matched: Matched) => Promise<void>,
): Promise<void> {
  const seen = new Set<string>();
  const judge = async (line: UpstreamLine): Promise<void> => {
    const side = ours.get(line.reference);
    const verdict = seen.has(line.reference) ? 'duplicate' : compare(line, side);
    await report({ verdict, theirs: line, ours: side });
    seen.add(line.reference);
  };
  const missing = new Set<string>();
  for await (const line of statement.read()) {
    if (!isMine(line.reference)) continue;
    if (ours.has(line.reference)) await judge(line);
    else missing.add(line.reference);
  }
  if (missing.size > 0) {
    const found = await deps.store.attemptsByReference(statement.connector, [...missing]);
    for (const attempt of found) {
      const key = keyOf(attempt);
      if (key !== attempt.reference && missing.has(attempt.reference)) throw mixed(attempt);
      ours.set(key, sideOf(attempt, key));
    }
    for await (const line of statement.read()) if (missing.has(line.reference)) await judge(line);
  }
  for (const side of ours.values()) {
    const isTheirs = side.status === 'approved' && endedWithin(side, { from, to });
    if (isTheirs && !seen.has(side.key)) await report({ verdict: 'missing_there', theirs: undefined, ours: side });
  }
}

/** A statement that names some attempts by their ids and some by our references: a line would be taken for one that is not ours. */
function mixed({ id, reference }: Attempt): OperatorError {
  return new OperatorError(
    `the statement names ${id} by its reference ${reference}, and others by the attempt, att_…: take the reference from one column`,
  );
}

function compare(line: UpstreamLine, side: OurSide | undefined): Verdict {
  if (side === undefined) return 'missing_here';
  if (meaningOf(side.status) !== line.status) return 'status';
  const isSame = side.amountMinor === line.amountMinor || line.amountMinor === 0n;
  return isSame && side.currency === line.currency ? 'matched' : 'amount';
}

function meaningOf(status: AttemptStatus): UpstreamLineStatus {
  switch (status) {
    case 'approved':
      return 'paid';
    case 'declined':
    case 'not_sent':
      return 'not_paid';
    case 'intended':
    case 'challenged':
    case 'authenticated':
    case 'waiting':
    case 'unknown':
      return 'open';
  }
}

/** Whether the attempt ended within that span. */
export function endedWithin({ settledAt }: OurSide, { from, to }: Span): boolean {
  return settledAt !== null && settledAt >= from && settledAt < to;
}
