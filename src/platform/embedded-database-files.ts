/**
 * Files in the folder of a server that runs as another user.
 *
 * Invariant: root follows no link in such a folder to a file that is not the folder's owner's. That owner may replace any file in
 * it, or a folder above the file, at any time, and would otherwise choose what root reads, overwrites or gives away elsewhere. Its
 * own files it may link as it likes: some backups share them.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { ServerUser } from './embedded-database-binaries.ts';
import { systemCodeOf } from './system-code.ts';

/** Without waiting, so that a pipe in a file's place holds nobody up. */
const UNLINKED = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const OWNER_ONLY = 0o600;

/**
 * Reads a text. `user`: the folder's owner, if that is not the user of this process.
 *
 * @throws Error of the system if the file is absent, and one that names it if it is a link or somebody else's.
 */
export function readOwned(path: string, user: ServerUser): string {
  if (user === undefined) return readFileSync(path, 'utf8');
  return using(openUnlinked(path, constants.O_RDONLY, user), (fd) => readFileSync(fd, 'utf8'));
}

/** Puts a text into a new file of that name, which belongs to the folder's owner; a link of that name is replaced. */
export function writeOwned(path: string, text: string, user: ServerUser): void {
  draftOwned(path, text, user, (draft) => renameSync(draft, path));
}

/** Makes a file of the folder's owner under another name, and hands it to `publish`. */
function draftOwned(path: string, text: string, user: ServerUser, publish: (draft: string) => void): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  try {
    using(openSync(draft, O_WRONLY | O_CREAT | O_EXCL, OWNER_ONLY), (fd) => {
      writeFileSync(fd, text);
      if (user !== undefined) fchownSync(fd, user.uid, user.gid);
    });
    publish(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Replaces the text of a file that is there. @throws Error as `readOwned`. */
export function rewriteOwned(path: string, text: string, user: ServerUser): void {
  if (user === undefined) writeFileSync(path, text);
  else {
    using(openUnlinked(path, constants.O_WRONLY, user), (fd) => {
      // Only now is it known to be the owner's.
      ftruncateSync(fd);
      writeFileSync(fd, text);
    });
  }
}

/** Opens a log for appending, which belongs to the folder's owner, and is made if it is absent. @throws Error as `readOwned`. */
export function openOwnedLog(path: string, user: ServerUser): number {
  if (user === undefined) return openSync(path, 'a', OWNER_ONLY);
  const { O_WRONLY, O_APPEND } = constants;
  // Made under another name first: no file that was found under this one is ever given away.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    draftOwned(path, '', user, (draft) => makeName(draft, path));
  return openUnlinked(path, O_WRONLY | O_APPEND, user);
}

/** Names a file; if another opener has been faster, its file stays. */
function makeName(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) throw error;
  }
}

function openUnlinked(path: string, flags: number, owner: NonNullable<ServerUser>): number {
  let fd: number;
  try {
    fd = openSync(path, flags | UNLINKED);
  } catch (error) {
    const code = systemCodeOf(error);
    throw code === 'ELOOP' || code === 'ENXIO' ? foreign(path, owner) : error;
  }
  const found = fstatSync(fd);
  if (found.isFile() && found.uid === owner.uid) return fd;
  closeSync(fd);
  throw foreign(path, owner);
}

function foreign(path: string, { uid }: NonNullable<ServerUser>): Error {
  return new Error(
    `${path} is not a file of user ${uid}, as its folder is: remove it if it is a link, or give it to that user`,
  );
}

function using<T>(fd: number, use: (fd: number) => T): T {
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
