/**
 * An embedded database in a folder of its own, for tests that open it, kill it and open it again; also from other processes.
 *
 * Invariant: no server, process or folder that was made here outlives `close`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { vi } from 'vitest';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../src/platform/embedded-database.ts';
import { findCluster } from '../../src/platform/embedded-database-cluster.ts';
import { findServer, isServerOf } from '../../src/platform/embedded-database-server.ts';
import { databasePlace } from './database-place.ts';

/** The program that opens a database, reports it, and holds it open until its input ends. */
export const OPENER = fileURLToPath(new URL('../../test/support/database-opener.ts', import.meta.url));
/** 300 000 ms, a limit for what hangs. */
export const limit = 300_000;

/** The other processes of a server that was killed write until they notice that it is gone: then the folder is not empty. */
const REMOVING = { recursive: true, force: true, maxRetries: 50, retryDelay: 100 } as const;

type Cluster = NonNullable<ReturnType<typeof findCluster>>;

/** The files of a database that was made and stopped: making one takes seconds, and most tests are about what follows. */
export interface MadeFiles {
  copyTo(dir: string): void;
  remove(): void;
}

export interface DatabaseDesk {
  readonly dataDir: string;
  /** Opens it in this process; in the test's folder unless another is given. */
  open(dir?: string): Promise<EmbeddedDatabase>;
  /** Opens it in a process of its own, as that user. */
  opener(uid?: number): Promise<{ child: ChildProcess; url: string; started: boolean }>;
  spawnOpener(uid?: number): ChildProcess;
  /** Puts ready-made files into the test's folder; if the database was put elsewhere, the test makes its own. */
  takeMade(): void;
  cluster(): Cluster;
  serverPid(): number;
  killServer(pid: number | undefined): Promise<void>;
  /** Ends another process when the test ends. */
  endLater(child: ChildProcess): void;
  close(): Promise<void>;
}

export async function makeFiles(): Promise<MadeFiles> {
  const dir = newFolder();
  await (await open(dir)).close();
  const cluster = clusterOf(dir);
  rmSync(join(cluster.dir, 'port'));
  return {
    copyTo(target) {
      if (cluster.dir === join(dir, 'postgres')) execFileSync('cp', ['-pR', cluster.dir, target]);
    },
    remove() {
      rmSync(cluster.dir, { recursive: true, force: true });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export function openDatabaseDesk(files: MadeFiles): DatabaseDesk {
  const dataDir = newFolder();
  const children: ChildProcess[] = [];
  const cluster = (): Cluster => clusterOf(dataDir);
  const spawnOpener = (uid?: number): ChildProcess => {
    const child = startOpener(dataDir, uid);
    children.push(child);
    return child;
  };
  const killServer = async (pid: number | undefined): Promise<void> => {
    if (pid === undefined) throw new Error('no server to kill');
    process.kill(pid, 'SIGKILL');
    await vi.waitUntil(() => !isServerOf(pid, cluster()), limit);
  };
  return {
    dataDir,
    open: (dir = dataDir) => open(dir),
    opener: (uid) => opened(spawnOpener(uid)),
    spawnOpener,
    takeMade: () => files.copyTo(dataDir),
    cluster,
    serverPid() {
      const pid = findServer(cluster())?.pid;
      if (pid === undefined) throw new Error('no server');
      return pid;
    },
    killServer,
    endLater: (child) => void children.push(child),
    async close() {
      for (const child of children) await endAtOnce(child);
      const found = findCluster(dataDir);
      const left = found && findServer(found);
      if (left) await killServer(left.pid);
      for (const dir of [found?.dir, dataDir]) if (dir !== undefined) rmSync(dir, REMOVING);
    },
  };
}

export function clusterOf(dir: string): Cluster {
  const cluster = findCluster(dir);
  if (cluster === undefined) throw new Error(`no cluster in ${dir}`);
  return cluster;
}

export async function endAtOnce(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function newFolder(): string {
  return realpathSync(mkdtempSync(join(databasePlace(), 'mbongo-database-')));
}

function open(dataDir: string): Promise<EmbeddedDatabase> {
  return openEmbeddedDatabase({ dataDir, log: { making: () => undefined, warn: () => undefined } });
}

function startOpener(dir: string, uid?: number): ChildProcess {
  const user = uid === undefined ? {} : { uid, gid: uid };
  return spawn(process.execPath, ['--import', import.meta.resolve('tsx'), OPENER, dir], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...user,
  });
}

async function opened(child: ChildProcess): Promise<{ child: ChildProcess; url: string; started: boolean }> {
  let said = '';
  child.stderr?.on('data', (text) => {
    said += String(text);
  });
  if (child.stdout === null) throw new Error('the opener has no output');
  for await (const line of createInterface({ input: child.stdout })) return { child, ...JSON.parse(line) };
  throw new Error(`the opener ended: ${said}`);
}
