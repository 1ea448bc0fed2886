/**
 * New files for an operator: what they hold may show customers' accounts.
 *
 * Invariant: a file that is there is never overwritten, and only the operator's own user may read a new one.
 */

import { type FileHandle, open, unlink } from 'node:fs/promises';
import { systemCodeOf } from '../platform/system-code.ts';
import { OperatorError } from '../usecases/operator-error.ts';

/**
 * Creates and opens a file. `asked`: the path that the operator gave, if it is another one.
 *
 * @throws OperatorError when it exists, or cannot be written.
 */
export async function openNewFile(path: string, asked = path): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') throw isThereAlready(path);
    throw new OperatorError(`${asked} cannot be written: name a file in a folder that this user may write to`);
  }
}

/** Creates a file with that content; of one that cannot be written whole nothing stays. @throws OperatorError as `openNewFile`. */
export async function writeNewFile(path: string, content: Uint8Array): Promise<void> {
  const file = await openNewFile(path);
  try {
    await file.writeFile(content);
    await file.close();
  } catch {
    await Promise.allSettled([file.close(), unlink(path)]);
    throw new OperatorError(`${path} cannot be written whole: make room, or name a file elsewhere`);
  }
}

/** The refusal of a file that exists. */
export function isThereAlready(path: string): OperatorError {
  return new OperatorError(`${path} already exists: name a new file`);
}
