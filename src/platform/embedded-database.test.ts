import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { databasePlace } from '../../test/support/database-place.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from './embedded-database.ts';
import { NOBODY, reachableBy } from './embedded-database-binaries.ts';
import { findCluster } from './embedded-database-cluster.ts';
import { findServer, isServerOf } from './embedded-database-server.ts';

const OPENER = fileURLToPath(new URL('../../test/support/database-opener.ts', import.meta.url));
const isRoot = process.getuid?.() === 0;
const nobodyReadsProject = reachableBy(OPENER, { uid: NOBODY, gid: NOBODY });
const log = { info: () => undefined, warn: () => undefined };
const COUNTING = "hashtext('mbongo leaving')";
const limit = 300_000;

let dataDir: string;
let children: ChildProcess[];
/** The files of a database that has been made and stopped: most tests are about what comes after, and making takes seconds. */
let files: string;
beforeAll(async () => {
  files = realpathSync(mkdtempSync(join(databasePlace(), 'mbongo-database-')));
  await (await open(files)).close();
  rmSync(join(clusterOf(files).dir, 'port'));
}, limit);
afterAll(() => {
  const cluster = findCluster(files);
  if (cluster) rmSync(cluster.dir, { recursive: true, force: true });
  rmSync(files, { recursive: true, force: true });
});
beforeEach(() => {
  dataDir = realpathSync(mkdtempSync(join(databasePlace(), 'mbongo-database-')));
  children = [];
});
afterEach(async () => {
  for (const child of children) await kill(child);
  const cluster = findCluster(dataDir);
  const left = cluster && findServer(cluster);
  if (cluster && left) await killServer(left.pid);
  if (cluster) rmSync(cluster.dir, { recursive: true, force: true });
  rmSync(dataDir, { recursive: true, force: true });
}, limit);

test(
  'what was written is there after closing and opening again, and closing leaves no server',
  async () => {
    alreadyMade();
    const first = await open();
    await query(first.url, 'create table kept as select 7 as n');
    await first.close();
    expect(findServer(clusterOf(dataDir))).toBeUndefined();
    const second = await open();
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.close();
  },
  limit,
);

test.each(['', '99999'])(
  'a note of its port that holds %j, as whoever is cut off while writing leaves it, keeps nobody from opening it',
  async (note) => {
    alreadyMade();
    await (await open()).close();
    writeFileSync(join(clusterOf(dataDir).dir, 'port'), note);
    const again = await open();
    expect(await query(again.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await again.close();
  },
  limit,
);

test(
  'it runs with durable commits, in UTF-8 and the C locale, and logs no values',
  async () => {
    const database = await open();
    expect(
      await query(
        database.url,
        `select current_setting('fsync') f, current_setting('synchronous_commit') s, current_setting('max_wal_size') w,
        current_setting('password_encryption') p, encoding = 6 as utf8, datcollate c
        from pg_database where datname = current_database()`,
      ),
    ).toEqual([{ f: 'on', s: 'on', w: '1GB', p: 'scram-sha-256', utf8: true, c: 'C' }]);
    await expect(query(database.url, `select 'canary-4711'::int`)).rejects.toThrow();
    await database.close();
    expect(readFileSync(clusterOf(dataDir).logFile, 'utf8')).not.toContain('canary-4711');
  },
  limit,
);

test(
  'of processes that open at the same moment one starts the server and all share it',
  async () => {
    const opened = await Promise.all([opener(dataDir), opener(dataDir), opener(dataDir)]);
    expect(opened.map(({ started }) => started).sort()).toEqual([false, false, true]);
    expect(new Set(opened.map(({ url }) => url)).size).toBe(1);
  },
  limit,
);

test(
  'whoever could not open it counts no more among those that use it',
  async () => {
    alreadyMade();
    const first = await open();
    const urlOf = (name: string) => Object.assign(new URL(first.url), { pathname: name }).href;
    await query(urlOf('postgres'), 'drop database mbongo');
    // Nobody can copy a template while somebody is connected to it.
    const holder = new pg.Client({ connectionString: urlOf('template1') });
    await holder.connect();
    await expect(open()).rejects.toThrow('template1');
    await holder.end();
    await first.close();
    expect(findServer(clusterOf(dataDir))).toBeUndefined();
  },
  limit,
);

test(
  'the last of several that leave stops the server, no earlier one does',
  async () => {
    alreadyMade();
    const [first, second] = [await open(), await open()];
    expect([first.started, second.started]).toEqual([true, false]);
    await first.close();
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await second.close();
    expect(findServer(clusterOf(dataDir))).toBeUndefined();
  },
  limit,
);

test(
  'a server whose starter was killed is adopted',
  async () => {
    alreadyMade();
    const first = await opener(dataDir);
    await kill(first.child);
    const second = await open();
    expect(second).toMatchObject({ started: false, url: first.url });
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await second.close();
  },
  limit,
);

test(
  'after everything was killed the committed rows are recovered',
  async () => {
    alreadyMade();
    const first = await opener(dataDir);
    await query(first.url, 'create table kept as select 7 as n');
    const server = findServer(clusterOf(dataDir));
    await kill(first.child);
    await killServer(server?.pid);
    const second = await open();
    expect(second.started).toBe(true);
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.close();
  },
  limit,
);

test(
  'a stale lock file whose pid lives again as another program does not keep the server from starting',
  async () => {
    alreadyMade();
    const first = await opener(dataDir);
    const cluster = clusterOf(dataDir);
    const server = findServer(cluster);
    await kill(first.child);
    await killServer(server?.pid);
    const bystander = spawn('tail', ['-f', '/dev/null'], { stdio: 'ignore', ...cluster.user });
    children.push(bystander);
    const file = join(cluster.data, 'postmaster.pid');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(bystander.pid)));
    const second = await open();
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await second.close();
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  },
  limit,
);

