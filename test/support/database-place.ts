/**
 * Where test databases are kept: in memory if there is room, because a database is a thousand small files, and creating them
 * costs a disk more than their contents.
 *
 * Invariant: a server that is killed there finds its files again, as on a disk; only a power cut would take them.
 */
import { statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';

const MEMORY = '/dev/shm';
/** 4 GiB: the files of all servers of a run, and their WAL, take less than half of it. */
const ROOM_BYTES = 4 * 1024 ** 3;

/** The folder in memory; undefined if there is none, or too little room. */
export function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) < ROOM_BYTES ? undefined : MEMORY;
  } catch {
    return undefined;
  }
}

/** The parent folder for databases that one test makes and removes. */
export function databasePlace(): string {
  return memoryFolder() ?? tmpdir();
}
