/**
 * Asks an upstream to move money: the second step of write, call, write.
 *
 * Invariant: no request leaves more than a few seconds after it was allowed. After a longer stall the attempt might be closed,
 * and another one open in its place.
 */

import type { Answer } from '../connectors/connector.ts';
import type { Attempt } from '../domain/records.ts';
import type { Deps } from './deps.ts';

/** A carrier's attempt is left alone for longer than its call can take; then the inquiry round looks after it. */
export const CALL_LIFE_MS = 20_000;

/** After this long nobody may ask for the money any more. */
const START_LIMIT_MS = 5_000;

/** The answer where nobody was asked: such an attempt can never have paid. */
export const TOO_LATE: Extract<Answer, { kind: 'not_sent' }> = {
  kind: 'not_sent',
  reason: 'the attempt was written too long ago',
};

/** Whether a call has come to nothing yet: the upstream certainly has not taken the order, or nobody can tell. */
export function isUnsure(word: Answer): word is Extract<Answer, { kind: 'not_sent' | 'unknown' }> {
  return word.kind === 'not_sent' || word.kind === 'unknown';
}

/**
 * Asks an upstream to move the money of an attempt, unless more than `limitMs` have passed since it was allowed to: as a rule,
 * since the attempt was written. A call that has come to nothing yet is logged.
 */
export async function askInTime(
  deps: Pick<Deps, 'clock' | 'log'>,
  attempt: Attempt,
  ask: () => Promise<Answer>,
  { allowedAt = attempt.created_at, limitMs = START_LIMIT_MS } = {},
): Promise<Answer> {
  const word = deps.clock.now() > allowedAt + limitMs ? TOO_LATE : await ask();
  if (isUnsure(word)) {
    const { id, connector } = attempt;
    deps.log.warn('attempt_unsure', { attempt_id: id, connector, kind: word.kind, reason: word.reason });
  }
  return word;
}
