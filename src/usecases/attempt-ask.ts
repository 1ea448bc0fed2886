/**
 * Asks an upstream to move money: the second step of write, call, write.
 *
 * Invariant: no request is sent more than a few seconds after it was allowed. After a longer stall the attempt might be closed,
 * and another one open in its place.
 */

import type { Answer } from '../domain/answer.ts';
import type { Attempt } from '../domain/records.ts';
import type { Deps } from './deps.ts';

/** 20 s, longer than a call to a carrier can take: the inquiry round leaves the attempt alone until then. */
export const CALL_LIFE_MS = 20_000;

/** 5 s after which the money may no longer be asked for. */
const MAX_START_MS = 5_000;

/** The answer when the upstream was not called: such an attempt can never have paid. */
export const TOO_LATE: Extract<Answer, { kind: 'not_sent' }> = {
  kind: 'not_sent',
  reason: 'the attempt was written too long ago',
};

/** The answer when an operator has held the connector since the attempt was written: it was not called. */
export const CONNECTOR_HELD: Extract<Answer, { kind: 'not_sent' }> = {
  kind: 'not_sent',
  reason: 'an operator holds the connector',
};

/** The answer when it could not be read whether the connector is held: it was not called. */
export const HOLD_UNREAD: Extract<Answer, { kind: 'not_sent' }> = {
  kind: 'not_sent',
  reason: 'whether the connector is held could not be read',
};

/** The answer when something else was accepted while it was in doubt whether the attempt had been written: it was not called. */
export const TAKEN_BEFORE: Extract<Answer, { kind: 'not_sent' }> = {
  kind: 'not_sent',
  reason: 'an earlier attempt, or a failed order, was accepted',
};

/** Whether a call brought no result: the upstream has certainly not taken the order, or whether it has is unknown. */
export function isUnsure(answer: Answer): answer is Extract<Answer, { kind: 'not_sent' | 'unknown' }> {
  return answer.kind === 'not_sent' || answer.kind === 'unknown';
}

/**
 * Asks an upstream to move the money of an attempt, unless more than `limitMs` have passed since `allowedAt`: by default, since
 * the attempt was written. `ask` sends at once: what it needs has been read before. A call without a result is logged.
 */
export async function callWithinDeadline(
  deps: Pick<Deps, 'clock' | 'log'>,
  attempt: Attempt,
  ask: () => Promise<Answer>,
  { allowedAt = attempt.created_at, limitMs = MAX_START_MS } = {},
): Promise<Answer> {
  // Either way: a clock that was set back must not make the permission last longer.
  const isInTime = Math.abs(deps.clock.now() - allowedAt) <= limitMs;
  const answer = isInTime ? await ask() : TOO_LATE;
  if (isUnsure(answer)) {
    const { id, connector } = attempt;
    deps.log.warn('attempt_unsure', { attempt_id: id, connector, kind: answer.kind, reason: answer.reason });
  }
  return answer;
}
