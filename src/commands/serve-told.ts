/**
 * How a process that serves learns that it has to stop.
 *
 * Invariant: it listens from the first moment on, so that no signal ends a process in the middle of something.
 */

/** How long a stop may take (contract §10). */
export const STOP_LIMIT_MS = 10_000;

/** Resolves with the reason: a signal, or the end of the process that started this one. */
export function whenToldToStop(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve(signal));
    process.on('disconnect', () => resolve('the parent process has ended'));
  });
}