test(
  'who comes while the last one is about to stop the server waits for it, and starts it again',
  async () => {
    alreadyMade();
    const first = await open();
    // As the last one out does: nobody else was counted, and the server is told to stop.
    const leaver = await leaverWithLock(first);
    const coming = opener(dataDir);
    await waitingForLock(leaver, 1);
    process.kill(serverPid(), 'SIGINT');
    const second = await coming;
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await first.close();
  },
  limit,
);

test(
  'the last one out lets nobody pass before the server has cut everybody off',
  async () => {
    alreadyMade();
    const last = await open();
    const other = await leaverWithLock(last);
    const closing = last.close();
    await waitingForLock(other, 1);
    // Stopped so, the server gets the signal, and does not act on it yet.
    process.kill(serverPid(), 'SIGSTOP');
    await other.query(`select pg_advisory_unlock(${COUNTING})`);
    await other.query("set lock_timeout = '2s'");
    await expect(other.query(`select pg_advisory_lock_shared(${COUNTING})`)).rejects.toThrow('lock timeout');
    process.kill(serverPid(), 'SIGCONT');
    await closing;
    expect(findServer(clusterOf(dataDir))).toBeUndefined();
  },
  limit,
);

test(
  'of those that leave at the same moment none has left before the server has ended',
  async () => {
    alreadyMade();
    const opened: [EmbeddedDatabase, EmbeddedDatabase] = [await open(), await open()];
    const other = await leaverWithLock(opened[0]);
    const closing = opened.map(async (database) => {
      await database.close();
      return findServer(clusterOf(dataDir));
    });
    await waitingForLock(other, 2);
    await other.end();
    expect(await Promise.all(closing)).toEqual([undefined, undefined]);
  },
  limit,
);

test(
  'a server that dies while it is open comes back under the same address',
  async () => {
    alreadyMade();
    const database = await open();
    await query(database.url, 'create table kept as select 7 as n');
    await killServer(findServer(clusterOf(dataDir))?.pid);
    await vi.waitFor(async () => expect(await query(database.url, 'select n from kept')).toEqual([{ n: 7 }]), limit);
    await database.close();
    expect(findServer(clusterOf(dataDir))).toBeUndefined();
  },
  limit,
);

