/**
 * An earlier attempt at a card payment that counted as not sent but has paid after all: found before the next one asks for the
 * money again.
 *
 * Invariant: the payment takes the money that came for it, once; the attempt that has asked for nothing ends with it.
 */

import type { AttemptAnswer } from './answer.ts';
import { attemptColumns, type SettlementContext } from './attempt-settlement.ts';
import { guardedUpdate, merged } from './change.ts';
import type { Attempt } from './records.ts';
import { move, type Settlement, type SettlementRows } from './settlement.ts';

/**
 * Approves the payment by its earlier attempt. Nothing changes if the present attempt may have asked for money, or if the earlier
 * one's money has been booked elsewhere.
 */
export function settleByEarlier(
  rows: SettlementRows,
  earlier: Attempt,
  answer: Extract<AttemptAnswer, { kind: 'approved' }>,
  context: SettlementContext,
): Settlement {
  const { attempt, payment } = rows;
  const hasAsked = attempt.status !== 'intended' && attempt.status !== 'challenged';
  if (hasAsked || payment.attempt_id !== attempt.id || earlier.status === 'approved') return { payment, attempt };
  const confirmed = { attempt: 'confirmed', payment: 'upstream_confirmed', reason: null } as const;
  const settled = move({ ...rows, attempt: earlier }, confirmed, answer, context);
  const closed = attempt.status === 'intended' ? 'not_sent' : 'declined';
  const row = attemptColumns(attempt, closed, 'not_asked', null, context);
  const closing = { updates: [guardedUpdate('attempt', attempt, row)] };
  return { ...settled, change: merged(settled.change, closing) };
}
