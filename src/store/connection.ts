/**
 * A connection: one database connection that reconnects by itself, and runs one pipeline at a time.
 *
 * Invariant: the connection never resends a pipeline whose Sync may have reached a server; the caller decides. Planner settings are
 * pinned on every connection: on fresh tables the planner takes sequential scans for set-based statements, and together the
 * settings made the commit path 1.6 to 1.8 times faster (one alone made it slower). PostgreSQL keeps a sequential-scan plan made
 * while a table was known to be empty until the table is analyzed again, so plans are discarded each time the number of a
 * connection's runs has doubled.
 */

import pg from 'pg';
import {
  CommitsStalled,
  ConnectionLost,
  codeOf,
  isUnprepared,
  READ_ONLY,
  Refused,
  StoreUnavailable,
  serverErrorOf,
} from './errors.ts';
import { type Execution, prepare, runPipeline, Silent, type Statement, Untranslatable } from './pipeline.ts';
import { beginningWith, followSettings } from './session-settings.ts';
import { watchdog } from './watchdog.ts';

export interface ConnectionOptions {
  readonly url: string;
  /** The connection's name in the server's list (`pg_stat_activity`). */
  readonly name: string;
  /** Called with lost connections and unreachable servers; its errors hold no values and no address. */
  readonly onError: (error: Error) => void;
  /** For long queries: no pinned planner settings, a fresh plan for each, and a limit of ten minutes. */
  readonly patient?: boolean;
  /** How long a run may take in all, milliseconds; `RUN_LIMIT_MS` when absent. */
  readonly limitMs?: number;
  /** Shared with the other connections to the same server; one of its own when absent. */
  readonly stall?: Stall;
}

/** What is known of commits that a server does not answer. */
export interface Stall {
  /** A server fell silent after something was sent: each further commit could leave a backend behind that waits, until none is free. */
  suspected: boolean;
  /** It has been reported. */
  told: boolean;
}

export const newStall = (): Stall => ({ suspected: false, told: false });

