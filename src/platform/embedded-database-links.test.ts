/** The folder of a server that root runs as another user: that user can make root touch no file elsewhere. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type DatabaseDesk,
  limit,
  type MadeFiles,
  makeFiles,
  openDatabaseDesk,
  query,
} from '../../test/support/database-desk.ts';
import { NOBODY } from './embedded-database-binaries.ts';

/** Only root has files that the server's user must not get. */
const isRoot = process.getuid?.() === 0;
const SECRET = 'nothing for anybody but root';

let files: MadeFiles;
let desk: DatabaseDesk;
let victim: string;
beforeAll(async () => {
  files = await makeFiles();
}, limit);
afterAll(() => files.remove());
beforeEach(() => {
  desk = openDatabaseDesk(files);
});
afterEach(() => desk.close(), limit);

/** A database that was made and stopped, and beside it a file that only root may read. */
async function prepare(): Promise<string> {
  desk.takeMade();
  await (await desk.open()).close();
  victim = join(desk.dataDir, 'probe.victim');
  writeFileSync(victim, `${SECRET}\n`);
  chmodSync(victim, 0o600);
  return desk.cluster().dir;
}

/** Puts a link in a file's place, as the folder's owner can at any time. */
function replace(path: string, link: typeof symlinkSync | typeof linkSync = symlinkSync): void {
  rmSync(path, { force: true });
  link(victim, path);
}

function expectUntouched(): void {
  expect(readFileSync(victim, 'utf8')).toBe(`${SECRET}\n`);
  expect(statSync(victim)).toMatchObject({ uid: 0, mode: 0o100600 });
}

test.runIf(isRoot)(
  'a link in place of the port’s file is replaced, not followed',
  async () => {
    const dir = await prepare();
    replace(join(dir, 'port'));
    const database = await desk.open();
    expect(await query(database.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await database.close();
    expectUntouched();
    expect(lstatSync(join(dir, 'port')).isFile()).toBe(true);
    expect(statSync(join(dir, 'port')).uid).toBe(NOBODY);
  },
  limit,
);

test.runIf(isRoot).each([
  ['symbolic', symlinkSync],
  ['hard', linkSync],
] as const)(
  'a %s link in place of the log is neither written nor given away',
  async (_kind, link) => {
    const dir = await prepare();
    replace(join(dir, 'server.log'), link);
    await expect(desk.open()).rejects.toThrow(`${join(dir, 'server.log')} is not a file of user ${NOBODY}`);
    expectUntouched();
    rmSync(join(dir, 'server.log'));
    const database = await desk.open();
    expect(await query(database.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await database.close();
    expect(statSync(join(dir, 'server.log')).uid).toBe(NOBODY);
  },
  limit,
);

test.runIf(isRoot)(
  'a link in place of the password is not read: the server that asks for it could be its maker’s',
  async () => {
    const dir = await prepare();
    replace(join(dir, 'password'));
    const opening = desk.open();
    await expect(opening).rejects.toThrow(`${join(dir, 'password')} is not a file of user ${NOBODY}`);
    await expect(opening).rejects.not.toThrow(SECRET);
    rmSync(join(dir, 'password'));
    writeFileSync(join(dir, 'password'), 'unused', { mode: 0o600 });
    await expect(desk.open()).rejects.toThrow(`password is not a file of user ${NOBODY}`);
    chownSync(join(dir, 'password'), NOBODY, NOBODY);
    expectUntouched();
  },
  limit,
);

test.runIf(isRoot)(
  'a link in place of a stale lock file is not written',
  async () => {
    const dir = await prepare();
    // Like many files in /run: a pid, and that of a process that lives.
    writeFileSync(victim, `${process.pid}\n`);
    replace(join(dir, 'data', 'postmaster.pid'));
    await desk.open().then(
      (database) => database.close(),
      () => undefined,
    );
    expect(readFileSync(victim, 'utf8')).toBe(`${process.pid}\n`);
    rmSync(join(dir, 'data', 'postmaster.pid'), { force: true });
  },
  limit,
);

test.runIf(isRoot)(
  'a link in place of the folder of a stale lock file does not lead root to another server’s lock file',
  async () => {
    const dir = await prepare();
    const other = join(desk.dataDir, 'probe.other');
    mkdirSync(other);
    writeFileSync(join(other, 'postmaster.pid'), `${process.pid}\n`);
    renameSync(join(dir, 'data'), join(dir, 'data.aside'));
    symlinkSync(other, join(dir, 'data'));
    await desk.open().then(
      (database) => database.close(),
      () => undefined,
    );
    expect(readFileSync(join(other, 'postmaster.pid'), 'utf8')).toBe(`${process.pid}\n`);
  },
  limit,
);

test.runIf(isRoot)(
  'a copy of the folder that shares its files, as some backups are, keeps no database from opening',
  async () => {
    const dir = await prepare();
    execFileSync('cp', ['-al', dir, join(desk.dataDir, 'probe.backup')]);
    const database = await desk.open();
    expect(await query(database.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await database.close();
  },
  limit,
);

/** A user who may write to the data folder, and owns no database. */
const STRANGER = 12_345;

test.runIf(isRoot).each([
  ['a link', 'postgres', (at: string, to: string) => symlinkSync(to, at)],
  ['a pointer', 'postgres.path', (at: string, to: string) => writeFileSync(at, `${to}\n`)],
] as const)(
  '%s to the database counts if root made it, or its user, and not if a stranger did',
  async (_kind, name, make) => {
    const dir = await prepare();
    const elsewhere = join(desk.dataDir, 'probe.elsewhere');
    renameSync(dir, elsewhere);
    const at = join(desk.dataDir, name);
    make(at, elsewhere);
    lchownSync(at, STRANGER, STRANGER);
    await expect(desk.open()).rejects.toThrow(
      `${at} was made by user ${STRANGER} and leads to a database of user ${NOBODY}`,
    );
    for (const owner of [NOBODY, 0]) {
      lchownSync(at, owner, owner);
      const database = await desk.open();
      expect(await query(database.url, 'select 1 as n')).toEqual([{ n: 1 }]);
      await database.close();
    }
  },
  limit,
);

test.runIf(isRoot)(
  'a link in place of the pointer is not read: what the file elsewhere contains would stand in the error',
  async () => {
    await prepare();
    const pointer = join(desk.dataDir, 'postgres.path');
    replace(pointer);
    lchownSync(pointer, STRANGER, STRANGER);
    const opening = desk.open();
    await expect(opening).rejects.toThrow(`${pointer} is not a file of user ${STRANGER}`);
    await expect(opening).rejects.not.toThrow(SECRET);
    rmSync(pointer);
    expectUntouched();
  },
  limit,
);
