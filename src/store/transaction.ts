/**
 * Transactions of those who migrate the database, or who move or drop what is old in it.
 *
 * Invariant: work is committed whole or not at all, and of each kind only one is under way at a time.
 */

import type pg from 'pg';

/** Any constants do that differ: all processes of this project meet on them. */
const LOCKS = { migrate: 7_262_646, archive: 7_262_647 };

/** Runs work in a transaction, once nobody else is in one under the same lock. */
export async function inTransaction<A>(
  client: pg.ClientBase,
  lock: keyof typeof LOCKS,
  work: () => Promise<A>,
): Promise<A> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [LOCKS[lock]]);
    const answer = await work();
    await client.query('commit');
    return answer;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
