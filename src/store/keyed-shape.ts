/**
 * The commonest read: rows of a table by the shard and one column, live or in the archive.
 *
 * Invariant: one statement per table, column and place serves any number of callers' keys.
 */

import type { Tables } from '../domain/change.ts';
import { listOf } from './columns.ts';
import { joinIn, nameIn, type Place, type TableIn } from './place.ts';
import type { ReadShape } from './read-keyed.ts';
import { columnsOf } from './tables.ts';

/** Rows whose column `key` holds the key, in the order of another column. */
export function keyedShape<P extends Place, T extends TableIn<P>>(
  place: P,
  table: T,
  key: string,
  order: string,
): ReadShape<Tables[T]> {
  const columns = columnsOf(table);
  return {
    columns,
    keyAt: columns.findIndex(({ name }) => name === key),
    statement: {
      name: nameIn(place, `read_${table}_by_${key}`),
      text: `select ${listOf(columns, 't')} from unnest($1::int2[], $2::text[]) as k(shard, key)
${joinIn(place, table, 't', `t.shard = k.shard and t.${key} = k.key`)} order by t.${order}`,
    },
  };
}
