/**
 * Starts, recognises and stops the server process of a cluster.
 *
 * Invariant: PostgreSQL's own lock (postmaster.pid with its shared memory) decides who runs on a cluster. Nothing here
 * removes that file, so two servers never run on one data folder.
 */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, fstatSync, linkSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Cluster, readPort, serverEnvironment, writePort } from './embedded-database-cluster.ts';
import { openOwnedLog, readOwned, rewriteOwned } from './embedded-database-files.ts';
import { systemCodeOf } from './system-code.ts';

/** A server process that is alive on the cluster; `port` is absent while it is only starting. */
export type LiveServer = { pid: number; port: number | undefined };

/** A server that this process started; `end` says how it ended, once it has. */
export type StartedServer = { pid: number; end: () => string | undefined };

const MAX_LOG_BYTES = 4 * 1024 * 1024;

/**
 * The settings of every embedded server. Commits are durable; little WAL is kept, because replaying 4 GB after a kill took 25 s;
 * the log holds neither statements nor values, because those may be secret.
 */
const SETTINGS: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '192MB',
  max_wal_size: '1GB',
  // Recycled WAL files need not be created; by default a cluster with small ones keeps only five of them.
  min_wal_size: '512MB',
  // The default is at most one WAL file, and those are small here.
  wal_buffers: '8MB',
  fsync: 'on',
  synchronous_commit: 'on',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_checkpoints: 'off',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};

/** The server that is alive on the cluster, if any: judged by the process itself, since pids are reused. */
export function findServer(cluster: Cluster): LiveServer | undefined {
  const file = join(cluster.data, 'postmaster.pid');
  const lines = readIfPresent(file, cluster).split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  if (!isServerOf(pid, cluster)) return undefined;
  const port = Number.parseInt(lines[3] ?? '', 10);
  return { pid, port: Number.isNaN(port) ? undefined : port };
}

/** Whether process `pid` is alive and a server over this cluster's data; a zombie's command line is empty. */
export function isServerOf(pid: number, cluster: Cluster): boolean {
  if (!(pid > 0)) return false;
  let command: string;
  if (process.platform === 'linux') {
    try {
      command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    } catch {
      return false;
    }
  } else {
    command = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
  }
  return command.includes('postgres') && command.includes(` ${cluster.data} `);
}

/**
 * Starts a server that outlives this process, in its own session. It may still be recovering, or may lose the
 * race for the cluster: the caller finds out by connecting.
 */
export async function startServer(cluster: Cluster, binaries: string): Promise<StartedServer> {
  disownStalePid(cluster);
  const port = await choosePort(cluster);
  writePort(cluster, port);
  rotateLog(cluster);
  const log = openOwnedLog(cluster.logFile, cluster.user);
  const logStart = fstatSync(log).size;
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(binaries, 'bin', 'postgres'), ['-D', cluster.data, '-p', String(port), ...settings], {
    cwd: '/',
    detached: true,
    env: serverEnvironment(),
    stdio: ['ignore', log, log],
    ...cluster.user,
  });
  closeSync(log);
  child.unref();
  let end: string | undefined;
  child.once('error', (error) => {
    end = error.message;
  });
  child.once('exit', (code, signal) => {
    end = lastLogLine(cluster, logStart) ?? `exit ${code ?? signal}`;
  });
  return { pid: child.pid ?? 0, end: () => end };
}

/** Requests a fast shutdown; the server writes a checkpoint and ends. */
export function stopServer(pid: number): void {
  tell(pid, 'SIGINT');
}

/** Requests an immediate shutdown; the server ends as in a crash, and the next start replays its log. */
export function quitServer(pid: number): void {
  tell(pid, 'SIGQUIT');
}

function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

/**
 * PostgreSQL clears a stale lock file itself, except when the pid in it has been reused by another process (or is a zombie that
 * nobody reaped). Then the pid is replaced by that of a process that has just ended; the shared-memory key in the file stays, so
 * that PostgreSQL still refuses while backends of the dead server linger.
 */
function disownStalePid(cluster: Cluster): void {
  const file = join(cluster.data, 'postmaster.pid');
  if (findServer(cluster) !== undefined) return;
  const before = readIfPresent(file, cluster);
  if (!isAlive(Number.parseInt(before, 10))) return;
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return; // Another opener is at it.
  }
  const taken = readIfPresent(aside, cluster);
  if (taken === before) {
    const gone = spawnSync(process.execPath, ['--version']).pid;
    rewriteOwned(aside, taken.replace(/^-?\d+/, String(gone)), cluster.user);
  }
  try {
    linkSync(aside, file);
  } catch {
    // A server that another process started has written its own meanwhile.
  }
  rmSync(aside);
}

/**
 * Empty when the file is gone: the server removes it when it stops, which may be between any two calls of ours. A link in its
 * place counts as gone.
 */
function readIfPresent(file: string, { user }: Pick<Cluster, 'user'>): string {
  try {
    return readOwned(file, user);
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return systemCodeOf(error) === 'EPERM';
  }
}

/** The last port if it is free, since clients still know it; otherwise another free one. */
async function choosePort(cluster: Cluster): Promise<number> {
  const last = readPort(cluster);
  if (last !== undefined && (await listenOnce(last)) !== undefined) return last;
  const free = await listenOnce(0);
  if (free === undefined) throw new Error('no free port on 127.0.0.1 for the embedded database');
  return free;
}

function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(undefined));
    probe.listen(port, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}

function rotateLog(cluster: Cluster): void {
  const size = statSync(cluster.logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) renameSync(cluster.logFile, `${cluster.logFile}.1`);
}

/** Why the server ended, from what it wrote since `start` (bytes); its folder may be gone by then. */
function lastLogLine(cluster: Cluster, start: number): string | undefined {
  return whyEnded(Buffer.from(readIfPresent(cluster.logFile, cluster)).subarray(start).toString('utf8'));
}

/** What a server tells those who connect too early or too late: never why it ended. */
const TURNED_AWAY = /FATAL: +the database system is /;

/** The line of a server's log that says why the server ended; undefined for an empty log. */
export function whyEnded(log: string): string | undefined {
  const lines = log.trim().split('\n');
  const reasons = lines.filter((line) => /FATAL|PANIC/.test(line) && !TURNED_AWAY.test(line));
  return reasons.at(-1) ?? (lines.at(-1) || undefined);
}
