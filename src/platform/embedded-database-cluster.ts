/**
 * Where the embedded database's files are, and how they are created.
 *
 * Invariant: a cluster (data, password and port together) appears under its final name whole or not at all, so that any number of
 * processes may open the same data folder at the same moment and all find the same one.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makePassable, NOBODY, reachableBy, type ServerUser, SYSTEM_DIR } from './embedded-database-binaries.ts';
import { readOwned, writeOwned } from './embedded-database-files.ts';

/** A cluster on disk. */
export type Cluster = {
  /** Folder with `data/`, `password`, `port` and `server.log`. */
  dir: string;
  data: string;
  logFile: string;
  /** Owner of the files, if that is not the user of this process. */
  user: ServerUser;
  password: string;
};

/** The database's one role; it owns everything. */
export const ROLE = 'mbongo';

const MAX_PORT = 65_535;

/**
 * MiB per file of PostgreSQL's write-ahead log. A new file is filled with zeros and synced while all commits wait: with the
 * default of 16 MiB this takes 55 ms, every two thousand payments, until there are old files to recycle.
 */
const WAL_PIECES = '--wal-segsize=1';

/** What this service keeps in its data folder, drafts of such files included. */
const OWN_FILES = /^(master\.key|demo\.json|postgres|probe\.|sandbox$|test$)/;

/**
 * The user that runs a new server: never root, which PostgreSQL refuses.
 */
export function newServerUser(): ServerUser {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
}

/**
 * Finds the cluster of a data folder; undefined when there is none yet.
 *
 * @throws Error when the cluster belongs to another user, or when this is root and a third user's link or pointer leads to it.
 */
export function findCluster(dataDir: string): Cluster | undefined {
  const pointer = join(dataDir, 'postgres.path');
  const isPointed = lstatSync(pointer, { throwIfNoEntry: false }) !== undefined;
  const name = isPointed ? pointer : join(dataDir, 'postgres');
  const dir = isPointed ? readPointer(pointer) : name;
  if (!existsSync(dir)) {
    if (!isPointed) return undefined;
    throw new Error(
      `${pointer} names ${dir}, which is gone: restore it, or remove ${pointer} to start with an empty database`,
    );
  }
  const { uid, gid } = statSync(dir);
  const me = process.getuid?.() ?? uid;
  if (me !== uid && me !== 0) {
    throw new Error(`the database in ${dir} belongs to user ${uid}: run as that user, or set DATA_DIR or DATABASE_URL`);
  }
  if (me === 0) requireOwnName(name, uid);
  const user = me === uid ? undefined : { uid, gid };
  const password = readOwned(join(dir, 'password'), user).trim();
  return { dir, data: join(dir, 'data'), logFile: join(dir, 'server.log'), user, password };
}

/** Root reads no link there: it would tell what the file elsewhere contains. */
function readPointer(pointer: string): string {
  const { uid, gid } = lstatSync(pointer);
  return readOwned(pointer, process.getuid?.() === 0 ? { uid, gid } : undefined).trim();
}

/**
 * A link or a pointer to a cluster counts for root only if root made it, or the cluster's own user: whoever else may write to the
 * data folder would choose whose database root's commands change.
 */
function requireOwnName(name: string, uid: number): void {
  const { uid: by } = lstatSync(name);
  if (by === 0 || by === uid) return;
  throw new Error(
    `${name} was made by user ${by} and leads to a database of user ${uid}: if it is right, give it to root (chown -h 0)`,
  );
}

