/**
 * Makes folders. Invariant: it ends, with the folder or with what the system says against it.
 */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those that are missing above it, each with that mode whatever the umask is; without one, with the
 * usual. What exists stays as it is. Not by `recursive`: Node.js 20 then tries for ever where the system refuses a folder
 * with ENOENT, as it does in /proc.
 *
 * @throws Error of the system, with the `path` that it is about: the folder's, or one above it.
 */
export function makeFolder(dir: string, mode?: number): void {
  if (existsSync(dir)) return;
  makeFolder(dirname(dir), mode);
  try {
    mkdirSync(dir);
  } catch (error) {
    // Somebody else was quicker.
    if (!existsSync(dir)) throw error;
  }
  if (mode !== undefined) chmodSync(dir, mode);
}
