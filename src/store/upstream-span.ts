/**
 * The totals of one upstream's attempts in a span of time, by their rows and by the ledger.
 *
 * Invariant: read on a connection of its own, each statement at one instant.
 */

import { GIVEN_BACK } from '../domain/late-money.ts';
import type { Attempt } from '../domain/records.ts';
import { distinctive } from '../domain/transfer-reference.ts';
import { columnList, listOf } from './columns.ts';
import type { Lender } from './lender.ts';
import type { Statement } from './pipeline.ts';
import { inEither } from './place.ts';
import { askApart, openReaders, type Question } from './read.ts';
import { columnsOf } from './tables.ts';
import { encodeArray, instantParameter } from './wire.ts';

/** Instants in milliseconds; in a span, `from` is inclusive and `to` exclusive. */
export interface UpstreamQuestion {
  readonly connector: string;
  /** Attempts made in this span are counted. */
  readonly made: { readonly from: number; readonly to: number };
  /** Attempts approved in this span are summed up. */
  readonly settled: { readonly from: number; readonly to: number };
}

export interface UpstreamSpan {
  readonly attempts: number;
  /** When the first and the last of these attempts were made; undefined if there are none. */
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** Attempts in the sums that were made before the counted span. */
  readonly madeBefore: readonly Attempt[];
  readonly totals: readonly UpstreamTotals[];
}

/** Sums in one currency; minor units. */
export interface UpstreamTotals {
  readonly currency: string;
  /** What was paid, in either direction. */
  readonly approved: bigint;
  /** What payments brought, less what payouts and refunds took. */
  readonly moved: bigint;
  /** What the ledger says has moved, by the upstream's transit account. */
  readonly ledger: bigint;
}

const COUNT: Statement = {
  name: 'upstream_count',
  text: `select count(*), min(created_at), max(created_at) from ${inEither('attempt')} t
where connector = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz`,
};

const ATTEMPT = columnsOf('attempt');

const MADE_BEFORE: Statement = {
  name: 'upstream_made_before',
  text: `select ${listOf(ATTEMPT)} from ${inEither('attempt')} t
where connector = $1 and created_at < $2::timestamptz
  and status = 'approved' and settled_at >= $3::timestamptz and settled_at < $4::timestamptz`,
};

/** By reference or id. No index has the references: all attempts are read, once. */
const BY_REFERENCE: Statement = {
  name: 'upstream_by_reference',
  text: `select ${listOf(ATTEMPT)} from ${inEither('attempt')} t
where connector = $1 and (reference = any($2::text[]) or id = any($2::text[]))`,
};

/**
 * An attempt and its transfers have the same instant, because they commit together. Money that a person has given back by hand, a
 * refund or late money, belongs to no attempt and is left out.
 */
const TOTALS: Statement = {
  name: 'upstream_totals',
  text: `with settled as (
  select payment_id, purpose, currency, amount_minor, settled_at from ${inEither('attempt')} t
  where connector = $1 and status = 'approved' and settled_at >= $2::timestamptz and settled_at < $3::timestamptz),
paid as (
  select currency, sum(amount_minor) as approved,
    sum(case purpose when 'payment' then amount_minor else -amount_minor end) as moved
  from settled group by currency),
booked as (
  select currency, sum(case debit_account when 'transit:' || $1 || ':' || currency then amount_minor else 0 end
    - case credit_account when 'transit:' || $1 || ':' || currency then amount_minor else 0 end) as ledger
  from ${inEither('ledger_transfer')} t
  where at >= $2::timestamptz and at < $3::timestamptz and cause <> '${GIVEN_BACK}'
    and (cause <> 'refund' or (cause_id, at) in (select payment_id, settled_at from settled where purpose = 'refund'))
    and 'transit:' || $1 || ':' || currency in (debit_account, credit_account)
  group by currency)
select currency, coalesce(approved, 0), coalesce(moved, 0), coalesce(ledger, 0)
from paid full join booked using (currency) order by currency`,
};

