import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  clusterOf,
  type DatabaseDesk,
  endAtOnce,
  limit,
  type MadeFiles,
  makeFiles,
  OPENER,
  openDatabaseDesk,
  query,
} from '../../test/support/database-desk.ts';
import { openEmbeddedDatabase } from './embedded-database.ts';
import { NOBODY, prepareBinaries, reachableBy } from './embedded-database-binaries.ts';
import { createCluster, newServerUser } from './embedded-database-cluster.ts';
import { findServer, whyEnded } from './embedded-database-server.ts';

/** Only root can act as another user, who cannot run a program in a folder closed to that user. */
const isRoot = process.getuid?.() === 0;
const nobodyReadsProject = reachableBy(OPENER, { uid: NOBODY, gid: NOBODY });

let files: MadeFiles;
let desk: DatabaseDesk;
beforeAll(async () => {
  files = await makeFiles();
}, limit);
afterAll(() => files.remove());
beforeEach(() => {
  desk = openDatabaseDesk(files);
});
afterEach(() => desk.close(), limit);

test(
  'what was written is still there after closing and reopening, and closing leaves no server running',
  async () => {
    desk.takeMade();
    const first = await desk.open();
    await query(first.url, 'create table kept as select 7 as n');
    // Commits wait while a WAL file is created: it has to be a small one.
    expect(await query(first.url, 'show wal_segment_size')).toEqual([{ wal_segment_size: '1MB' }]);
    expect(await query(first.url, 'show min_wal_size')).toEqual([{ min_wal_size: '512MB' }]);
    await first.close();
    expect(findServer(desk.cluster())).toBeUndefined();
    const second = await desk.open();
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.close();
  },
  limit,
);

test(
  'a database that cannot be made says why, not what was cleaned up after it',
  async () => {
    const real = prepareBinaries(newServerUser(), desk.dataDir);
    const limited = join(desk.dataDir, 'limited');
    mkdirSync(join(limited, 'bin'), { recursive: true });
    // As on a full disk: no file may grow beyond 50 KiB.
    const script = `#!/bin/sh\nulimit -f 100\nexec ${join(real, 'bin', 'initdb')} "$@"\n`;
    writeFileSync(join(limited, 'bin', 'initdb'), script);
    for (const path of [desk.dataDir, limited, join(limited, 'bin'), join(limited, 'bin', 'initdb')])
      chmodSync(path, 0o755);
    const making = createCluster(desk.dataDir, limited);
    await expect(making).rejects.toThrow(/initdb failed \(FATAL: +could not .*: File too large\): set DATABASE_URL/);
  },
  limit,
);

