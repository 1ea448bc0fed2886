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
