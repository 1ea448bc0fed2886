/**
 * Reads a page of a table in the order of its ids, by conditions that not every row need meet.
 *
 * Invariant: a page examines a bounded number of rows, however few of them fit; the next page begins where it stopped, so that
 * rows inserted meanwhile neither repeat nor hide any.
 */

import type { Tables } from '../domain/change.ts';
import { firstIdAt, ID_SLACK_MS, type Prefix } from '../domain/ids.ts';
import { bothLists, type ColumnList, columnList, listOf } from './columns.ts';
import { asked, type Condition } from './conditions.ts';
import { joinIn, nameIn, type Place, tableIn } from './place.ts';
import type { Readers } from './read.ts';
import { columnsOf } from './tables.ts';
import { instantParameter } from './wire.ts';

/** Tables that are read by pages. */
type Paged = 'payment' | 'webhook_event' | 'refund';

export interface PageQuestion<T extends Paged> {
  readonly table: T;
  readonly place: Place;
  /** Conditions that an index serves. */
  readonly range: readonly Condition[];
  /** Conditions that are checked row by row. */
  readonly fits: readonly Condition[];
  readonly order: 'newest' | 'oldest';
  readonly limit: number;
}

export interface ScannedPage<Record> {
  readonly rows: readonly Record[];
  /** The id after which the next page begins; undefined: there is none. */
  readonly next: string | undefined;
}

/** How many rows a page examines if not every row fits. */
const MAX_SCANNED = 2_000;

/** Conditions on the id that hold for all rows that were created in a span: `from` inclusive, `until` exclusive (ms). */
export function idsWithin(prefix: Prefix, from: number | undefined, until: number | undefined): readonly Condition[] {
  return [
    ['id >= ?', from === undefined ? undefined : firstIdAt(prefix, from - ID_SLACK_MS)],
    ['id < ?', until === undefined ? undefined : firstIdAt(prefix, until + ID_SLACK_MS)],
  ];
}

/** The exact condition, which is checked for each row. */
export function createdWithin(from: number | undefined, until: number | undefined): readonly Condition[] {
  return [
    ['created_at >= ?::timestamptz', from === undefined ? undefined : instantParameter(from)],
    ['created_at < ?::timestamptz', until === undefined ? undefined : instantParameter(until)],
  ];
}

/**
 * Reads a page. If not every row fits, it examines a bounded number, so that a page may hold fewer rows than its limit, or none,
 * and still have a next one.
 */
export async function scanPage<T extends Paged>(
  readers: Readers,
  question: PageQuestion<T>,
): Promise<ScannedPage<Tables[T]>> {
  const { table, place, order, limit } = question;
  const range = asked(question.range);
  const fits = asked(question.fits, range.values.length);
  // If every row fits, one row beyond the page tells whether there is another page.
  const looked = fits.conditions.length === 0 ? limit + 1 : Math.max(MAX_SCANNED, limit + 1);
  const values = [...range.values, ...fits.values, String(looked), String(limit)];
  const statement = {
    name: nameIn(place, `page_${table}_${order}_${range.name}_${fits.name}`),
    text: pageText(question, range.conditions, fits.conditions, values.length),
  };
  const found = await readers.query(statement, PAGE_COLUMNS[table], values);
  const [first] = found;
  if (first === undefined) throw new Error('a page has no row that says how far it was read');
  const { seen } = first;
  const reached = first.reached ?? undefined;
  const rows = found.filter(isRecord<T>);
  const last = rows.length === limit ? rows.at(-1)?.id : reached;
  return { rows, next: seen === looked || last !== reached ? last : undefined };
}

/** What every row says, even the empty one that is returned when no record fits. */
interface Seen {
  readonly seen: number;
  readonly reached: string | null;
}

type PageRow<T extends Paged> = Seen & { readonly [Field in keyof Tables[T]]: Tables[T][Field] | null };

const SEEN = columnList<Seen>({ seen: 'int4', reached: 'text' });

const PAGE_COLUMNS: { readonly [T in Paged]: ColumnList<PageRow<T>> } = {
  payment: bothLists(SEEN, columnsOf('payment')),
  webhook_event: bothLists(SEEN, columnsOf('webhook_event')),
  refund: bothLists(SEEN, columnsOf('refund')),
};

/** The last two parameters are how many rows are examined, and how many fitting ones a page has. */
function pageText(
  { table, place, order }: Pick<PageQuestion<Paged>, 'table' | 'place' | 'order'>,
  range: readonly string[],
  fits: readonly string[],
  last: number,
): string {
  const [by, reached] = order === 'newest' ? ['id desc', 'min(id)'] : ['id', 'max(id)'];
  return `with seen as materialized (
  select shard, id, ${fits.length === 0 ? 'true' : fits.join(' and ')} as fits from ${tableIn(place, table)}
  where ${range.join(' and ')} order by ${by} limit $${last - 1}::int8),
page as (select shard, id from seen where fits order by ${by} limit $${last}::int8)
select s.count, s.reached, ${listOf(columnsOf(table), 't')}
from (select count(*) as count, ${reached} as reached from seen) s
left join (page ${joinIn(place, table, 't', 't.shard = page.shard and t.id = page.id')}) on true
order by t.${by}`;
}

/** Tells a record from the empty row, in which all of the record's columns are null. */
function isRecord<T extends Paged>(row: PageRow<T>): row is PageRow<T> & Tables[T] {
  return row.id !== null;
}
