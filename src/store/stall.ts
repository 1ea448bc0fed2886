/**
 * Stalled commits: those that wait for a synchronous standby. Commits that come after them would wait at least as long, and neither
 * `statement_timeout` nor our going away ends such a wait.
 *
 * Invariant: no commit is sent behind those that a server still waits with: each could leave a backend behind that waits, until
 * none is free.
 */

import { type Connected, prepareMissing } from './connected.ts';
import { MIN_RUN_MS, remainingMs } from './deadline.ts';
import { CommitsStalled, isUnprepared, serverErrorOf } from './errors.ts';
import { type Execution, runPipeline, type Statement } from './pipeline.ts';

/** What is known of commits that a server does not answer. */
export interface Stall {
  /** A server fell silent after something was sent: before the next commit, it is asked whether earlier ones wait. */
  suspected: boolean;
  /** The commits that wait have been reported. */
  isReported: boolean;
}

export const newStall = (): Stall => ({ suspected: false, isReported: false });

/** SQL that follows a list of columns: the commits of ours that have waited for longer than the least time that a commit gets. */
export const STALLED = `from pg_stat_activity where datname = current_database() and usename = session_user
  and wait_event = 'SyncRep' and query_start < clock_timestamp() - interval '${MIN_RUN_MS} ms'`;
const STALLED_COMMITS: Statement = { name: 'stalled_commits', text: `select ${STALLED} limit 1` };

/**
 * Asks whether earlier commits still wait. If so, that is reported once.
 *
 * @throws CommitsStalled if they do.
 */
export async function requireNoStall(
  connection: Connected,
  stall: Stall,
  deadline: number,
  onError: (error: Error) => void,
): Promise<void> {
  if (!(await doCommitsWait(connection, deadline))) {
    stall.suspected = false;
    stall.isReported = false;
    return;
  }
  const error = new CommitsStalled();
  if (!stall.isReported) onError(error);
  stall.isReported = true;
  throw error;
}

/** A role that may not look there sends its changes as if none waited. */
async function doCommitsWait(connection: Connected, deadline: number): Promise<boolean> {
  let waits = false;
  const look: Execution = { statement: STALLED_COMMITS, values: () => [], onRow: () => (waits = true) };
  try {
    await prepareMissing(connection, [look], deadline);
    await runPipeline(connection.client, [look], remainingMs(deadline));
  } catch (error) {
    const server = serverErrorOf(error);
    if (server === undefined || isUnprepared(server.code)) throw error;
  }
  return waits;
}
