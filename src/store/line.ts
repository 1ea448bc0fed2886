/**
 * A line: one connection that heals itself, and runs one pipeline at a time.
 *
 * Invariant: a pipeline whose Sync may have reached a server is never sent again by the line; whoever gave it decides.
 * The planner is pinned on every connection: on fresh tables it takes sequential scans for set-based statements,
 * and all four settings together made the commit path 1.6 to 1.8 times faster (one alone made it slower).
 */

import pg from 'pg';
import { codeOf, FORGOTTEN, LineLost, type ServerError, StoreUnavailable, serverErrorOf } from './errors.ts';
import { type Execution, prepare, runPipeline, Untranslatable } from './pipeline.ts';

export interface LineOptions {
  readonly url: string;
  /** What the server's list of connections shows. */
  readonly name: string;
  /** Told of lost connections and of servers that cannot be reached; its errors hold no values and no address. */
  readonly onError: (error: Error) => void;
  /** For one great question: the planner is free, and has ten minutes. */
  readonly patient?: boolean;
}

/** The server has refused one of the statements, and rolled the pipeline back. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly server: ServerError;
  constructor(server: ServerError) {
    super(`SQLSTATE ${server.code}`);
    this.server = server;
  }
}

export interface Line {
  /**
   * Runs a pipeline; its statements commit whole or not at all.
   *
   * @throws Refused: rolled back; Untranslatable: rolled back; LineLost: see its `sent`; StoreUnavailable: not sent,
   *   after trying to connect for about two seconds.
   */
  run(executions: readonly Execution[]): Promise<void>;
  close(): Promise<void>;
}

const PINNED = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'plan_cache_mode=force_generic_plan',
  'jit=off',
];

/** How instants are written depends on these two. */
const FORMATS = ['TimeZone=UTC', 'DateStyle=ISO'];

const CONNECT_TIMEOUT_MS = 5_000;
/** A statement that takes longer waits for something that will not come; the server ends it. */
const STATEMENT_LIMIT_MS = 20_000;
const PATIENT_LIMIT_MS = 600_000;
/** A server that does not even end it in time is gone. */
const GRACE_MS = 5_000;
/** A write to a standby. */
const READ_ONLY = '25006';
/** Pauses between attempts to connect; after the last one the caller is told. */
const BACKOFF_MS = [25, 50, 100, 200, 400, 800];

interface Connected {
  readonly client: pg.Client;
  readonly prepared: Set<string>;
}

export function openLine(options: LineOptions): Line {
  const limitMs = options.patient === true ? PATIENT_LIMIT_MS : STATEMENT_LIMIT_MS;
  const stallMs = limitMs + GRACE_MS;
  let connected: Connected | undefined;
  let closed = false;

  const lose = (connection: Connected, error: unknown, sent: boolean): LineLost => {
    const lost = new LineLost(sent, codeOf(error));
    drop(connection, lost);
    return lost;
  };

  const drop = (connection: Connected, reason: Error): void => {
    if (connected !== connection) return;
    connected = undefined;
    if (!closed) options.onError(reason);
    connection.client.end().catch(() => undefined);
  };

  const connect = async (): Promise<Connected> => {
    let code: string | undefined;
    for (const pause of [...BACKOFF_MS, undefined]) {
      if (closed) throw new StoreUnavailable('the store is closed');
      if (connected !== undefined) return connected;
      try {
        return await connectOnce();
      } catch (error) {
        code = codeOf(error);
      }
      if (pause !== undefined) await new Promise((resolve) => setTimeout(resolve, pause));
    }
    options.onError(new StoreUnavailable(`the database cannot be reached (${code ?? 'no code'})`));
    throw new StoreUnavailable();
  };

  const connectOnce = async (): Promise<Connected> => {
    const client = newClient(options, limitMs);
    const connection: Connected = { client, prepared: new Set() };
    // Idle connections that break say so here; the pipeline under way is told by itself.
    client.on('error', (error) => drop(connection, new LineLost(false, codeOf(error))));
    client.on('end', () => drop(connection, new LineLost(false, undefined)));
    await client.connect();
    if (closed) {
      await client.end();
      throw new StoreUnavailable('the store is closed');
    }
    connected = connection;
    return connection;
  };

  const prepareMissing = async (connection: Connected, executions: readonly Execution[]): Promise<void> => {
    for (const { statement } of executions) {
      if (connection.prepared.has(statement.name)) continue;
      await prepare(connection.client, statement, stallMs);
      connection.prepared.add(statement.name);
    }
  };

  return {
    async run(executions) {
      if (executions.length === 0) return;
      const connection = connected ?? (await connect());
      let sent = false;
      try {
        await prepareMissing(connection, executions);
        // What is still connected is given to the socket now; what is not has certainly not been sent.
        if (connected !== connection) throw lose(connection, undefined, false);
        sent = true;
        await runPipeline(connection.client, executions, stallMs);
      } catch (error) {
        if (error instanceof Untranslatable || error instanceof LineLost) throw error;
        const server = serverErrorOf(error);
        if (server === undefined) throw lose(connection, error, sent);
        // A proxy has forgotten our statements, or behind the address a standby has taken over: connect anew.
        if (server.code === FORGOTTEN || server.code === READ_ONLY) drop(connection, new Refused(server));
        throw new Refused(server);
      }
    },
    async close() {
      closed = true;
      const connection = connected;
      connected = undefined;
      await connection?.client.end();
    },
  };
}

function newClient({ url, name, patient }: LineOptions, limitMs: number): pg.Client {
  const settings = [...FORMATS, `statement_timeout=${limitMs}`, ...(patient === true ? [] : PINNED)];
  return new pg.Client({
    connectionString: url,
    application_name: `mbongo ${name}`,
    options: settings.map((setting) => `-c ${setting}`).join(' '),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
}