test(
  'a server that is suspended is reported, and found again once it resumes',
  async () => {
    desk.takeMade();
    const first = await desk.open();
    const pid = desk.serverPid();
    const log = { making: () => undefined, warn: () => undefined };
    process.kill(pid, 'SIGSTOP');
    try {
      const opening = openEmbeddedDatabase({ dataDir: desk.dataDir, log, connectLimitMs: 300 });
      await expect(opening).rejects.toThrow(`kill -CONT ${pid}`);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const again = await desk.open();
    expect(await query(again.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await again.close();
    await first.close();
  },
  limit,
);

test.runIf(isRoot)(
  'other files of the gateway and its sandbox in the folder do not keep the server out of it',
  async () => {
    mkdirSync(join(desk.dataDir, 'sandbox'), { mode: 0o700 });
    writeFileSync(join(desk.dataDir, 'demo.json'), '{}', { mode: 0o600 });
    chmodSync(desk.dataDir, 0o700);
    desk.takeMade();
    const database = await desk.open();
    expect(await query(database.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(desk.cluster().dir).toBe(join(desk.dataDir, 'postgres'));
    await database.close();
  },
  limit,
);

test.each(['', '99999'])(
  'a port file that contains %j, as an interrupted write leaves it, does not prevent opening',
  async (note) => {
    desk.takeMade();
    await (await desk.open()).close();
    writeFileSync(join(desk.cluster().dir, 'port'), note);
    const again = await desk.open();
    expect(await query(again.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await again.close();
  },
  limit,
);

test(
  'it runs with durable commits, in UTF-8 and the C locale, and logs no values',
  async () => {
    const database = await desk.open();
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
    expect(readFileSync(desk.cluster().logFile, 'utf8')).not.toContain('canary-4711');
  },
  limit,
);

test(
  'a server whose starter was killed is adopted',
  async () => {
    desk.takeMade();
    const first = await desk.opener();
    await endAtOnce(first.child);
    const second = await desk.open();
    expect(second).toMatchObject({ started: false, url: first.url });
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await second.close();
  },
  limit,
);

test(
  'after everything was killed, the committed rows are recovered',
  async () => {
    desk.takeMade();
    const first = await desk.opener();
    await query(first.url, 'create table kept as select 7 as n');
    const server = findServer(desk.cluster());
    await endAtOnce(first.child);
    await desk.killServer(server?.pid);
    const second = await desk.open();
    expect(second.started).toBe(true);
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 7 }]);
    await second.close();
  },
  limit,
);

test(
  'a stale lock file whose pid now belongs to another program does not prevent the start',
  async () => {
    desk.takeMade();
    const first = await desk.opener();
    const cluster = desk.cluster();
    const server = findServer(cluster);
    await endAtOnce(first.child);
    await desk.killServer(server?.pid);
    const bystander = spawn('tail', ['-f', '/dev/null'], { stdio: 'ignore', ...cluster.user });
    desk.endLater(bystander);
    const file = join(cluster.data, 'postmaster.pid');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(bystander.pid)));
    const second = await desk.open();
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await second.close();
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  },
  limit,
);

test(
  'a server that dies while it is open comes back at the same address',
  async () => {
    desk.takeMade();
    const database = await desk.open();
    await query(database.url, 'create table kept as select 7 as n');
    await desk.killServer(findServer(desk.cluster())?.pid);
    await vi.waitFor(async () => expect(await query(database.url, 'select n from kept')).toEqual([{ n: 7 }]), limit);
    await database.close();
    expect(findServer(desk.cluster())).toBeUndefined();
  },
  limit,
);

/** Resolves when a process waits to read from the named pipe, and writes to it. */
async function writeToReader(pipe: string, bytes: string): Promise<void> {
  const writer = await vi.waitFor(() => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK), limit);
  // The next server that starts there does not find it.
  rmSync(pipe);
  writeSync(writer, bytes);
  closeSync(writer);
}

test(
  'a server that does not get past its recovery is replaced',
  async () => {
    desk.takeMade();
    const warned: string[] = [];
    const log = { making: () => undefined, warn: (message: string) => void warned.push(message) };
    const database = await openEmbeddedDatabase({ dataDir: desk.dataDir, log, recoveryLimitMs: 1_000 });
    await query(database.url, 'create table kept as select 7 as n');
    const hung = desk.serverPid();
    // After a crash the server reads this file before it replays its log. What it reads ends the process that would replay it, and
    // PostgreSQL 18 starts no other one.
    const label = join(desk.cluster().data, 'backup_label');
    execFileSync('mkfifo', ['-m', '666', label]);
    const [backend] = (await query(
      database.url,
      "select pid from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
    )) as { pid: number }[];
    process.kill(backend?.pid ?? 0, 'SIGKILL');
    await writeToReader(label, 'no label\n');
    await vi.waitFor(async () => expect(await query(database.url, 'select n from kept')).toEqual([{ n: 7 }]), limit);
    expect(desk.serverPid()).not.toBe(hung);
    expect(warned).toContain('the embedded database does not get past its recovery: starting it again');
    await database.close();
  },
  limit,
);

test('why a server ended is what it said of itself, not what it told those who connected meanwhile', () => {
  const full =
    '2026-11-30 02:13:57 UTC [12] FATAL:  could not write to file "pg_wal/xlogtemp.12": No space left on device';
  const early = '2026-11-30 02:13:57 UTC [13] FATAL:  the database system is in recovery mode';
  const last = '2026-11-30 02:13:57 UTC [11] LOG:  database system is shut down';
  expect(whyEnded([early, full, early, last, ''].join('\n'))).toBe(full);
  expect(whyEnded([early, last].join('\n'))).toBe(last);
  expect(whyEnded('')).toBeUndefined();
});

test.runIf(isRoot)(
  'below a folder closed to others, root keeps the files where the server’s user can reach them',
  async () => {
    const closed = join(desk.dataDir, 'home');
    mkdirSync(closed, { mode: 0o700 });
    const inside = join(closed, 'project', '.data');
    const database = await desk.open(inside);
    const cluster = clusterOf(inside);
    try {
      expect(await query(database.url, 'select 1 as n')).toEqual([{ n: 1 }]);
      expect(cluster.dir.startsWith(closed)).toBe(false);
      await database.close();
      const again = await desk.open(inside);
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
    chownSync(desk.dataDir, NOBODY, NOBODY);
    chmodSync(desk.dataDir, 0o700);
    const first = await desk.opener(NOBODY);
    expect(first.started).toBe(true);
    expect(await query(first.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    first.child.stdin?.end();
    await once(first.child, 'exit');
    expect(findServer(desk.cluster())).toBeUndefined();
  },
  limit,
);

test.runIf(isRoot && nobodyReadsProject)(
  'files of another user are refused, with what to do',
  async () => {
    await (await desk.open()).close();
    chmodSync(desk.dataDir, 0o755);
    const stranger = desk.spawnOpener(NOBODY - 1);
    let said = '';
    stranger.stderr?.on('data', (text) => {
      said += String(text);
    });
    await once(stranger, 'close');
    expect(said).toMatch(/belongs to user 65534: run as that user, or set DATA_DIR or DATABASE_URL/);
  },
  limit,
);