interface SpanCount {
  readonly attempts: bigint;
  readonly first: number | null;
  readonly last: number | null;
}

const COUNT_COLUMNS = columnList<SpanCount>({ attempts: 'int8', first: 'timestamptz', last: 'timestamptz' });
const TOTALS_COLUMNS = columnList<UpstreamTotals>({
  currency: 'text',
  approved: 'numeric',
  moved: 'numeric',
  ledger: 'numeric',
});

/** Uses a connection of its own: this may take longer than the reads of requests. */
export async function readUpstreamSpan(lender: Lender, question: UpstreamQuestion): Promise<UpstreamSpan> {
  const { connector, made, settled } = question;
  return lender.lend(async (connection) => {
    const readers = openReaders([connection]);
    const values = ({ from, to }: UpstreamQuestion['made']) => [
      connector,
      instantParameter(from),
      instantParameter(to),
    ];
    const [count] = await readers.query(COUNT, COUNT_COLUMNS, values(made));
    const before = [connector, ...[made.from, settled.from, settled.to].map(instantParameter)];
    const madeBefore = await readers.query(MADE_BEFORE, ATTEMPT, before);
    const totals = await readers.query(TOTALS, TOTALS_COLUMNS, values(settled));
    const attempts = Number(count?.attempts ?? 0n);
    return { attempts, first: count?.first ?? undefined, last: count?.last ?? undefined, madeBefore, totals };
  });
}

/** What an upstream may have called an attempt. Payouts and refunds have names of one kind: both are money that it sends. */
export interface NamedQuestion extends Pick<Attempt, 'purpose' | 'currency'> {
  /** The connector's or the carrier's attempts: connectors that collect and that send have different names. */
  readonly through: Pick<Attempt, 'connector' | 'carrier'>;
  /** An attempt that is left out, or an order all of whose attempts are. */
  readonly itself: string;
  readonly reference: string;
  /** Only attempts made since then (ms) are read. */
  readonly from: number;
}

/** Everything that an upstream's reference may have besides letters and digits (`provider-reference.ts`). */
const PUNCTUATION = Array.from({ length: 0x7e - 0x20 }, (_, at) => String.fromCodePoint(0x21 + at))
  .filter((character) => distinctive(character) === '')
  .join('');

/** No index has what upstreams call their movements: the attempts since an instant are read. */
const NAMED: Statement = {
  name: 'upstream_named',
  text: `select ${listOf(ATTEMPT)} from ${inEither('attempt')} t
where (connector = $1 or carrier = $2) and (purpose = 'payment') = ($3 = 'payment') and currency = $4 and $5 not in (id, payment_id)
  and created_at >= $6::timestamptz
  and ($7 in (id, reference) or upper(translate(provider_reference, $8, '') collate "C") = $9) limit 1`,
};

/** The question that `readNamed` asks. */
export function namedQuestion(question: NamedQuestion): Question {
  const { purpose, currency, through, itself, reference, from } = question;
  const of = [through.connector, through.carrier, purpose, currency, itself];
  const like = [reference, PUNCTUATION, distinctive(reference)];
  return { statement: NAMED, values: [...of, instantParameter(from), ...like] };
}

/**
 * An attempt in that direction and currency through that upstream which has this reference, ours or theirs. Of theirs only letters and
 * digits count. On a connection of its own.
 */
export async function readNamed(lender: Lender, question: NamedQuestion): Promise<Attempt | undefined> {
  const [found] = await askApart(lender, namedQuestion(question), ATTEMPT);
  return found;
}

/** Attempts of one upstream by its references for them, whenever they were made; on a connection of its own. */
export async function readByReference(
  lender: Lender,
  connector: string,
  references: readonly string[],
): Promise<Attempt[]> {
  const values = [connector, encodeArray(references)];
  return askApart(lender, { statement: BY_REFERENCE, values }, ATTEMPT);
}
