/**
 * Jobs of readers: statements that are sent together, and answered together.
 *
 * Invariant: a statement that fails does not make another reader's fail.
 */

import type { Connection } from './connection.ts';
import {
  CommitsStalled,
  ConnectionLost,
  errorForCaller,
  isCollision,
  QUERY_CANCELED,
  Refused,
  StoreUnavailable,
} from './errors.ts';
import type { Execution } from './pipeline.ts';

/** Something to execute, and how to answer the callers that wait for it. */
export interface Job extends Execution {
  settle(error: Error | undefined): void;
}

/** A reader with callers that wait. */
export interface Source {
  /** Takes callers' keys into a job that is sent now. */
  take(): Job;
  /** How many are left for another job. */
  waiting(): number;
}

/**
 * Most times that a job is sent. Everything sent here may be sent again when its connection breaks or it collides with another
 * transaction: a read does no harm, and when the answer of a lease or a removal is lost, the leased rows are free again once the
 * lease has run out, and the removed ones are simply gone.
 */
const MAX_TRIES = 3;
/** No retry after this time: a connection that took longer to break had fallen silent, and its callers have waited enough. */
const TRY_AGAIN_WITHIN_MS = 1_000;

/** Runs the jobs as one pipeline and answers them; never rejects. */
export async function runJobs(connection: Connection, jobs: readonly Job[]): Promise<void> {
  const enough = performance.now() + TRY_AGAIN_WITHIN_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      await connection.run(jobs);
      for (const job of jobs) job.settle(undefined);
      return;
    } catch (failure) {
      if (failure instanceof ConnectionLost && tries < MAX_TRIES && performance.now() < enough) continue;
      // One reader's statement that fails must not fail the others'.
      if (!isForAll(failure) && jobs.length > 1) {
        for (const job of jobs) await runJobs(connection, [job]);
        return;
      }
      // The server takes a second to detect a deadlock, so the time that the tries took does not count here.
      if (hasCollided(failure) && tries < MAX_TRIES) continue;
      for (const job of jobs) job.settle(errorForCaller(failure, 'read'));
      return;
    }
  }
}

/** Whether the database failed rather than one of the statements: run one by one, they would only wait longer. */
function isForAll(failure: unknown): boolean {
  if (failure instanceof CommitsStalled) return false;
  return failure instanceof ConnectionLost || failure instanceof StoreUnavailable || isTooSlow(failure);
}

function isTooSlow(failure: unknown): boolean {
  return failure instanceof Refused && failure.server.code === QUERY_CANCELED;
}

function hasCollided(failure: unknown): boolean {
  return failure instanceof Refused && isCollision(failure.server.code);
}
