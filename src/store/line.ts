/**
 * A line: one database connection that reconnects by itself, and runs one pipeline at a time.
 *
 * Invariant: the line never resends a pipeline whose Sync may have reached a server; the caller decides. Planner settings are
 * pinned on every connection: on fresh tables the planner takes sequential scans for set-based statements, and together the
 * settings made the commit path 1.6 to 1.8 times faster (one alone made it slower). PostgreSQL keeps a sequential-scan plan
 * made while a table was known to be empty until the table is analyzed again, so plans are discarded whenever a connection has
 * done twice as many runs.
 */

import pg from 'pg';
import { codeOf, isUnprepared, LineLost, READ_ONLY, Refused, StoreUnavailable, serverErrorOf } from './errors.ts';
import { type Execution, prepare, runPipeline, Silent, Untranslatable } from './pipeline.ts';
import { afterSilence } from './silence.ts';

export interface LineOptions {
  readonly url: string;
  /** What the server's list of connections shows. */
  readonly name: string;
  /** Told of lost connections and of servers that cannot be reached; its errors hold no values and no address. */
  readonly onError: (error: Error) => void;
  /** For long queries: no pinned planner settings, a fresh plan for each, and a limit of ten minutes. */
  readonly patient?: boolean;
  /** How long a run may take in all, milliseconds; `RUN_LIMIT_MS` when absent. */
  readonly limitMs?: number;
}

export interface Line {
  /**
   * Runs a pipeline; its statements commit whole or not at all.
   *
   * @throws Refused: rolled back; Untranslatable: rolled back; LineLost: see its `sent`; StoreUnavailable: not sent,
   *   after trying to connect for about two seconds, or after a glance while the database is known to be away.
   */
  run(executions: readonly Execution[]): Promise<void>;
  close(): Promise<void>;
}

/** Pinned, so that tables without statistics are read by their indexes from the first row on. */
export const PLAN_SETTINGS = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'plan_cache_mode=force_generic_plan',
  'jit=off',
];

/** How instants are written depends on the first two; that a statement sees what was committed before it, on the last. */
const MANNERS = ['TimeZone=UTC', 'DateStyle=ISO', 'default_transaction_isolation=read committed'];

/**
 * From the first attempt to connect to the last byte of the answer, but for what the last steps get at least. A healthy
 * database needs milliseconds; who waits longer sits in a request whose client is about to give up, and should rather be
 * told to come again (1402).
 */
const RUN_LIMIT_MS = 4_000;
const PATIENT_LIMIT_MS = 600_000;
/** The server ends a statement a little earlier than we give up: then it is known to have been rolled back. */
const SERVER_SHARE = 0.75;
/** No preparing step gets less, whatever became of the run's time: it may have gone in a pause of our own. */
const LEAST_MS = 100;
/** Minimum for a pipeline: giving up on a commit that was sent leaves its outcome unknown for every caller. */
const LEAST_RUN_MS = 1_000;
/** While the database is known to be away, nobody waits longer than that for it to come back. */
const GLANCE_MS = 250;
/** A server that does not even say goodbye is left without one. */
const GOODBYE_MS = 1_000;
/** Pauses between attempts to connect; after the last one the caller is told. */
const BACKOFF_MS = [25, 50, 100, 200, 400, 800];

/** Plans are made anew after so many runs of a connection, then after twice as many, and so on up to every `MOST_RUNS`. */
const FIRST_RUNS = 32;
const MOST_RUNS = 8_192;
const REPLAN: Execution = { statement: { name: 'replan', text: 'discard plans' }, values: () => [] };

interface Connected {
  readonly client: pg.Client;
  readonly prepared: Set<string>;
  runs: number;
  /** Which run makes the plans anew. */
  replanAt: number;
}

