/**
 * The PostgreSQL that runs when no DATABASE_URL is given: real, multi-process, from npm.
 *
 * Invariant: every process that opens the same data folder, at the same moment or after any kill -9, gets the one server of that
 * folder; the first one starts it, and the last one to leave stops it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { prepareBinaries } from './embedded-database-binaries.ts';
import {
  type Cluster,
  createCluster,
  findCluster,
  newServerUser,
  prepareDataDir,
  ROLE,
  readPort,
  writePort,
} from './embedded-database-cluster.ts';
import {
  findServer,
  isServerOf,
  type LiveServer,
  quitServer,
  type StartedServer,
  startServer,
  stopServer,
} from './embedded-database-server.ts';

/** What the launcher reports. `making`: there was no database in the folder. */
export type EmbeddedDatabaseLog = { making(message: string): void; warn(message: string): void };

export type EmbeddedDatabase = {
  /** Connection string with the password in it: never log it. A server that is restarted keeps its port while that is free. */
  url: string;
  /** Whether this call started the server; false when it joined a running one. */
  started: boolean;
  /** Leaves. Stops the server when no other process is connected, and waits until it has ended. */
  close(): Promise<void>;
};

const DATABASE = 'mbongo';
const MAX_START_MS = 120_000;
const MAX_STOP_MS = 30_000;
const RETRY_MS = 1_000;
const ATTEMPTS = 4;
/**
 * Milliseconds within which a server that accepts connections answers, even while it recovers; and pg's own message for the
 * timeout.
 */
const MAX_CONNECT_MS = 10_000;
const SILENT = 'timeout expired';
/** Unanswered connections in a row after which the server counts as suspended (SIGSTOP): it would be waited for in vain. */
const MAX_SILENT = 2;

/**
 * A server says this from the crash of one of its processes until it replays its log, which takes a moment. If the process that
 * would replay it dies before, PostgreSQL 18 says it for ever, and does not obey a fast shutdown either.
 */
const RECOVERING = 'the database system is in recovery mode';
/** 60 000 ms: before it replays its log a server flushes every file, which takes long on a slow disk. */
const MAX_RECOVERING_MS = 60_000;

/** Transient trouble: another opener won, or the backends of a killed server have yet to leave its shared memory. */
const PASSING = /lock file .* already exists|shared memory|has ended/;
const PRESENT = 'mbongo presence';
const LEAVING = 'mbongo leaving';
/** The lock of the process that counts the others, held until the server has stopped or the connection is given up. */
const COUNTING = `hashtext('${LEAVING}')`;

/** A connection held for as long as the database is open; by itself it does not keep the process alive. */
type Presence = pg.Client & { ref(): void; unref(): void };
type Joined = { presence: Presence; cluster: Cluster; port: number; pid: number; started: boolean };

/** Limits of how long to wait, milliseconds. */
type Limits = { readonly connectLimitMs: number; readonly recoveryLimitMs: number };

/**
 * Opens the database of `dataDir`: joins its server or starts it, making the cluster when there is none. While it is
 * open, a server that dies is started again on the same port.
 *
 * @throws Error that says what to do: unsupported system, files of another user, a server that does not start.
 */
export async function openEmbeddedDatabase(options: {
  dataDir: string;
  log: EmbeddedDatabaseLog;
  connectLimitMs?: number;
  recoveryLimitMs?: number;
}): Promise<EmbeddedDatabase> {
  const { log, connectLimitMs = MAX_CONNECT_MS, recoveryLimitMs = MAX_RECOVERING_MS } = options;
  const limits = { connectLimitMs, recoveryLimitMs };
  const dataDir = prepareDataDir(options.dataDir);
  let joined = await join(dataDir, log, limits);
  let leaving = false;
  let rejoining: Promise<void> | undefined;
  try {
    await createDatabase(joined);
  } catch (error) {
    // Otherwise this process would count as one that needs the server, for as long as it lives.
    await leave(joined, log);
    throw error;
  }

  const watch = (): void => {
    joined.presence.unref();
    joined.presence.once('end', () => {
      if (!leaving) rejoining = rejoin();
    });
  };
  const rejoin = async (): Promise<void> => {
    log.warn('the embedded database ended unexpectedly: starting it again');
    while (!leaving) {
      try {
        joined = await join(dataDir, log, limits);
        break;
      } catch (error) {
        log.warn(`the embedded database did not start again: ${String(error)}`);
        await pause(RETRY_MS, undefined, { ref: false });
      }
    }
    if (leaving) await leave(joined, log);
    else watch();
  };
  watch();

  return {
    url: urlOf(joined.cluster, joined.port, DATABASE),
    started: joined.started,
    async close() {
      if (leaving) return;
      leaving = true;
      await leave(joined, log);
      // A server that was being restarted meanwhile is left as well; otherwise nobody would stop it.
      await rejoining;
    },
  };
}

/** Joins the live server of the folder or starts one, until a connection is established. */
async function join(dataDir: string, log: EmbeddedDatabaseLog, limits: Limits): Promise<Joined> {
  let cluster = findCluster(dataDir);
  if (cluster === undefined) {
    log.making(`making an embedded database in ${dataDir}`);
    cluster = await createCluster(dataDir, prepareBinaries(newServerUser(), dataDir));
  }
  const deadline = Date.now() + MAX_START_MS;
  let trouble = 'no answer';
  for (let attempt = 0; attempt < ATTEMPTS && Date.now() < deadline; ) {
    const live = findServer(cluster);
    const server = live ?? (await startServer(cluster, prepareBinaries(cluster.user, dataDir)));
    const outcome = await connectUntil(cluster, server, { ...limits, deadline, log });
    if (typeof outcome !== 'string') {
      // Openers that raced have each recorded the port they tried; the one that serves is the one to remember.
      if (readPort(cluster) !== outcome.port) writePort(cluster, outcome.port);
      return { ...outcome, cluster, pid: server.pid, started: live === undefined };
    }
    trouble = outcome;
    if (!PASSING.test(trouble)) attempt += 1;
    await pause(100);
  }
  throw new Error(`the embedded database did not start (${trouble}): see ${cluster.logFile}, or set DATABASE_URL`);
}

