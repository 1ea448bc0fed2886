/**
 * The answer to our own call is recorded before the answer to an inquiry.
 *
 * An upstream may call back as soon as it has accepted an order. The inquiry that follows would be decided on rows that our own
 * call is just changing, lose, and roll its whole batch back. So whoever inquired waits until this process has recorded the
 * answer to its own call. Invariant: an optimisation, not a lock: the version guards decide, also between processes.
 */

import type { Clock } from '../platform/platform.ts';
import { endsWithin } from './patience.ts';

/** What is being written of upstreams' answers to this process's own calls, by attempt id. */
export type Recordings = Map<string, Promise<unknown>>;

/** A commit takes milliseconds; a database that is away is waited for by whoever writes, and not by a callback as well. */
const PATIENCE_MS = 2_000;

/** Writes what the upstream answered to our call; those who wait by `recorded` come after it. */
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

/** Waits until what is being written of that attempt has been, however that ends, and not for long. */
export async function recorded(
  deps: { readonly recording: Recordings; readonly clock: Pick<Clock, 'after'> },
  attemptId: string,
): Promise<void> {
  const writing = deps.recording.get(attemptId);
  if (writing === undefined) return;
  await endsWithin(deps.clock, PATIENCE_MS, writing);
}
