/**
 * The processes of a run: a PostgreSQL of its own, the sandbox networks, the gateway, the naive yardstick, the load.
 *
 * Invariant: everything started here is stopped here, by its process id, whatever happens in between.
 */

import { type ChildProcess, execFile, fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { openEmbeddedDatabase } from '../src/platform/embedded-database.ts';
import { cpuSeconds, residentMiB, treeCpuSeconds } from './stats.ts';

const run = promisify(execFile);
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A port that is free now. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

export interface Database {
  /** Address of the server's own database; the others are on the same server. */
  readonly url: string;
  /**
   * Restarts the server with these settings in addition to its own; an undefined setting returns to its default. Nobody
   * may be connected. A server from DATABASE_URL is left as it is: the result is then false.
   */
  restart(settings: Readonly<Record<string, string | undefined>>): Promise<boolean>;
  close(): Promise<void>;
}

const children = new Set<ChildProcess>();
/** Closes what is not a child of this process, and must be cleaned up all the same. */
const closers = new Set<() => Promise<void>>();

/** The server of DATABASE_URL, or an embedded one in a temporary folder. */
export async function openDatabase(): Promise<Database> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== '') {
    return { url: given, restart: () => Promise.resolve(false), close: () => Promise.resolve() };
  }
  const dataDir = mkdtempSync(join(tmpdir(), 'mbongo-bench-'));
  const quiet = { making: () => undefined, warn: (message: string) => console.error(message) };
  let database = await openEmbeddedDatabase({ dataDir, log: quiet });
  let restarted: Promise<unknown> = Promise.resolve();
  const close = async (): Promise<void> => {
    closers.delete(close);
    await restarted.catch(() => undefined);
    await stopServer();
    rmSync(dataDir, { recursive: true, force: true });
  };
  /** The server stops when its last client leaves, so clients that come back meanwhile are disconnected again. */
  const stopServer = async (): Promise<void> => {
    for (let tries = 0; tries < STOP_TRIES; tries += 1) {
      await dismissOthers(database.url);
      await database.close();
      if (!(await answers(database.url))) return;
      database = await openEmbeddedDatabase({ dataDir, log: quiet });
    }
    throw new Error('the embedded database does not stop: somebody stays connected');
  };
  const restart = async (settings: Readonly<Record<string, string | undefined>>): Promise<void> => {
    await alter(database.url, settings);
    await stopServer();
    database = await openEmbeddedDatabase({ dataDir, log: quiet });
  };
  closers.add(close);
  return {
    get url() {
      return database.url;
    },
    async restart(settings) {
      const running = restart(settings);
      restarted = running;
      await running;
      return true;
    },
    close,
  };
}

const STOP_TRIES = 5;

function answers(url: string): Promise<boolean> {
  return withClient(url, () => Promise.resolve(true)).catch(() => false);
}

