/**
 * Announces that a server process is ready.
 *
 * Invariant: it announces once: over the IPC channel to its parent process if there is one, otherwise on standard output.
 */
import type { Io } from './output.ts';

/** `url` is where it answers requests; undefined for a worker. `notes` are lines for the person who started it. */
export function announce(io: Io, json: boolean, url: string | undefined, notes: readonly string[]): void {
  if (process.send !== undefined) {
    process.send({ type: 'ready', url, notes });
    return;
  }
  if (json) io.write(`${JSON.stringify({ type: 'ready', url: url ?? null })}\n`);
  else io.write([url === undefined ? 'working' : `listening on ${url}`, ...notes, ''].join('\n'));
}
