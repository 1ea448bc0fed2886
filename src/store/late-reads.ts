/**
 * Attempts of payments whose money came late: those of which it lies in suspense, and those that brought it to a merchant.
 *
 * Invariant: read on a connection of its own, because no index finds them: it looks through every live attempt. The archive
 * takes none of those that wait.
 */

import { LATE_KEPT } from '../domain/late-money.ts';
import type { Attempt } from '../domain/records.ts';
import { isLate } from './archive-groups.ts';
import { type LineOptions, openLine } from './line.ts';
import type { Statement } from './pipeline.ts';
import { openReaders } from './read.ts';
import { columnsOf, listOf } from './tables.ts';

const COLUMNS = columnsOf('attempt');

const LATE: Statement = {
  name: 'attempts_late',
  text: `select ${listOf(COLUMNS)} from attempt a where ${isLate('a')} and id > $1 order by id limit $2::int8`,
};

const KEPT: Statement = {
  name: 'attempts_kept_late',
  text: `select ${listOf(COLUMNS)} from attempt a where a.shard = $1::int2 and a.payment_id = $2 and a.reason = '${LATE_KEPT}'`,
};

/** Those of a payment whose late money was booked to its merchant. */
export async function readKeptAttempts(options: LineOptions, shard: number, paymentId: string): Promise<Attempt[]> {
  return readAttempts(options, KEPT, [String(shard), paymentId]);
}

/** In the order of their ids, which is that of their making; those after `after`, if it is given. */
export async function readLateAttempts(options: LineOptions, limit: number, after = ''): Promise<Attempt[]> {
  return readAttempts(options, LATE, [after, String(limit)]);
}

async function readAttempts(options: LineOptions, statement: Statement, values: readonly string[]): Promise<Attempt[]> {
  const line = openLine(options);
  try {
    // The columns are the record's fields.
    return (await openReaders([line]).query(statement, COLUMNS, values)) as unknown as Attempt[];
  } finally {
    await line.close();
  }
}
