/**
 * A connection while it lives: the driver's client, and the statements that the server has prepared and planned for it.
 *
 * Invariant: a statement is prepared on a connection before its first execution there. PostgreSQL keeps a sequential-scan plan made
 * while a table was known to be empty until the table is analyzed again, so plans are discarded each time the number of a
 * connection's runs has doubled.
 */

import type pg from 'pg';
import { remainingMs } from './deadline.ts';
import { serverErrorOf } from './errors.ts';
import { type Execution, prepare, runPipeline, type Statement } from './pipeline.ts';

export interface Connected {
  readonly client: pg.Client;
  /** Names of the statements that the server has prepared. */
  readonly prepared: Set<string>;
  runs: number;
  /** The run before which the plans are discarded. */
  replanAt: number;
}

/** Plans are discarded after this many runs of a connection, then after twice as many, and so on, up to every `MAX_RUNS`. */
const FIRST_RUNS = 32;
const MAX_RUNS = 8_192;
const REPLAN: Execution = { statement: { name: 'replan', text: 'discard plans' }, values: () => [] };

/** A connection on which nothing has run yet. */
export function newConnected(client: pg.Client): Connected {
  return { client, prepared: new Set(), runs: 0, replanAt: FIRST_RUNS };
}

/** Prepares those statements that the server does not know yet, in one round trip. Rejects with what the driver reports. */
export async function prepareMissing(
  connection: Connected,
  executions: readonly Execution[],
  deadline: number,
): Promise<void> {
  let missing: Map<string, Statement> | undefined;
  for (const { statement } of executions) {
    if (connection.prepared.has(statement.name)) continue;
    missing ??= new Map();
    missing.set(statement.name, statement);
  }
  if (missing === undefined) return;
  await prepare(connection.client, [...missing.values()], remainingMs(deadline), ({ name }) =>
    connection.prepared.add(name),
  );
}

/** Counts a run, and tells whether the plans are discarded before it. */
export function isReplanDue(connection: Connected): boolean {
  connection.runs += 1;
  if (connection.runs < connection.replanAt) return false;
  connection.replanAt = connection.runs + Math.min(connection.runs, MAX_RUNS);
  return true;
}

/** Discards the plans. A proxy that refuses the statement does no harm: the plans stay. */
export async function discardPlans(connection: Connected, deadline: number): Promise<void> {
  try {
    await prepareMissing(connection, [REPLAN], deadline);
    await runPipeline(connection.client, [REPLAN], remainingMs(deadline));
  } catch (error) {
    if (serverErrorOf(error) === undefined) throw error;
  }
}