test.runIf(isRoot)(
  'under a folder closed to others root keeps the files where the server can reach them',
  async () => {
    const closed = join(dataDir, 'home');
    mkdirSync(closed, { mode: 0o700 });
    const inside = join(closed, 'project', '.data');
    const database = await open(inside);
    const cluster = clusterOf(inside);
    try {
      expect(await query(database.url, 'select 1 as n')).toEqual([{ n: 1 }]);
      expect(cluster.dir.startsWith(closed)).toBe(false);
      await database.close();
      const again = await open(inside);
      expect(clusterOf(inside).dir).toBe(cluster.dir);
      await again.close();
    } finally {
      rmSync(cluster.dir, { recursive: true, force: true });
    }
  },
  limit,
);

test.runIf(isRoot && nobodyReadsProject)(
  'an unprivileged user runs it as itself',
  async () => {
    chownSync(dataDir, NOBODY, NOBODY);
    chmodSync(dataDir, 0o700);
    const first = await opener(dataDir, NOBODY);
    expect(first.started).toBe(true);
    expect(await query(first.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    first.child.stdin?.end();
    await once(first.child, 'exit');
    expect(findServer(clusterOf(dataDir))).toBeUndefined();
  },
  limit,
);

test.runIf(isRoot && nobodyReadsProject)(
  'files of another user are refused with a way out',
  async () => {
    await (await open()).close();
    chmodSync(dataDir, 0o755);
    const stranger = spawnOpener(dataDir, NOBODY - 1);
    let said = '';
    stranger.stderr?.on('data', (text) => {
      said += String(text);
    });
    await once(stranger, 'close');
    expect(said).toMatch(/belongs to user 65534: run as that user, or set DATA_DIR or DATABASE_URL/);
  },
  limit,
);

function open(dir = dataDir): Promise<EmbeddedDatabase> {
  return openEmbeddedDatabase({ dataDir: dir, log });
}

function clusterOf(dir: string): NonNullable<ReturnType<typeof findCluster>> {
  const cluster = findCluster(dir);
  if (cluster === undefined) throw new Error(`no cluster in ${dir}`);
  return cluster;
}

function spawnOpener(dir: string, uid?: number): ChildProcess {
  const user = uid === undefined ? {} : { uid, gid: uid };
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), OPENER, dir], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    ...user,
  });
  children.push(child);
  return child;
}

async function opener(dir: string, uid?: number): Promise<{ child: ChildProcess; url: string; started: boolean }> {
  const child = spawnOpener(dir, uid);
  let said = '';
  child.stderr?.on('data', (text) => {
    said += String(text);
  });
  if (child.stdout === null) throw new Error('the opener has no output');
  for await (const line of createInterface({ input: child.stdout })) return { child, ...JSON.parse(line) };
  throw new Error(`the opener ended: ${said}`);
}

/** Puts a database into the test's folder; where the files had to lie elsewhere, the test makes its own. */
function alreadyMade(): void {
  if (clusterOf(files).dir === join(files, 'postgres')) execFileSync('cp', ['-pR', join(files, 'postgres'), dataDir]);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

async function killServer(pid: number | undefined): Promise<void> {
  if (pid === undefined) throw new Error('no server to kill');
  const cluster = clusterOf(dataDir);
  process.kill(pid, 'SIGKILL');
  await vi.waitUntil(() => !isServerOf(pid, cluster), limit);
}

function serverPid(): number {
  const pid = findServer(clusterOf(dataDir))?.pid;
  if (pid === undefined) throw new Error('no server');
  return pid;
}

/** One that has marked itself as leaving, and has the lock of whoever counts. */
async function leaverWithLock(database: EmbeddedDatabase): Promise<pg.Client> {
  const connectionString = Object.assign(new URL(database.url), { pathname: 'postgres' }).href;
  const leaver = new pg.Client({ connectionString, application_name: 'mbongo leaving' });
  leaver.on('error', () => undefined);
  await leaver.connect();
  await leaver.query(`select pg_advisory_lock(${COUNTING})`);
  return leaver;
}

async function waitingForLock(leaver: pg.Client, count: number): Promise<void> {
  await vi.waitUntil(async () => {
    const { rows } = await leaver.query("select from pg_locks where locktype = 'advisory' and not granted");
    return rows.length === count;
  }, 60_000);
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
