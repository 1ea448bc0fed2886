/**
 * The answer to our own call comes before the answer to an inquiry.
 *
 * An upstream may call back as soon as it has taken an order: the inquiry that follows would be decided on rows that our own
 * call is just changing, lose against it, and take the rest of its batch back with it. So whoever asked waits until this
 * process has written what it was told. Invariant: a shortcut, and no lock: the guards decide, also against other processes.
 */

import type { Deps } from './deps.ts';

type Recording = Pick<Deps, 'recording'>;

/** Writes what the upstream answered to our call; those who wait by `recorded` come after it. */
export async function whileRecording<T>(deps: Recording, attemptId: string, write: () => Promise<T>): Promise<T> {
  const writing = write();
  deps.recording.set(attemptId, writing);
  try {
    return await writing;
  } finally {
    deps.recording.delete(attemptId);
  }
}

/** Waits for what is being written of that attempt, however it ends. Returns whether there was anything. */
export async function recorded(deps: Recording, attemptId: string): Promise<boolean> {
  const writing = deps.recording.get(attemptId);
  if (writing === undefined) return false;
  await writing.catch(() => undefined);
  return true;
}
