/** Makes folders. Invariant: it always ends, with the folder or with the system's error. */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and its missing parents, each with that mode whatever the umask is; without a mode, with the usual one. What
 * exists stays as it is. `recursive` is not used: with it Node.js 20 retries for ever where the system refuses a folder with
 * ENOENT, as it does in /proc.
 *
 * @throws Error of the system, with the `path` that it is about: the folder's, or one above it.
 */
export function makeFolder(dir: string, mode?: number): void {
  if (existsSync(dir)) return;
  makeFolder(dirname(dir), mode);
  try {
    mkdirSync(dir);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(dir)) throw error;
  }
  if (mode !== undefined) chmodSync(dir, mode);
}