/** Makes the cluster of a data folder with `binaries`' initdb; if another process was faster, its cluster is used. */
export async function createCluster(dataDir: string, binaries: string): Promise<Cluster> {
  const user = newServerUser();
  const unique = randomBytes(6).toString('hex');
  const elsewhere = !reachesInto(dataDir, user);
  if (elsewhere) makePassable(SYSTEM_DIR);
  const draft = elsewhere ? join(SYSTEM_DIR, `cluster-${unique}`) : join(dataDir, `postgres.${unique}`);
  try {
    mkdirSync(draft, { mode: 0o700 });
    writeFileSync(join(draft, 'password'), `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 });
    // The folder last: from then on its owner may put links into it.
    giveTo(user, join(draft, 'password'), draft);
    await runInitdb(binaries, draft, user);
    publish(dataDir, draft, elsewhere);
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    if (findCluster(dataDir) === undefined) throw cause;
  }
  const cluster = findCluster(dataDir);
  if (cluster === undefined) throw new Error(`the database in ${dataDir} vanished while it was made`);
  return cluster;
}

/**
 * Makes the data folder. If root runs this, a folder that holds only our own files is opened for passing through, since each file
 * in it is closed by itself; a folder with anything else in it, a home for example, stays as it is.
 */
export function prepareDataDir(dataDir: string): string {
  makePassable(dataDir);
  const real = realpathSync(dataDir);
  // Read by every user, so that a file in the folder's place is told of before a database is announced.
  const names = readdirSync(real);
  const isOurs = process.getuid?.() === 0 && names.every((name) => OWN_FILES.test(name));
  if (isOurs) chmodSync(real, statSync(real).mode | 0o111);
  return real;
}

/**
 * The port that the server of this cluster used last, so that clients find it again after a crash. Undefined if none was
 * recorded, or if there is something else in its place.
 */
export function readPort(cluster: Cluster): number | undefined {
  try {
    const port = Number.parseInt(readOwned(join(cluster.dir, 'port'), cluster.user), 10);
    return port > 0 && port <= MAX_PORT ? port : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers the port at which the cluster's server listens, for whoever looks for it next. */
export function writePort(cluster: Cluster, port: number): void {
  writeOwned(join(cluster.dir, 'port'), `${port}\n`, cluster.user);
}

function reachesInto(dataDir: string, user: ServerUser): boolean {
  if (user === undefined) return true;
  // A probe file that everyone may read shows whether every folder above it can be passed.
  const probe = join(dataDir, `probe.${randomBytes(6).toString('hex')}`);
  writeFileSync(probe, '');
  chmodSync(probe, 0o644);
  try {
    return reachableBy(probe, user);
  } finally {
    rmSync(probe);
  }
}

function giveTo(user: ServerUser, ...paths: string[]): void {
  if (user === undefined) return;
  for (const path of paths) chownSync(path, user.uid, user.gid);
}

/** The first process wins: a rename onto a folder that is not empty fails, and so does a link onto a name that exists. */
function publish(dataDir: string, draft: string, elsewhere: boolean): void {
  if (!elsewhere) {
    renameSync(draft, join(dataDir, 'postgres'));
    return;
  }
  const note = join(dataDir, `postgres.path.${randomBytes(6).toString('hex')}`);
  writeFileSync(note, `${draft}\n`, { mode: 0o600 });
  try {
    linkSync(note, join(dataDir, 'postgres.path'));
  } finally {
    rmSync(note);
  }
}

async function runInitdb(binaries: string, draft: string, user: ServerUser): Promise<void> {
  const options = [WAL_PIECES, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'];
  const where = [`--pgdata=${join(draft, 'data')}`, `--username=${ROLE}`, `--pwfile=${join(draft, 'password')}`];
  try {
    await promisify(execFile)(join(binaries, 'bin', 'initdb'), [...options, ...where], {
      cwd: '/',
      env: serverEnvironment(),
      ...user,
    });
  } catch (cause) {
    const said = typeof cause === 'object' && cause !== null && 'stderr' in cause ? String(cause.stderr).trim() : '';
    const reason = reasonIn(said) || String(cause);
    throw new Error(`PostgreSQL's initdb failed (${reason}): set DATABASE_URL to use another server`, { cause });
  }
}

/** The line that says why initdb failed, without its time; the last line often says only what was removed afterwards. */
function reasonIn(said: string): string | undefined {
  const [reason] = /(?:FATAL|PANIC|ERROR|error): .*/.exec(said) ?? [];
  return reason ?? said.split('\n').at(-1);
}

/** What the server inherits: nothing of ours but the search path, so that no PG… or LD_… setting leaks in. */
export function serverEnvironment(): { PATH: string; LC_ALL: string; TZ: string } {
  return { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}
