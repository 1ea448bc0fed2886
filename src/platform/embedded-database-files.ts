/**
 * Files in the folder of a server that runs as another user.
 *
 * Invariant: root follows no link in such a folder. Its owner may replace any file in it at any time, and would otherwise choose
 * what root reads, overwrites or gives away elsewhere.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { ServerUser } from './embedded-database-binaries.ts';

/** Without waiting, so that a pipe in a file's place holds nobody up. */
const UNLINKED = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const OWNER_ONLY = 0o600;

/**
 * Reads a text. `user`: the folder's owner, if that is not the user of this process.
 *
 * @throws Error of the system if the file is absent, and one that names it if it is a link.
 */
export function readOwned(path: string, user: ServerUser): string {
  if (user === undefined) return readFileSync(path, 'utf8');
  return using(openUnlinked(path, constants.O_RDONLY), (fd) => readFileSync(fd, 'utf8'));
}

/** Puts a text into a new file of that name, which belongs to the folder's owner; a link of that name is replaced. */
export function writeOwned(path: string, text: string, user: ServerUser): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  try {
    using(openSync(draft, O_WRONLY | O_CREAT | O_EXCL, OWNER_ONLY), (fd) => {
      writeFileSync(fd, text);
      if (user !== undefined) fchownSync(fd, user.uid, user.gid);
    });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Replaces the text of a file that is there. @throws Error as `readOwned`. */
export function rewriteOwned(path: string, text: string, user: ServerUser): void {
  if (user === undefined) writeFileSync(path, text);
  else {
    using(openUnlinked(path, constants.O_WRONLY), (fd) => {
      // Only now is it known to be no link.
      ftruncateSync(fd);
      writeFileSync(fd, text);
    });
  }
}

/** Opens a log for appending, which belongs to the folder's owner, and is made if it is absent. @throws Error as `readOwned`. */
export function openOwnedLog(path: string, user: ServerUser): number {
  if (user === undefined) return openSync(path, 'a', OWNER_ONLY);
  const fd = openUnlinked(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  // What is not its owner's by now has just been made.
  if (fstatSync(fd).uid !== user.uid) fchownSync(fd, user.uid, user.gid);
  return fd;
}

function openUnlinked(path: string, flags: number): number {
  let fd: number;
  try {
    fd = openSync(path, flags | UNLINKED, OWNER_ONLY);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw code === 'ELOOP' || code === 'ENXIO' ? foreign(path) : error;
  }
  const found = fstatSync(fd);
  if (found.isFile() && found.nlink === 1) return fd;
  closeSync(fd);
  throw foreign(path);
}

function foreign(path: string): Error {
  return new Error(`${path} is not a file of its own: remove it`);
}

function using<T>(fd: number, use: (fd: number) => T): T {
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