export interface Connection {
  /**
   * Runs a pipeline; its statements commit whole or not at all.
   *
   * @throws Refused: rolled back; Untranslatable: rolled back; ConnectionLost: see its `sent`; StoreUnavailable: not sent, after
   *   trying to connect for about two seconds, or for `GLANCE_MS` while the database is known to be unreachable; CommitsStalled: not
   *   sent, because earlier commits still wait.
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

/**
 * The first two fix how instants are written, the third makes a statement see everything committed before it. With the fourth off, a
 * pattern like `mch\_%` would mean another one, which no index is made for; and the last keeps connections that wait for work.
 */
const MANNERS = [
  'TimeZone=UTC',
  'DateStyle=ISO',
  'default_transaction_isolation=read committed',
  'standard_conforming_strings=on',
  'idle_session_timeout=0',
];

/**
 * Milliseconds from the first attempt to connect to the last byte of the answer; only the minimum times of the last steps may
 * exceed them. A healthy database needs milliseconds; a caller that waits longer serves a request whose client is about to give
 * up, and should rather tell that client to come again (1402).
 */
const RUN_LIMIT_MS = 4_000;
const PATIENT_LIMIT_MS = 600_000;
/** The server ends a statement after this share of our limit, before we give up: so we know that it was rolled back. */
const SERVER_SHARE = 0.75;
/** Minimum for each preparing step, even if the run's time is up: a pause of this process may have used up that time. */
const LEAST_MS = 100;
/** Minimum for a pipeline: giving up on a commit that was sent leaves its outcome unknown for every caller. */
const LEAST_RUN_MS = 1_000;
/** How long a caller waits for a connection while the database is known to be unreachable. */
const GLANCE_MS = 250;
/** How long the server may take to close the connection; then its socket is destroyed. */
const GOODBYE_MS = 1_000;
/** A minute, after which it is reported again that the server accepts no changes. */
const READ_ONLY_TOLD_MS = 60_000;
/** Pauses between attempts to connect; if the attempt after the last pause fails too, the caller's run fails. */
const BACKOFF_MS = [25, 50, 100, 200, 400, 800];

/** Plans are discarded after this many runs of a connection, then after twice as many, and so on, up to every `MOST_RUNS`. */
const FIRST_RUNS = 32;
const MOST_RUNS = 8_192;
const REPLAN: Execution = { statement: { name: 'replan', text: 'discard plans' }, values: () => [] };

interface Connected {
  readonly client: pg.Client;
  readonly prepared: Set<string>;
  runs: number;
  /** The run before which the plans are discarded. */
  replanAt: number;
}

/**
 * SQL: commits of ours that wait for a synchronous standby. Those that come after them would wait at least as long, and neither
 * `statement_timeout` nor our going away ends such a wait.
 */
export const STALLED = `from pg_stat_activity where datname = current_database() and usename = session_user
  and wait_event = 'SyncRep' and query_start < clock_timestamp() - interval '${LEAST_RUN_MS} ms'`;
const STALLED_COMMITS: Statement = { name: 'stalled_commits', text: `select ${STALLED} limit 1` };

/** Makes a connection. It connects when it is first used, and again after a connection was lost. */
export function openConnection(options: ConnectionOptions): Connection {
  const limitMs = options.limitMs ?? (options.patient === true ? PATIENT_LIMIT_MS : RUN_LIMIT_MS);
  let connected: Connected | undefined;
  /** An attempt to connect, which may outlive the run that began it. */
  let attempt: Promise<Connected> | undefined;
  /** Whether the database is known to be unreachable: the last attempt failed, or a connection fell silent. */
  let away = false;
  const stall = options.stall ?? newStall();
  /** When it was last reported that the server accepts no changes. */
  let readOnlyToldAt = Number.NEGATIVE_INFINITY;
  let closed = false;

  const lose = (connection: Connected, error: unknown, sent: boolean): ConnectionLost => {
    const lost = new ConnectionLost(sent, codeOf(error));
    drop(connection, lost);
    return lost;
  };

  const drop = (connection: Connected, reason: Error): void => {
    if (connected !== connection) return;
    connected = undefined;
    if (!closed && isNews(reason)) options.onError(reason);
    connection.client.end().catch(() => undefined);
  };

  /** A server that accepts no changes refuses each, and answers the next new connection all the same. */
  const isNews = (reason: Error): boolean => {
    if (!(reason instanceof Refused) || reason.server.code !== READ_ONLY) return true;
    const isLong = performance.now() - readOnlyToldAt >= READ_ONLY_TOLD_MS;
    if (isLong) readOnlyToldAt = performance.now();
    return isLong;
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
    // Reported once per outage, not once per caller.
    if (!away) options.onError(new StoreUnavailable(`the database cannot be reached (${code ?? 'no code'})`));
    away = true;
    throw new StoreUnavailable(undefined, code);
  };

  const attemptToConnect = (): Promise<Connected> => {
    attempt ??= connectOnce().finally(() => {
      attempt = undefined;
    });
    // The run that began the attempt may have stopped waiting for it.
    attempt.catch(() => undefined);
    return attempt;
  };

  const connectOnce = async (): Promise<Connected> => {
    const client = newClient(options, limitMs);
    const connection: Connected = { client, prepared: new Set(), runs: 0, replanAt: FIRST_RUNS };
    // Reports idle connections that break; a pipeline in flight gets the error itself.
    client.on('error', (error) => drop(connection, new ConnectionLost(false, codeOf(error))));
    client.on('end', () => drop(connection, new ConnectionLost(false, undefined)));
    const requireSettings = followSettings(client.connection);
    // Not the driver's own limit, which knows of no pause of this process.
    const heard = watchdog(Math.min(limitMs, RUN_LIMIT_MS), () => client.connection.stream.destroy());
    await client.connect().finally(heard);
    try {
      requireSettings();
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
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

  /** Sends no commit behind those that a server still waits with; reports it once. */
  const requireNoStall = async (connection: Connected, deadline: number): Promise<void> => {
    let waits = false;
    const look: Execution = { statement: STALLED_COMMITS, values: () => [], onRow: () => (waits = true) };
    try {
      await prepareMissing(connection, [look], deadline);
      await runPipeline(connection.client, [look], left(deadline));
    } catch (error) {
      const server = serverErrorOf(error);
      if (server === undefined || isUnprepared(server.code)) throw error;
      // A role that may not look there sends its changes as if none waited.
    }
    if (!waits) {
      stall.suspected = false;
      stall.told = false;
      return;
    }
    const error = new CommitsStalled();
    if (!stall.told) options.onError(error);
    stall.told = true;
    throw error;
  };

  /** Discards the plans. A proxy that refuses the statement does no harm: the plans stay. */
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
        if (stall.suspected && executions.some(({ statement }) => statement.writes))
          await requireNoStall(connection, deadline);
        // If still connected, the pipeline is handed to the socket now; otherwise it certainly was not sent.
        if (connected !== connection) throw lose(connection, undefined, false);
        sent = true;
        await runPipeline(connection.client, executions, left(deadline, Math.min(LEAST_RUN_MS, limitMs)));
      } catch (error) {
        if (error instanceof Untranslatable || error instanceof ConnectionLost || error instanceof CommitsStalled)
          throw error;
        const server = serverErrorOf(error);
        if (server === undefined) {
          // The server fell silent: the next callers wait only `GLANCE_MS` for it.
          away ||= error instanceof Silent;
          stall.suspected ||= sent && error instanceof Silent;
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

/** Checks that the server answers. */
export function ping(connection: Connection): Promise<void> {
  return connection.run([{ statement: PING, values: () => [] }]);
}

/** Counts a run, and tells whether the plans are discarded before it. */
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

/** Milliseconds until the deadline, but no fewer than `least`. */
function left(deadline: number, least = LEAST_MS): number {
  return Math.max(least, deadline - performance.now());
}

/** The promise's outcome, if it comes before the deadline. @throws StoreUnavailable if it takes longer. */
export function before<T>(deadline: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const heard = watchdog(left(deadline), () => reject(new StoreUnavailable()));
    void promise.then(resolve, reject).finally(heard);
  });
}

function newClient({ url, name, patient }: ConnectionOptions, limitMs: number): pg.Client {
  const settings = [
    ...MANNERS,
    `statement_timeout=${Math.ceil(limitMs * SERVER_SHARE)}`,
    ...(patient === true ? ['plan_cache_mode=force_custom_plan'] : PLAN_SETTINGS),
  ];
  return new pg.Client({
    ...beginningWith(url, settings),
    application_name: `mbongo ${name}`,
    keepAlive: true,
  });
}
