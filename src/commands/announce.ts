/**
 * How a program that serves says so.
 *
 * Invariant: it says it once: to whoever started it over a channel, and else on standard output.
 */
import type { Surroundings } from './output.ts';

/** `url` is where it answers; a worker answers nowhere. `notes` are lines for the person who started it. */
export function announce(around: Surroundings, json: boolean, url: string | undefined, notes: readonly string[]): void {
  if (process.send !== undefined) {
    process.send({ type: 'ready', url, notes });
    return;
  }
  if (json) around.write(`${JSON.stringify({ type: 'ready', url: url ?? null })}\n`);
  else around.write([url === undefined ? 'working' : `listening on ${url}`, ...notes, ''].join('\n'));
}
