/**
 * A connection: one database connection that reconnects by itself, and runs one pipeline at a time.
 *
 * Invariant: the connection never resends a pipeline whose Sync may have reached a server; the caller decides.
 */

import pg from 'pg';
import { type Connected, discardPlans, isReplanDue, newConnected, prepareMissing } from './connected.ts';
import { connectWithin, MIN_RUN_MS, remainingMs, withDeadline } from './deadline.ts';
import { openDialler } from './dialler.ts';
import {
  CommitsStalled,
  ConnectionLost,
  codeOf,
  isUnprepared,
  needsOperator,
  READ_ONLY,
  Refused,
  StoreUnavailable,
  serverErrorOf,
} from './errors.ts';
import { type Execution, runPipeline, Silent, Untranslatable } from './pipeline.ts';
import { beginningWith, followSettings, settingsOf } from './session-settings.ts';
import { newStall, requireNoStall, type Stall } from './stall.ts';

export interface ConnectionOptions {
  readonly url: string;
  /** The connection's name in the server's list (`pg_stat_activity`). */
  readonly name: string;
  /** Called with lost connections and unreachable servers; its errors hold no values and no address. */
  readonly onError: (error: Error) => void;
  /** For long queries: no pinned planner settings, a fresh plan for each, and a limit of ten minutes. */
  readonly patient?: boolean;
  /** How long a run may take in all, milliseconds; `MAX_RUN_MS` when absent. */
  readonly limitMs?: number;
  /** Shared with the other connections to the same server; one of its own when absent. */
  readonly stall?: Stall;
}

export interface Connection {
  /**
   * Runs a pipeline; its statements commit whole or not at all.
   *
   * @throws Refused: rolled back; Untranslatable: rolled back if a value could not be written, committed if a row could not be read;
   *   ConnectionLost: see its `sent`; StoreUnavailable: not sent, after trying to connect for about two seconds, or a quarter of one
   *   while the database is known to be unreachable; CommitsStalled: not sent, because earlier commits still wait.
   */
  run(executions: readonly Execution[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * Milliseconds from the first attempt to connect to the last byte of the answer; only the minimum times of the last steps may
 * exceed them. A healthy database needs milliseconds; a caller that waits longer serves a request whose client is about to give
 * up, and should rather tell that client to come again (1402).
 */
const MAX_RUN_MS = 4_000;
const MAX_PATIENT_RUN_MS = 600_000;
/** The server ends a statement after this share of our limit, before we give up: so we know that it was rolled back. */
const SERVER_SHARE = 0.75;
/** How long the server may take to close the connection; then its socket is destroyed. */
const GOODBYE_MS = 1_000;
/** A minute, after which it is reported again that the server accepts no changes, or is in the same trouble. */
const TOLD_AGAIN_MS = 60_000;

/** `sent`: the pipeline may have reached the server. */
type Reach = Pick<ConnectionLost, 'sent'>;

/** Makes a connection. It connects when it is first used, and again after a connection was lost. */
export function openConnection(options: ConnectionOptions): Connection {
  const limitMs = options.limitMs ?? (options.patient === true ? MAX_PATIENT_RUN_MS : MAX_RUN_MS);
  const stall = options.stall ?? newStall();
  const isNews = newsFilter();
  let connected: Connected | undefined;
  let closed = false;

  const drop = (connection: Connected, reason: Error): void => {
    if (connected !== connection) return;
    connected = undefined;
    if (isNews(reason)) options.onError(reason);
    connection.client.end().catch(() => undefined);
  };

  const lose = (connection: Connected, error: unknown, { sent }: Reach): ConnectionLost => {
    const lost = new ConnectionLost({ sent, code: codeOf(error) });
    drop(connection, lost);
    return lost;
  };

  const open = async (): Promise<Connected> => {
    const client = newClient(options, limitMs);
    const connection = newConnected(client);
    // Reports idle connections that break; a pipeline in flight gets the error itself.
    client.on('error', (error) => lose(connection, error, { sent: false }));
    client.on('end', () => lose(connection, undefined, { sent: false }));
    await connectClient(client, Math.min(limitMs, MAX_RUN_MS));
    if (closed) {
      await client.end();
      throw new StoreUnavailable('the store is closed');
    }
    connected = connection;
    return connection;
  };

  const current = (): Connected | undefined => {
    if (closed) throw new StoreUnavailable('the store is closed');
    return connected;
  };

  const dialler = openDialler({ open, current, onError: options.onError });

  /** What a run's caller is told of its failure. */
  const failed = (connection: Connected, error: unknown, { sent }: Reach): Error => {
    if (error instanceof Untranslatable || error instanceof ConnectionLost || error instanceof CommitsStalled)
      return error;
    const server = serverErrorOf(error);
    if (server === undefined) {
      if (error instanceof Silent) {
        dialler.noteSilence();
        stall.suspected ||= sent;
      }
      return lose(connection, error, { sent });
    }
    const refused = new Refused(server);
    // Our prepared statements are gone or outdated, or a standby now answers at this address: reconnect.
    if (isUnprepared(server.code) || server.code === READ_ONLY) drop(connection, refused);
    // The callers learn only that they have to wait.
    else if (needsOperator(server.code) && isNews(refused)) options.onError(refused);
    return refused;
  };

  return {
    async run(executions) {
      if (executions.length === 0) return;
      const deadline = performance.now() + limitMs;
      const connection = connected ?? (await dialler.dial(deadline));
      let sent = false;
      try {
        if (isReplanDue(connection)) await discardPlans(connection, deadline);
        await prepareMissing(connection, executions, deadline);
        if (stall.suspected && executions.some(({ statement }) => statement.writes))
          await requireNoStall(connection, stall, Math.min(deadline, performance.now() + MAX_RUN_MS), options.onError);
        // If still connected, the pipeline is handed to the socket now; otherwise it certainly was not sent.
        if (connected !== connection) throw lose(connection, undefined, { sent: false });
        sent = true;
        await runPipeline(connection.client, executions, remainingMs(deadline, Math.min(MIN_RUN_MS, limitMs)));
      } catch (error) {
        throw failed(connection, error, { sent });
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

/**
 * Whether a failure is worth a report: a server that accepts no changes, or whose disk is full, refuses each, and answers the next
 * statement all the same.
 */
function newsFilter(): (reason: Error) => boolean {
  const toldAt = new Map<string, number>();
  return (reason) => {
    const code = reason instanceof Refused ? reason.server.code : '';
    if (code !== READ_ONLY && !needsOperator(code)) return true;
    const isLong = performance.now() - (toldAt.get(code) ?? Number.NEGATIVE_INFINITY) >= TOLD_AGAIN_MS;
    if (isLong) toldAt.set(code, performance.now());
    return isLong;
  };
}

/** A server that has fallen silent does not answer the goodbye either. */
async function sayGoodbye(client: pg.Client): Promise<void> {
  await withDeadline(performance.now() + GOODBYE_MS, client.end()).catch(() => client.connection.stream.destroy());
}

function newClient({ url, name, patient }: ConnectionOptions, limitMs: number): pg.Client {
  const settings = settingsOf(patient === true ? 'fresh' : 'pinned', limitMs * SERVER_SHARE);
  return new pg.Client({
    ...beginningWith(url, settings),
    application_name: `mbongo ${name}`,
    keepAlive: true,
  });
}

/** Connects, within `mostMs` of silence. @throws SettingsDropped when the server does not begin with our settings. */
async function connectClient(client: pg.Client, mostMs: number): Promise<void> {
  const requireSettings = followSettings(client.connection);
  await connectWithin(mostMs, client);
  try {
    requireSettings();
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}
