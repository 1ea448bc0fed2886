/**
 * Several prepared statements, one Sync: one round trip, and one implicit transaction.
 *
 * In the extended protocol everything between two Syncs commits whole or not at all, so a batch needs neither BEGIN
 * nor COMMIT. The driver has no call for that, but it sends any object with `submit`. Invariant: a pipeline settles
 * exactly once, when the server has answered its Sync, whether or not it has refused a statement, or is gone.
 */

import type pg from 'pg';
import { codeOf, serverErrorOf } from './errors.ts';
import { watchdog } from './watchdog.ts';

/** A prepared statement: `name` (at most 63 bytes) always means the same text. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /**
   * It writes, so that its commit may wait for a synchronous standby. In a batch it is enough that one statement is marked: a
   * change always has a guard or a claim, and both are.
   */
  readonly writes?: true;
}

/** One execution of a prepared statement in a pipeline. */
export interface Execution {
  readonly statement: Statement;
  /** Makes the parameters, called when they are written. */
  values(): readonly (string | null)[];
  /** Takes a row of the result, in PostgreSQL's text format. */
  onRow?(texts: readonly (string | null)[]): void;
}

interface DataRow {
  readonly fields: readonly (string | null)[];
}

type Done = (error?: unknown) => void;

/** A row that could not be written or read. Only that row is at fault: the connection stays usable. */
export class Untranslatable extends Error {
  override readonly name = 'Untranslatable';
}

/** The server has not answered in time; its connection is destroyed. */
export class Silent extends Error {
  override readonly name = 'Silent';
  constructor() {
    super('the database does not answer');
  }
}

/**
 * The server has reported an error and gone: the statements may have been committed before that. What it calls such an error (FATAL,
 * PANIC) is in its own language, and so nothing to go by.
 */
class LastMessage extends Error {
  override readonly name = 'LastMessage';
  readonly code: string | undefined;
  constructor(code: string | undefined) {
    super('the database has ended the connection');
    this.code = code;
  }
}

/** Sends the executions on a connection that has prepared their statements. Rejects with what the driver reports. */
export function runPipeline(client: pg.Client, executions: readonly Execution[], stallMs: number): Promise<void> {
  return submit(client, stallMs, executions, (connection) => {
    for (const { statement, values } of executions) {
      connection.bind({ statement: statement.name, values: [...values()] }, true);
      connection.execute(null, true);
    }
    connection.sync();
  });
}

/**
 * Prepares statements in one round trip, in a Sync of their own: a refused pipeline would skip every Parse after the refused one. Calls
 * `onPrepared` with each statement that the server has taken, in order. Rejects with what the driver reports; then those that it has
 * taken stay prepared.
 */
export async function prepare(
  client: pg.Client,
  statements: readonly Statement[],
  stallMs: number,
  onPrepared: (statement: Statement) => void,
): Promise<void> {
  const left = statements.values();
  const onParsed = (): void => {
    const { value } = left.next();
    if (value !== undefined) onPrepared(value);
  };
  client.connection.on('parseComplete', onParsed);
  try {
    await submit(client, stallMs, [], (connection) => {
      for (const { name, text } of statements) connection.parse({ name, text, types: [] }, true);
      connection.sync();
    });
  } finally {
    client.connection.off('parseComplete', onParsed);
  }
}

function submit(
  client: pg.Client,
  stallMs: number,
  executions: readonly Execution[],
  write: (connection: pg.Connection) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let connection: pg.Connection | undefined;
    const done: Done = (error) => {
      stopWatching();
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the database connection failed'));
    };
    // A server that has gone silent would otherwise hold its batch for as long as TCP retries.
    const stopWatching = watchdog(stallMs, () => {
      connection?.stream.destroy();
      done(new Silent());
    });
    client.query(
      handlersFor(executions, done, (given) => {
        connection = given;
        // One write: several would each wake the server, which is expensive when all processes share a few cores.
        given.stream.cork();
        try {
          write(given);
        } finally {
          given.stream.uncork();
        }
      }),
    );
  });
}

/** The methods that the driver calls on an object that it was given to send. */
interface Handlers extends pg.Submittable {
  handleRowDescription(): void;
  handleDataRow(message: DataRow): void;
  handleCommandComplete(): void;
  handleEmptyQuery(): void;
  handleError(error: unknown, connection: pg.Connection): void;
  handleReadyForQuery(): void;
}

function handlersFor(
  executions: readonly Execution[],
  done: Done,
  write: (connection: pg.Connection) => void,
): Handlers {
  let current = 0;
  let untranslatable: Untranslatable | undefined;
  return {
    submit(connection) {
      try {
        write(connection);
      } catch (error) {
        untranslatable = new Untranslatable(error instanceof Error ? error.message : 'a row cannot be written');
        // What has been written before must not commit. A text that is no number makes the server roll it back; an unknown
        // statement would too, but a pooler in between answers to that itself, by closing the connection.
        connection.parse({ name: '', text: "select 'a row cannot be written'::int", types: [] }, true);
        connection.sync();
      }
    },
    handleRowDescription() {},
    handleDataRow({ fields }) {
      try {
        executions[current]?.onRow?.(fields);
      } catch {
        // The error's own words would hold the value.
        untranslatable = new Untranslatable('a row cannot be read');
      }
    },
    handleCommandComplete() {
      current += 1;
    },
    handleEmptyQuery() {
      current += 1;
    },
    handleError(error, connection) {
      if (serverErrorOf(error) === undefined) return done(untranslatable ?? error);
      // A server that goes on answers the Sync as well, at once.
      const onReady = (): void => {
        connection.removeListener('end', onEnd);
        done(untranslatable ?? error);
      };
      const onEnd = (): void => {
        connection.removeListener('readyForQuery', onReady);
        done(new LastMessage(codeOf(error)));
      };
      connection.once('readyForQuery', onReady);
      connection.once('end', onEnd);
    },
    handleReadyForQuery() {
      done(untranslatable);
    },
  };
}
