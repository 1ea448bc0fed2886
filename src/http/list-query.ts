/**
 * The query parameters that lists share: a currency, a span of dates and a page's size, as texts.
 *
 * Invariant: days are in UTC and both ends belong to the span; a date that does not exist is refused, and never taken for
 * another.
 */

import { Type } from 'typebox';
import { isCurrency } from '../domain/currency.ts';
import { DAY_MS } from '../domain/durations.ts';
import { isId, type Prefix } from '../domain/ids.ts';
import type { RefusalDetail } from '../domain/refusal.ts';

/** How the document writes a day or an instant: a generator of clients takes dates for either. */
const SPAN_FORM = {
  anyOf: [
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
};

/** The fields of a query that asks for a span; `time`: the field of what is listed that lies in it. */
export function spanQuery(time: string) {
  const text = Type.String({
    maxLength: 40,
    documentedAs: SPAN_FORM,
    description: `By \`${time}\`: a UTC day such as \`2026-11-30\`, or an instant with its time zone such as \`2026-11-30T12:00:00Z\`. Both ends are included.`,
  });
  return { from: Type.Optional(text), to: Type.Optional(text) };
}

/** Describes the alias of a filter: the contract names some filters (§9) otherwise than answers name the field; both are accepted. */
export function aliasOf(field: string): string {
  return `Another name for \`${field}\`.`;
}

/** The fault of a filter that is given under its name and its alias with two values: neither is chosen for the caller. */
export function aliasFaults(alias: string, value: string | undefined, aliasValue: string | undefined): RefusalDetail[] {
  if (value === undefined || aliasValue === undefined || value === aliasValue) return [];
  return [{ field: alias, code: 'NOT_AN_OPTION', words: { options: value } }];
}

/** What is wrong with the filter by a merchant's own reference, under either of its names. */
export function referenceFaults(query: {
  readonly customer_reference?: string | undefined;
  readonly reference?: string | undefined;
}): RefusalDetail[] {
  // PostgreSQL's text holds no NUL.
  const holdsNul = (['customer_reference', 'reference'] as const).filter((field) => query[field]?.includes('\0'));
  return [
    ...holdsNul.map((field) => ({ field, code: 'INVALID_TEXT' }) as const),
    ...aliasFaults('reference', query.customer_reference, query.reference),
  ];
}

/** What is wrong with a filter by an id of that kind, if anything. */
export function idFaults(field: string, prefix: Prefix, id: string | undefined): RefusalDetail[] {
  return id === undefined || isId(prefix, id) ? [] : [{ field, code: 'INVALID_FORMAT' }];
}

/** What is wrong with a cursor that is the id of the last item of the page before, if anything. */
export function cursorFaults(prefix: Prefix, cursor: string | undefined): RefusalDetail[] {
  return cursor === undefined || isId(prefix, cursor) ? [] : [{ field: 'cursor', code: 'INVALID_CURSOR' }];
}

/** What is wrong with the filter by a currency, if anything. */
export function currencyFaults({ currency }: { readonly currency?: string | undefined }): RefusalDetail[] {
  return currency === undefined || isCurrency(currency) ? [] : [{ field: 'currency', code: 'INVALID_CURRENCY' }];
}

/** Milliseconds: `from` inclusive, `until` exclusive; undefined if it was not given. */
export interface Span {
  readonly from: number | undefined;
  readonly until: number | undefined;
}

interface SpanQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** What is wrong with a span, if anything. */
export function spanFaults({ from, to }: SpanQuery): RefusalDetail[] {
  const [begin, end] = [readInstant(from), readInstant(to)];
  const faults: RefusalDetail[] = [];
  if (typeof begin === 'string') faults.push(instantFault('from', begin));
  if (typeof end === 'string') faults.push(instantFault('to', end));
  if (isInstant(begin) && isInstant(end) && endOf(end) <= startOf(begin))
    faults.push({ field: 'to', code: 'DATES_REVERSED' });
  return faults;
}

/** Reads a span in which `spanFaults` has found none. */
export function readSpan({ from, to }: SpanQuery): Span {
  const [begin, end] = [readInstant(from), readInstant(to)];
  return {
    from: isInstant(begin) ? startOf(begin) : undefined,
    until: isInstant(end) ? endOf(end) : undefined,
  };
}

/** RFC 3339, which also allows small letters; most languages write six or nine fraction digits. */
const FORM = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/i;
/** Earlier and later years are taken for typing errors. */
const YEARS = { first: 1970, last: 2999 };

interface Instant {
  readonly at: number;
  readonly wholeDay: boolean;
}

const startOf = ({ at }: Instant): number => at;
const endOf = ({ at, wholeDay }: Instant): number => at + (wholeDay ? DAY_MS : 1);

/** What is wrong with a text that was given for an instant. */
type InstantFault = 'INVALID_INSTANT' | 'YEAR_OUT_OF_RANGE';

function instantFault(field: string, code: InstantFault): RefusalDetail {
  return code === 'YEAR_OUT_OF_RANGE'
    ? { field, code, words: { first: String(YEARS.first), last: String(YEARS.last) } }
    : { field, code };
}

function isInstant(read: Instant | InstantFault | undefined): read is Instant {
  return typeof read === 'object';
}

/** Undefined if there is no text. */
function readInstant(text: string | undefined): Instant | InstantFault | undefined {
  if (text === undefined) return undefined;
  const [whole, day = '', time] = FORM.exec(text) ?? [];
  if (whole === undefined) return 'INVALID_INSTANT';
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // `Date.parse` reads the 30th of February as a day of March.
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return 'INVALID_INSTANT';
  const year = new Date(midnight).getUTCFullYear();
  const at = time === undefined ? midnight : Date.parse(whole.toUpperCase());
  if (Number.isNaN(at)) return 'INVALID_INSTANT';
  if (year < YEARS.first || year > YEARS.last) return 'YEAR_OUT_OF_RANGE';
  return { at, wholeDay: time === undefined };
}

/** The field of a query that says how long a page is. */
export function limitQuery(most: number, otherwise: number) {
  return Type.Optional(
    Type.String({
      maxLength: 16,
      documentedAs: { type: 'integer', minimum: 1, maximum: most, default: otherwise },
      description: `The most entries that a page has. Default: ${otherwise}.`,
    }),
  );
}

/** What is wrong with a page's size, if anything. */
export function limitFaults(text: string | undefined, most: number): RefusalDetail[] {
  if (text === undefined || (/^[0-9]{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= most)) return [];
  return [{ field: 'limit', code: 'OUT_OF_RANGE', words: { minimum: 1, maximum: most } }];
}
