/**
 * Where test databases lie: in memory where there is room for them, because a database is a thousand small files, which cost a
 * disk more than what they hold.
 *
 * Invariant: a server that is killed there finds its files again, as on a disk; only a power cut would take them.
 */
import { statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
/** The files of all servers of a run, and their WAL, come to less than half of it. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** The folder in memory; undefined where there is none, or too little room. */
export function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) < ROOM_BYTES ? undefined : MEMORY;
  } catch {
    return undefined;
  }
}

/** A folder for the folders of databases that one test makes and removes. */
export function databasePlace(): string {
  return memoryFolder() ?? tmpdir();
}
