/**
 * Reads the journal of operators' commands.
 *
 * Invariant: a page begins after an id, and ids are in the order of their making, so that no entry is left out.
 */

import { firstIdAt, SHARDS } from '../domain/ids.ts';
import type { JournalEntry } from '../domain/records.ts';
import { asked } from './conditions.ts';
import type { Readers } from './read.ts';
import { columnsOf, listOf } from './tables.ts';

/** Which entries to list. */
export interface JournalFilter {
  /** The id of something that they are about. */
  readonly about?: string | undefined;
  /** Those made from this instant on, in milliseconds. */
  readonly from?: number | undefined;
  /** The last entry of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** In the order of their ids. */
export async function listJournal(
  readers: Readers,
  { about, from, after, limit }: JournalFilter,
): Promise<JournalEntry[]> {
  const { conditions, values, name } = asked([
    ['id > ?', after, 'a'],
    ['id >= ?', from === undefined ? undefined : firstIdAt('jrn', from), 'f'],
    ['about @> to_jsonb(?::text)', about, 'i'],
  ]);
  const all = ['shard = s.shard::int2', ...conditions].join(' and ');
  const most = `limit $${values.length + 1}::int8`;
  const columns = columnsOf('journal');
  const text = `select ${listOf(columns, 't')} from generate_series(0, ${SHARDS - 1}) s(shard)
cross join lateral (select * from journal where ${all} order by id ${most}) t order by t.id ${most}`;
  const rows = await readers.query({ name: `list_journal_${name}`, text }, columns, [...values, String(limit)]);
  // The columns are the record's fields.
  return rows as unknown as JournalEntry[];
}
