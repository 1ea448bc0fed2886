/**
 * Attempts of payments whose money came late and lies in suspense.
 *
 * Invariant: read on a connection of its own, because no index finds them: it looks through every live attempt. The archive
 * takes none of them.
 */

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

/** In the order of their ids, which is that of their making; those after `after`, if it is given. */
export async function readLateAttempts(options: LineOptions, limit: number, after = ''): Promise<Attempt[]> {
  const line = openLine(options);
  try {
    // The columns are the record's fields.
    return (await openReaders([line]).query(LATE, COLUMNS, [after, String(limit)])) as unknown as Attempt[];
  } finally {
    await line.close();
  }
}
