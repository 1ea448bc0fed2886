/**
 * The signals that tell a process to stop.
 *
 * Invariant: whoever is told by the end of its terminal (SIGHUP) ends by that signal once its work is done. By itself Node.js would
 * abort then, since it can no longer give the terminal back its settings, and might leave an image of its memory, keys included.
 */

/** Calls `told` with each signal that comes. From now on none of them ends the process at once. */
export function onStopSignal(told: (signal: NodeJS.Signals) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => told(signal));
  process.once('SIGHUP', () => {
    process.once('exit', () => {
      process.removeAllListeners('SIGHUP');
      process.kill(process.pid, 'SIGHUP');
    });
  });
}