/** Makes a line. It connects when it is first used, and again after a connection was lost. */
export function openLine(options: LineOptions): Line {
  const limitMs = options.limitMs ?? (options.patient === true ? PATIENT_LIMIT_MS : RUN_LIMIT_MS);
  let connected: Connected | undefined;
  /** An attempt to connect, which may outlive the run that began it. */
  let attempt: Promise<Connected> | undefined;
  /** Known to be away: the last attempt failed, or a connection fell silent. */
  let away = false;
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

  const connect = async (deadline: number): Promise<Connected> => {
    const until = away ? Math.min(deadline, performance.now() + GLANCE_MS) : deadline;
    let code: string | undefined;
    for (const pause of [...(away ? [] : BACKOFF_MS), undefined]) {
      if (closed) throw new StoreUnavailable('the store is closed');
      if (connected !== undefined) return connected;
      try {
        return await before(until, attemptToConnect());
      } catch (error) {
        code = codeOf(error);
      }
      if (pause === undefined || performance.now() + pause >= until) break;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    // Told once an outage, and not once a caller.
    if (!away) options.onError(new StoreUnavailable(`the database cannot be reached (${code ?? 'no code'})`));
    away = true;
    throw new StoreUnavailable();
  };

  const attemptToConnect = (): Promise<Connected> => {
    attempt ??= connectOnce().finally(() => {
      attempt = undefined;
    });
    // Whoever began it may have stopped waiting.
    attempt.catch(() => undefined);
    return attempt;
  };

  const connectOnce = async (): Promise<Connected> => {
    const client = newClient(options, limitMs);
    const connection: Connected = { client, prepared: new Set(), runs: 0, replanAt: FIRST_RUNS };
    // Idle connections that break say so here; the pipeline under way is told by itself.
    client.on('error', (error) => drop(connection, new LineLost(false, codeOf(error))));
    client.on('end', () => drop(connection, new LineLost(false, undefined)));
    await client.connect();
    if (closed) {
      await client.end();
      throw new StoreUnavailable('the store is closed');
    }
    connected = connection;
    away = false;
    return connection;
  };

  const prepareMissing = async (
    connection: Connected,
    executions: readonly Execution[],
    deadline: number,
  ): Promise<void> => {
    for (const { statement } of executions) {
      if (connection.prepared.has(statement.name)) continue;
      await prepare(connection.client, statement, left(deadline));
      connection.prepared.add(statement.name);
    }
  };

  /** A proxy that does not let it through does no harm: the plans stay. */
  const makePlansAnew = async (connection: Connected, deadline: number): Promise<void> => {
    try {
      await prepareMissing(connection, [REPLAN], deadline);
      await runPipeline(connection.client, [REPLAN], left(deadline));
    } catch (error) {
      if (serverErrorOf(error) === undefined) throw error;
    }
  };

  return {
    async run(executions) {
      if (executions.length === 0) return;
      const deadline = performance.now() + limitMs;
      const connection = connected ?? (await connect(deadline));
      let sent = false;
      try {
        if (isDue(connection)) await makePlansAnew(connection, deadline);
        await prepareMissing(connection, executions, deadline);
        // If still connected, the pipeline is handed to the socket now; otherwise it certainly was not sent.
        if (connected !== connection) throw lose(connection, undefined, false);
        sent = true;
        await runPipeline(connection.client, executions, left(deadline, Math.min(LEAST_RUN_MS, limitMs)));
      } catch (error) {
        if (error instanceof Untranslatable || error instanceof LineLost) throw error;
        const server = serverErrorOf(error);
        if (server === undefined) {
          // It fell silent: whoever comes next only has a glance at it.
          away ||= error instanceof Silent;
          throw lose(connection, error, sent);
        }
        // Our prepared statements are gone or outdated, or a standby now answers at this address: reconnect.
        if (isUnprepared(server.code) || server.code === READ_ONLY) drop(connection, new Refused(server));
        throw new Refused(server);
      }
    },
    async close() {
      closed = true;
      const connection = connected;
      connected = undefined;
      if (connection !== undefined) await sayGoodbye(connection.client);
    },
  };
}

const PING = { name: 'ping', text: 'select' };

/** Asks whether the server is there. */
export function ping(line: Line): Promise<void> {
  return line.run([{ statement: PING, values: () => [] }]);
}

/** Counts a run, and says whether it makes the plans anew. */
function isDue(connection: Connected): boolean {
  connection.runs += 1;
  if (connection.runs < connection.replanAt) return false;
  connection.replanAt = connection.runs + Math.min(connection.runs, MOST_RUNS);
  return true;
}

/** A server that has fallen silent does not answer the goodbye either. */
async function sayGoodbye(client: pg.Client): Promise<void> {
  await before(performance.now() + GOODBYE_MS, client.end()).catch(() => client.connection.stream.destroy());
}

/** Milliseconds until then, and so many at least. */
function left(deadline: number, least = LEAST_MS): number {
  return Math.max(least, deadline - performance.now());
}

/** What a promise gives until then. @throws StoreUnavailable when it takes longer. */
export function before<T>(deadline: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const heard = afterSilence(left(deadline), () => reject(new StoreUnavailable()));
    void promise.then(resolve, reject).finally(heard);
  });
}

function newClient({ url, name, patient }: LineOptions, limitMs: number): pg.Client {
  const settings = [
    ...MANNERS,
    `statement_timeout=${Math.ceil(limitMs * SERVER_SHARE)}`,
    ...(patient === true ? ['plan_cache_mode=force_custom_plan'] : PLAN_SETTINGS),
  ];
  return new pg.Client({
    connectionString: url,
    application_name: `mbongo ${name}`,
    options: settings.map((setting) => `-c ${setting.replaceAll(' ', '\\ ')}`).join(' '),
    connectionTimeoutMillis: Math.min(limitMs, RUN_LIMIT_MS),
    keepAlive: true,
  });
}
