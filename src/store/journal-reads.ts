/**
 * Reads the journal of operators' commands.
 *
 * Invariant: a page begins after an id, and ids are in the order of creation. A reader who pages on while commands run may miss
 * an entry that was created before the last one read, but committed after it.
 */

import { firstIdAt } from '../domain/ids.ts';
import type { Touched } from '../domain/journal.ts';
import type { JournalEntry } from '../domain/records.ts';
import { columnList, listOf } from './columns.ts';
import { asked } from './conditions.ts';
import { IN_EACH_SHARD } from './each-shard.ts';
import type { Readers } from './read.ts';
import { columnsOf } from './tables.ts';
import { encodeArray } from './wire.ts';

/** Which entries to list. */
export interface JournalFilter {
  /** The id of a record that the entries are about. */
  readonly about?: string | undefined;
  /** Entries made from this instant on, in milliseconds. */
  readonly from?: number | undefined;
  /** The last entry of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Lists entries in the order of their ids. */
export async function listJournal(
  readers: Readers,
  { about, from, after, limit }: JournalFilter,
): Promise<JournalEntry[]> {
  const { conditions, values, name } = asked([
    ['id > ?', after],
    ['id >= ?', from === undefined ? undefined : firstIdAt('jrn', from)],
    ['about @> jsonb_build_array(?::text)', about],
  ]);
  const all = ['shard = s.shard::int2', ...conditions].join(' and ');
  const most = `limit $${values.length + 1}::int8`;
  const columns = columnsOf('journal');
  const text = `select ${listOf(columns, 't')} ${IN_EACH_SHARD} (
  select * from journal where ${all} order by id ${most}) t order by t.id ${most}`;
  return readers.query({ name: `list_journal_${name}`, text }, columns, [...values, String(limit)]);
}

const OWNER = columnList<{ readonly merchant_id: string }>({ merchant_id: 'text' });

/** The merchants of these records; records of tables without a merchant yield none. */
export async function readOwners(readers: Readers, records: readonly Touched[]): Promise<string[]> {
  const tables = new Set(records.map(({ table }) => table));
  const owned = [...tables].filter((table) => columnsOf(table).some(({ name }) => name === 'merchant_id'));
  const found = owned.map(async (table) => {
    const own = records.filter((one) => one.table === table);
    const text = `select distinct t.merchant_id from unnest($1::int2[], $2::text[]) as k(shard, id)
join ${table} t on t.shard = k.shard and t.id = k.id`;
    const values = [encodeArray(own.map(({ shard }) => shard)), encodeArray(own.map(({ id }) => id))];
    return readers.query({ name: `owners_of_${table}`, text }, OWNER, values);
  });
  return (await Promise.all(found)).flat().map(({ merchant_id }) => merchant_id);
}
