/**
 * The processes of a run: a PostgreSQL of its own, the sandbox networks, the gateway, the naive yardstick, the load.
 *
 * Invariant: everything that was started here is stopped here, by its process id, whatever happens in between.
 */

import { type ChildProcess, execFile, fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
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
  readonly url: string;
  close(): Promise<void>;
}

/** The server of DATABASE_URL, or an embedded one over a temporary folder. */
export async function openDatabase(): Promise<Database> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== '') return { url: given, close: () => Promise.resolve() };
  const dataDir = mkdtempSync(join(tmpdir(), 'mbongo-bench-'));
  const quiet = { info: () => undefined, warn: (message: string) => console.error(message) };
  const database = await openEmbeddedDatabase({ dataDir, log: quiet });
  return {
    url: database.url,
    close: async () => {
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

const children = new Set<ChildProcess>();

export interface Started {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts one of our programs and waits until it says that it is ready. */
export function start(program: string, args: string[], env: Record<string, string>): Promise<Started> {
  const child = fork(here(program), args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.add(child);
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  return new Promise((done, fail) => {
    child.once('exit', (code) => fail(new Error(`${program} ended with ${code} before it was ready`)));
    child.on('message', (message: { type?: string }) => {
      if (message.type !== 'ready') return;
      const stop = async (): Promise<void> => {
        child.kill('SIGTERM');
        await ended;
        children.delete(child);
      };
      done({ pid: child.pid ?? 0, stop });
    });
  });
}

/** Ends what a failed run has left behind. */
export function stopAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** What the others used while a load ran, its warm-up included. */
export interface Used {
  readonly gatewayCpuSeconds: number;
  readonly databaseCpuSeconds: number;
  readonly carrierCpuSeconds: number;
  readonly gatewayMiB: number;
}

/** The processes whose time is measured, by their ids. */
export interface Measured {
  readonly server: number;
  readonly postgres: number;
  readonly carrier: number;
}

/**
 * Runs a load as a process of its own, and reads what the others used meanwhile. `program` reads one JSON order from its
 * arguments and prints its report as one JSON line.
 */
export async function load<R>(program: string, order: object, pids: Measured): Promise<R & Used> {
  const [server, database, carrier] = [
    cpuSeconds(pids.server),
    treeCpuSeconds(pids.postgres),
    cpuSeconds(pids.carrier),
  ];
  const { stdout } = await run(process.execPath, [here(program), JSON.stringify(order)], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return {
    ...(JSON.parse(stdout) as R),
    gatewayCpuSeconds: cpuSeconds(pids.server) - server,
    databaseCpuSeconds: treeCpuSeconds(pids.postgres) - database,
    carrierCpuSeconds: cpuSeconds(pids.carrier) - carrier,
    gatewayMiB: residentMiB(pids.server),
  };
}

/** TPC-B-like transactions a second by pgbench, 8 clients; undefined where pgbench is not installed. */
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
  if (prepare) await run(found, ['-i', '-q', '-s', '10'], { env });
  const { stdout } = await run(found, ['-n', '-c', '8', '-j', '2', '-T', String(seconds)], { env });
  return Number(/tps = ([0-9.]+)/.exec(stdout)?.[1] ?? 0);
}
