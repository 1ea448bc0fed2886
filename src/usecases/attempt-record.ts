/**
 * The answer to our own call is recorded before the answer to an inquiry.
 *
 * An upstream may call back as soon as it has accepted an order. The inquiry that follows would be decided on rows that our own
 * call is just changing, lose, and roll its whole batch back. So the inquiry waits until this process has recorded the answer
 * to its own call. Invariant: this is an optimisation, not a lock: the version guards decide, also between processes.
 */

import type { Clock } from '../platform/platform.ts';
import { endsWithin } from './patience.ts';

/** Writes in progress of upstreams' answers to this process's own calls, by attempt id. */
export type Recordings = Map<string, Promise<unknown>>;

/** 2 s. A commit takes milliseconds; while the database is away the writer waits for it, and a callback need not as well. */
const PATIENCE_MS = 2_000;

/** Writes what the upstream answered to our call; callers of `recorded` wait for it. */
export async function whileRecording<T>(
  deps: { readonly recording: Recordings },
  attemptId: string,
  write: () => Promise<T>,
): Promise<T> {
  const writing = write();
  deps.recording.set(attemptId, writing);
  try {
    return await writing;
  } finally {
    deps.recording.delete(attemptId);
  }
}

/** Waits until the write in progress for that attempt ends, well or badly, for at most `PATIENCE_MS`. */
export async function recorded(
  deps: { readonly recording: Recordings; readonly clock: Pick<Clock, 'after'> },
  attemptId: string,
): Promise<void> {
  const writing = deps.recording.get(attemptId);
  if (writing === undefined) return;
  await endsWithin(deps.clock, PATIENCE_MS, writing);
}
