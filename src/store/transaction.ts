/**
 * Transactions for migrating the database, and for archiving or dropping its old rows.
 *
 * Invariant: work is committed whole or not at all, and only one transaction of each kind is in progress at a time.
 */

import type pg from 'pg';
import { CommitUnknown, serverErrorOf } from './errors.ts';

/** Keys of advisory locks, which all processes of this project share. Any two different constants will do. */
const LOCKS = { migrate: 7_262_646, archive: 7_262_647 };

/**
 * The limits of the database or the role that each kind of work does not heed: they are meant for the service's statements, and a
 * migration of a large table takes longer, as does waiting for one. They are lifted by a statement, because a pooler may drop what a
 * connection begins with; and PostgreSQL before 17 does not know the last one.
 */
const UNHEEDED = {
  migrate: ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'],
  archive: ['transaction_timeout'],
};

/**
 * How a transaction of that kind begins. The database may have another default of isolation: after its wait for the lock, the work must
 * see what the one before it has committed. Without `standard_conforming_strings` an index's condition would be another one than that
 * of the statements that are to use it.
 *
 * All in one message: a limit on whole or idle transactions counts from `begin`, and must not end it on its way to being lifted.
 */
function beginning(lock: keyof typeof LOCKS): string {
  return `begin isolation level read committed;
    set local standard_conforming_strings = on;
    select set_config(name, '0', true) from pg_settings where name in ('${UNHEEDED[lock].join("', '")}')`;
}

/**
 * Runs work in a transaction, as soon as no other transaction holds the same lock.
 *
 * @throws CommitUnknown when the connection was lost while it committed; what the work or the server threw, when nothing was written
 */
export async function inTransaction<A>(
  client: pg.ClientBase,
  lock: keyof typeof LOCKS,
  work: () => Promise<A>,
): Promise<A> {
  try {
    await client.query(beginning(lock));
    await client.query('select pg_advisory_xact_lock($1)', [LOCKS[lock]]);
    const answer = await work();
    await client.query('commit').catch(failedToCommit);
    return answer;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

function failedToCommit(error: unknown): never {
  throw serverErrorOf(error) === undefined ? new CommitUnknown() : error;
}
