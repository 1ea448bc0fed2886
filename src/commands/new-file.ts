/**
 * New files for an operator: what they hold may show customers' accounts.
 *
 * Invariant: a file that is there is never overwritten, and only the operator's own user may read a new one.
 */

import { type FileHandle, open } from 'node:fs/promises';
import { OperatorError } from '../usecases/operator-error.ts';
import { systemCodeOf } from './system-code.ts';

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

/** The refusal of a file that exists. */
export function isThereAlready(path: string): OperatorError {
  return new OperatorError(`${path} already exists: name a new file`);
}
