/**
 * An earlier attempt at a card payment that counted as not sent but has paid after all: found before the next one asks for the
 * money again.
 *
 * Invariant: the payment takes the money that came for it, once; the attempt that has asked for nothing ends with it. What has been
 * learnt is never lost: money that the payment does not wait for is settled as after any other inquiry.
 */

import type { AttemptAnswer } from './answer.ts';
import { attemptColumns, type SettlementContext } from './attempt-settlement.ts';
import { guardedUpdate, merged } from './change.ts';
import { isFinal } from './payment.ts';
import type { Attempt } from './records.ts';
import { guardOnly, isMixed, move, type Settlement, type SettlementRows, settleAttempt } from './settlement.ts';

/**
 * Approves the payment by its earlier attempt, unless the present one may have asked for money, or the payment no longer waits for
 * that one: then the earlier attempt is looked at again soon, or its money is late. Nothing changes if its money has been booked.
 * The settlement's `attempt` is the earlier one.
 */
export function settleByEarlier(
  rows: SettlementRows,
  earlier: Attempt,
  answer: Extract<AttemptAnswer, { kind: 'approved' }>,
  context: SettlementContext,
): Settlement {
  const { attempt, payment } = rows;
  if (earlier.status === 'approved') return { payment, attempt: earlier };
  // Decided anew, once the payment shows what the attempt does.
  if (isMixed(attempt, payment)) return { payment, attempt: earlier, ...guardOnly(payment) };
  const hasAsked = attempt.status !== 'intended' && attempt.status !== 'challenged';
  if (hasAsked || payment.attempt_id !== attempt.id || isFinal(payment.status)) {
    return settleAttempt({ ...rows, attempt: earlier }, answer, context);
  }
  const confirmed = { attempt: 'confirmed', payment: 'upstream_confirmed', reason: null } as const;
  const settled = move({ ...rows, attempt: earlier }, confirmed, answer, context);
  const closed = attempt.status === 'intended' ? 'not_sent' : 'declined';
  const row = attemptColumns(attempt, closed, 'not_asked', null, context);
  const closing = { updates: [guardedUpdate('attempt', attempt, row)] };
  return { ...settled, change: merged(settled.change, closing) };
}
