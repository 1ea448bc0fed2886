/**
 * Where Vitest keeps what it translated files to, for the next run.
 *
 * Invariant: a run never fails because of it. Each user has a folder, since root's cannot be written by others; where none can be
 * made, nothing is kept.
 */
import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of this user in a checkout; undefined where it cannot be written. */
export function translationsFolder(checkout: string): string | undefined {
  const folder = join(checkout, 'node_modules/.cache', `translations-${process.getuid?.() ?? 'own'}`);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return folder;
  } catch {
    return undefined;
  }
}
