/**
 * Reads a page of a table in the order of its ids, by conditions that not every row need meet.
 *
 * Invariant: a page examines a bounded number of rows, however few of them fit; the next page begins where it stopped, so that
 * rows inserted meanwhile neither repeat nor hide any.
 */

import type { Tables } from '../domain/change.ts';
import { firstIdAt, ID_SLACK_MS, type Prefix } from '../domain/ids.ts';
import type { ArchivedTable } from './archive-tables.ts';
import { asked, type Condition } from './conditions.ts';
import { joinIn, nameIn, type Place, tableIn } from './place.ts';
import type { Readers } from './read.ts';
import { type Column, columnList, columnsOf, listOf } from './tables.ts';
import { instantParameter, type Row } from './wire.ts';

export interface PageQuestion<T extends ArchivedTable> {
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
const LOOKED_AT = 2_000;

/** Conditions on the id that hold for all rows that were created in a span: `from` inclusive, `until` exclusive (ms). */
export function idsWithin(prefix: Prefix, from: number | undefined, until: number | undefined): readonly Condition[] {
  return [
    ['id >= ?', from === undefined ? undefined : firstIdAt(prefix, from - ID_SLACK_MS), 'e'],
    ['id < ?', until === undefined ? undefined : firstIdAt(prefix, until + ID_SLACK_MS), 'l'],
  ];
}

/** The exact condition, which is checked for each row. */
export function createdWithin(from: number | undefined, until: number | undefined): readonly Condition[] {
  return [
    ['created_at >= ?::timestamptz', from === undefined ? undefined : instantParameter(from), 'f'],
    ['created_at < ?::timestamptz', until === undefined ? undefined : instantParameter(until), 'u'],
  ];
}

/**
 * Reads a page. If not every row fits, it examines a bounded number, so that a page may hold fewer rows than its limit, or none,
 * and still have a next one.
 */
export async function scanPage<T extends ArchivedTable>(
  readers: Readers,
  question: PageQuestion<T>,
): Promise<ScannedPage<Tables[T]>> {
  const { table, limit, order, place } = question;
  const range = asked(question.range);
  const fits = asked(question.fits, range.values.length);
  // If every row fits, one row beyond the page tells whether there is another page.
  const looked = fits.conditions.length === 0 ? limit + 1 : Math.max(LOOKED_AT, limit + 1);
  const values = [...range.values, ...fits.values, String(looked), String(limit)];
  const statement = {
    name: nameIn(place, `page_${table}_${order}_${range.name}_${fits.name}`),
    text: pageText(table, place, range.conditions, fits.conditions, order, values.length),
  };
  const found = await readers.query(statement, pageColumns(table), values);
  const { seen, reached } = seenOf(found);
  // The columns are the table's.
  const rows = found.filter(({ id }) => id !== null) as unknown as Tables[T][];
  const last = rows.length === limit ? idOf(found.at(-1)) : reached;
  return { rows, next: seen === looked || last !== reached ? last : undefined };
}

const SEEN: readonly Column[] = columnList({ seen: 'int4', reached: 'text' });

const columnsOfPages = new Map<ArchivedTable, readonly Column[]>();

/** One list per table, so that its reader is made once. */
function pageColumns(table: ArchivedTable): readonly Column[] {
  const known = columnsOfPages.get(table);
  if (known !== undefined) return known;
  const made = [...SEEN, ...columnsOf(table)];
  columnsOfPages.set(table, made);
  return made;
}

/** The last two parameters are how many rows are examined, and how many fitting ones a page has. */
function pageText(
  table: ArchivedTable,
  place: Place,
  range: readonly string[],
  fits: readonly string[],
  order: PageQuestion<ArchivedTable>['order'],
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

/** Every row carries these, even the empty one that is returned when none fits. */
function seenOf(rows: readonly Row[]): { readonly seen: number; readonly reached: string | undefined } {
  const { seen, reached } = rows[0] as unknown as { readonly seen: number; readonly reached: string | null };
  return { seen, reached: reached ?? undefined };
}

function idOf(row: Row | undefined): string | undefined {
  return typeof row?.id === 'string' ? row.id : undefined;
}
