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

/** A condition on rows `t`, worded as the predicate of the partial index that it needs; and its part of the statement's name. */
interface Only {
  readonly name: string;
  readonly condition: string;
}

/** Rows whose column `key` holds the key, in the order of another column; `only`: those that also meet a condition. */
export function keyedShape<P extends Place, T extends TableIn<P>>(
  place: P,
  table: T,
  key: string,
  order: string,
  only?: Only,
): ReadShape<Tables[T]> {
  const columns = columnsOf(table);
  const on = `t.shard = k.shard and t.${key} = k.key${only === undefined ? '' : ` and ${only.condition}`}`;
  return {
    columns,
    keyAt: columns.findIndex(({ name }) => name === key),
    statement: {
      name: nameIn(place, `read_${table}_by_${key}${only === undefined ? '' : `_${only.name}`}`),
      text: `select ${listOf(columns, 't')} from unnest($1::int2[], $2::text[]) as k(shard, key)
${joinIn(place, table, 't', on)} order by t.${order}`,
    },
  };
}