/**
 * Tries to connect until that succeeds or the server has ended; in the latter case resolves with the reason. A server that does not
 * get past its recovery is ended.
 *
 * @throws Error when the server accepts connections but answers none.
 */
async function connectUntil(
  cluster: Cluster,
  server: LiveServer | StartedServer,
  {
    deadline,
    log,
    connectLimitMs,
    recoveryLimitMs,
  }: Limits & { readonly deadline: number; readonly log: EmbeddedDatabaseLog },
): Promise<{ presence: Presence; port: number } | string> {
  const { pid } = server;
  const end = (): string | undefined => {
    if ('end' in server) return server.end();
    return isServerOf(pid, cluster) ? undefined : 'the server that was running has ended';
  };
  let trouble = 'no answer in time';
  let silent = 0;
  let recoveringSince: number | undefined;
  while (end() === undefined && Date.now() < deadline) {
    // Only the port in the server's own file counts: the one that we chose may be another program's by now.
    const live = findServer(cluster);
    if (live?.port !== undefined && live.pid === pid) {
      const presence = await tryConnect(cluster, live.port, connectLimitMs);
      if (typeof presence !== 'string') return { presence, port: live.port };
      trouble = presence;
      silent = presence === SILENT ? silent + 1 : 0;
      if (silent === MAX_SILENT) throw new Error(silentServer(pid));
      recoveringSince = presence === RECOVERING ? (recoveringSince ?? Date.now()) : undefined;
      if (recoveringSince !== undefined && Date.now() - recoveringSince > recoveryLimitMs) {
        log.warn('the embedded database does not get past its recovery: starting it again');
        quitServer(pid);
        recoveringSince = undefined;
      }
      if (trouble.includes('password authentication failed')) return trouble;
    }
    await pause(20);
  }
  return end() ?? trouble;
}

function silentServer(pid: number): string {
  return (
    `the embedded database (process ${pid}) accepts connections but does not answer: it is suspended, or the machine is ` +
    `overloaded. Let it continue (kill -CONT ${pid}), or end it (kill ${pid}), and try again`
  );
}

async function tryConnect(cluster: Cluster, port: number, connectLimitMs: number): Promise<Presence | string> {
  const client = new pg.Client({
    connectionString: urlOf(cluster, port, 'postgres'),
    application_name: PRESENT,
    connectionTimeoutMillis: connectLimitMs,
    keepAlive: true,
  });
  client.on('error', () => undefined); // The end event follows, and is the one that we act on.
  try {
    await client.connect();
    // A process that is counting just now has not seen us, and may stop the server: then this query fails, and we start over.
    await client.query(`select pg_advisory_lock_shared(${COUNTING}), pg_advisory_unlock_shared(${COUNTING})`);
  } catch (error) {
    await client.end().catch(() => undefined);
    return error instanceof Error ? error.message : String(error);
  }
  return client as Presence;
}

async function createDatabase({ presence }: Joined): Promise<void> {
  const known = await presence.query('select 1 from pg_database where datname = $1', [DATABASE]);
  if (known.rowCount === 1) return;
  await presence.query(`create database ${DATABASE}`).catch((error: unknown) => {
    // 42P04 and 23505 mean that another opener has just created it.
    const code = error instanceof pg.DatabaseError ? error.code : undefined;
    if (code !== '42P04' && code !== '23505') throw error;
  });
}

/**
 * Two processes that leave together both mark themselves first, so that at least one of them sees nobody else and stops the
 * server. An opener that joins at the last moment waits until it is known whether it was counted; if it was not, it loses its
 * connection, and starts the server again.
 */
async function leave({ presence, cluster, pid }: Joined, log: EmbeddedDatabaseLog): Promise<void> {
  let others = 0;
  presence.ref(); // The process must not end while it waits for these answers.
  try {
    await presence.query(`set application_name = '${LEAVING}'`);
    await presence.query(`select pg_advisory_lock(${COUNTING})`);
    const counted = await presence.query<{ others: number }>(
      `select count(*)::int as others from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name <> $1`,
      [LEAVING],
    );
    others = counted.rows[0]?.others ?? 0;
    if (others === 0) stopServer(pid);
  } catch {
    // Another leaving process has stopped the server, or it was killed: there is nothing left to stop.
  }
  // The lock is held until the server disconnects everybody: released sooner, it would admit an opener about to be disconnected.
  if (others === 0) await untilEnded(pid, cluster, log);
  await presence.end();
}

async function untilEnded(pid: number, cluster: Cluster, log: EmbeddedDatabaseLog): Promise<void> {
  const deadline = Date.now() + MAX_STOP_MS;
  while (isServerOf(pid, cluster) && Date.now() < deadline) await pause(20);
  if (isServerOf(pid, cluster)) log.warn('the embedded database is still shutting down');
}

function urlOf(cluster: Cluster, port: number, database: string): string {
  return `postgres://${ROLE}:${cluster.password}@127.0.0.1:${port}/${database}`;
}
