/**
 * Where a read looks: in the live tables, or in the archive's of the same name and columns.
 *
 * Invariant: a statement's name says where it looks, because statements are prepared by name.
 */

import type { TableName } from '../domain/change.ts';
import type { ArchivedTable } from './archive-tables.ts';
import { listOf } from './columns.ts';
import { columnsOf } from './tables.ts';

export type Place = 'live' | 'archive';

/** A table that exists in this place, or in both. */
export type TableIn<P extends Place> = [P] extends ['live'] ? TableName : ArchivedTable;

/** The table's name in this place. */
export function tableIn(place: Place, table: ArchivedTable): string {
  return place === 'live' ? table : `archive.${table}`;
}

/** A statement's name for this place. */
export function nameIn(place: Place, name: string): string {
  return place === 'live' ? name : `${name}_old`;
}

/**
 * Joins rows `alias` of a table where `on` holds. In the archive each row is looked up by itself: only then does its key decide
 * which month is read, whatever the planner assumes of tables that have no statistics yet.
 */
export function joinIn<P extends Place>(
  place: P,
  table: TableIn<P>,
  alias: string,
  on: string,
  kind: 'inner' | 'left' = 'inner',
): string {
  if (place === 'live') return `${kind === 'left' ? 'left ' : ''}join ${table} ${alias} on ${on}`;
  const rows = `lateral (select * from archive.${table} ${alias} where ${on} offset 0) ${alias}`;
  return kind === 'left' ? `left join ${rows} on true` : `cross join ${rows}`;
}

/** The rows of both places. Each row lies in only one of them. */
export function inEither(table: ArchivedTable): string {
  const columns = listOf(columnsOf(table));
  return `(select ${columns} from ${table} union all select ${columns} from archive.${table})`;
}
