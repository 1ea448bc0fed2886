/**
 * How a process that serves learns that it has to stop.
 *
 * Invariant: it listens from the first moment on, so that no signal ends a process in the middle of something.
 */

/** How long a stop may take (contract §10). */
export const STOP_LIMIT_MS = 10_000;

/** A process that does not stop by itself in time is killed a little later. */
export const STOP_MARGIN_MS = 500;
/** So long a process that was replaced answers on connections that it has already. */
export const REPLACED_MS = 3_000;

/** Resolves with the reason: a signal, or the end of the process that started this one. */
export function whenToldToStop(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
    process.on('disconnect', () => resolve('the parent process has ended'));
  });
}

/**
 * What is being opened; undefined when the process was told to stop meanwhile. Nothing is in flight yet, and what is written
 * is one transaction: what opens all the same is closed again, and where the database still does not answer when a stop
 * would be over, the process ends.
 */
export async function openUnlessTold<W extends { close(): Promise<void> }>(
  opening: Promise<W>,
  stopping: Promise<string>,
): Promise<W | undefined> {
  const opened = await Promise.race([opening, stopping.then(() => undefined)]);
  if (opened !== undefined) return opened;
  const overdue = setTimeout(() => process.exit(0), STOP_LIMIT_MS);
  // One that cannot be opened is wanted by nobody any more.
  const late = await opening.catch(() => undefined);
  try {
    await late?.close();
  } finally {
    clearTimeout(overdue);
  }
  return undefined;
}