/** Runs `work` on a connection of its own. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // A cut connection rejects the query on it; the event itself is not needed.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function alter(url: string, settings: Readonly<Record<string, string | undefined>>): Promise<void> {
  return withClient(url, async (client) => {
    for (const [name, value] of Object.entries(settings)) {
      await client.query(
        value === undefined
          ? `alter system reset ${name}`
          : `alter system set ${name} = ${client.escapeLiteral(value)}`,
      );
    }
  });
}

/** The embedded server stops when its last client leaves, and connections of killed processes may linger there. */
function dismissOthers(url: string): Promise<void> {
  return withClient(url, async (client) => {
    await client.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid() and application_name not like 'mbongo %'`,
    );
  });
}

export interface Started {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts one of our programs and waits until it reports that it is ready. */
export function start(
  program: string,
  args: string[],
  env: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
): Promise<Started> {
  const child = fork(here(program), args, {
    execArgv: [...process.execArgv, ...flags],
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = endOf(child);
  return new Promise((done, fail) => {
    child.once('exit', (code) => fail(new Error(`${program} ended with ${code} before it was ready`)));
    child.on('message', (message: { type?: string }) => {
      if (message.type !== 'ready') return;
      const stop = async (): Promise<void> => {
        child.kill('SIGTERM');
        await ended;
      };
      done({ pid: child.pid ?? 0, stop });
    });
  });
}

/** Runs a program to its end, or until everything is stopped; resolves with its output. */
export async function runToEnd(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  const running = run(file, [...args], { env, maxBuffer: 64 * 1024 * 1024 });
  void endOf(running.child);
  return (await running).stdout;
}

/** Keeps track of a child until it has ended. */
function endOf(child: ChildProcess): Promise<void> {
  children.add(child);
  return new Promise((done) => {
    child.once('exit', () => {
      children.delete(child);
      done();
    });
  });
}

/** Ends what a failed or interrupted run has left behind. */
export async function stopAll(): Promise<void> {
  const ended = [...children].map((child) => new Promise((done) => child.once('exit', done)));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
  for (const close of closers) await close().catch((error: unknown) => console.error(error));
}

/** Registers something to close when everything is stopped. */
export function whenStopped(close: () => Promise<void>): void {
  closers.add(close);
}

/** What the other processes used while a load ran, its warm-up included. */
export interface Used {
  readonly gatewayCpuSeconds: number;
  readonly databaseCpuSeconds: number;
  readonly carrierCpuSeconds: number;
  readonly gatewayMiB: number;
}

/** The ids of the processes whose CPU time is measured. */
export interface Measured {
  readonly server: number;
  readonly postgres: number;
  readonly carrier: number;
}

/**
 * Runs a load as a process of its own, and measures what the others use meanwhile. `program` reads one JSON order from its
 * arguments and prints its report as one JSON line.
 */
export async function load<R>(program: string, order: object, pids: Measured): Promise<R & Used> {
  const [server, database, carrier] = [
    cpuSeconds(pids.server),
    treeCpuSeconds(pids.postgres),
    cpuSeconds(pids.carrier),
  ];
  const running = runToEnd(process.execPath, [here(program), JSON.stringify(order)]);
  // The failure is not passed on: its message contains the arguments, and these contain credentials.
  const stdout = await running.catch((failure: { readonly stderr?: string }) => {
    throw new Error(`${program} did not end well: ${failure.stderr?.trim() || 'it was ended'}`);
  });
  return {
    ...(JSON.parse(stdout) as R),
    gatewayCpuSeconds: cpuSeconds(pids.server) - server,
    databaseCpuSeconds: treeCpuSeconds(pids.postgres) - database,
    carrierCpuSeconds: cpuSeconds(pids.carrier) - carrier,
    gatewayMiB: residentMiB(pids.server),
  };
}

/** Scale 10 of pgbench: a hundred thousand accounts for each unit, and 10 branches to contend for. */
const PGBENCH_SCALE = 10;
const PGBENCH_CLIENTS = 8;

/** TPC-B-like transactions a second by pgbench; undefined where pgbench is not installed. */
export async function pgbench(url: string, seconds: number, prepare: boolean): Promise<number | undefined> {
  const found = ['/usr/bin/pgbench', '/usr/local/bin/pgbench', '/opt/homebrew/bin/pgbench'].find(existsSync);
  if (found === undefined) return undefined;
  const target = new URL(url);
  const env = {
    ...process.env,
    PGHOST: target.hostname,
    PGPORT: target.port,
    PGUSER: decodeURIComponent(target.username),
    PGPASSWORD: decodeURIComponent(target.password),
    PGDATABASE: target.pathname.slice(1),
  };
  if (prepare) await runToEnd(found, ['-i', '-q', '-s', String(PGBENCH_SCALE)], env);
  const said = await runToEnd(found, ['-n', '-c', String(PGBENCH_CLIENTS), '-j', '2', '-T', String(seconds)], env);
  return Number(/tps = ([0-9.]+)/.exec(said)?.[1] ?? 0);
}
