/**
 * Asking an upstream to move money: the second of write, call, write.
 *
 * Invariant: nothing leaves for the network later than a few seconds after it was allowed to. Whoever slept in between
 * might find the attempt closed, and another one in its place.
 */

import type { Answer } from '../connectors/connector.ts';
import type { Deps } from './deps.ts';

/** A carrier's attempt is left alone for longer than its call can take; then the inquiry round looks after it. */
export const CALL_LIFE_MS = 20_000;

/** After this long nobody may ask for the money any more. */
const START_LIMIT_MS = 5_000;

/** Asks, unless too much time has passed since `allowedAt`. */
export function askInTime(
  deps: Pick<Deps, 'clock'>,
  ask: () => Promise<Answer>,
  allowedAt: number,
  limit = START_LIMIT_MS,
): Promise<Answer> {
  if (deps.clock.now() > allowedAt + limit) {
    return Promise.resolve({ kind: 'not_sent', reason: 'the attempt was written too long ago' });
  }
  return ask();
}
