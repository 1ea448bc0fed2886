/**
 * The steps of a card payment between its submit and PAY: the issuer challenges its customer, and gets an answer.
 *
 * Invariant: in `challenged` no money can have moved. The step to `authenticated` is written under the attempt's version before
 * the network is asked for money, so that only one of several concurrent callers proceeds. Each step starts a call of its own:
 * earlier inquiries no longer count.
 */

import { ATTEMPT, CHALLENGE_LIFE_MS, nextAfterHint, nextInquiryAt } from './attempt.ts';
import { type Change, type DecisionContext, guardedUpdate, revise } from './change.ts';
import { step } from './machine.ts';
import type { Attempt, Payment } from './records.ts';
import { consumeSession, holdsSession, type SettlementRows } from './settlement.ts';

/** What the card network said about the customer's authentication. */
export type ThreeDsResult = Pick<Attempt, 'three_ds_status' | 'eci'>;

/** A step that was taken: what to write, and the rows as they will be. */
export interface Step {
  readonly change: Change;
  readonly attempt: Attempt;
  readonly payment: Payment;
}

/**
 * The issuer challenges its customer: the submit succeeds, and so consumes the session. The payment takes over method and fee;
 * its status is `processing` already. Undefined when the attempt has moved on, or its submit no longer holds the session.
 */
export function challengeAttempt(
  rows: SettlementRows,
  asked: ThreeDsResult & { readonly challenge: string },
  context: DecisionContext,
): Step | undefined {
  const { attempt, payment, session } = rows;
  const next = step(ATTEMPT, attempt.status, 'challenged');
  if (next.kind !== 'moved' || session === undefined || !holdsSession(rows)) return undefined;
  const row = { ...asked, ...BEGUN, status: next.to, next_inquiry_at: nextLookAt(attempt, 0, context.now) };
  const columns = { method: attempt.method, fee_minor: attempt.fee_minor, total_minor: attempt.amount_minor };
  const challenged = revise('attempt', attempt, row);
  const revised = revise('payment', payment, columns);
  const consumed = consumeSession(rows, session, context);
  return {
    change: { updates: [challenged.update, revised.update, ...consumed.updates], inserts: consumed.inserts },
    attempt: challenged.after,
    payment: revised.after,
  };
}

/** Inquiry state left over from the previous step does not apply to this one. */
const BEGUN = { inquiries: 0, not_found_at: null } as const;

/** The customer has been authenticated: the caller that commits this asks for the money. Undefined when another one does. */
export function authenticateAttempt(
  { attempt, payment }: Pick<SettlementRows, 'attempt' | 'payment'>,
  threeDs: ThreeDsResult,
  nextInquiry: number,
): Step | undefined {
  const next = step(ATTEMPT, attempt.status, 'authenticated');
  if (next.kind !== 'moved' || payment.attempt_id !== attempt.id) return undefined;
  const row = { ...threeDs, ...BEGUN, status: next.to, challenge: null, next_inquiry_at: nextInquiry };
  const { update, after } = revise('attempt', attempt, row);
  return { change: { updates: [update] }, attempt: after, payment };
}

/**
 * What made us look at the challenge: the round (`due`); or a reader or callback, for which the network was reached (`asked`) or
 * not (`unanswered`).
 */
export type LookedAt = 'due' | 'asked' | 'unanswered';

/**
 * The challenge is still open: schedules the next look. Only due looks postpone it. Undefined when nothing changes, or the
 * attempt has moved on.
 */
export function challengeStillOpen(attempt: Attempt, now: number, looked: LookedAt): Change | undefined {
  if (attempt.status !== 'challenged' || looked === 'asked') return undefined;
  const row = looked === 'due' ? nextDueLook(attempt, now) : { next_inquiry_at: nextAfterHint(attempt, now) };
  if (looked === 'unanswered' && row.next_inquiry_at === attempt.next_inquiry_at) return undefined;
  return { updates: [guardedUpdate('attempt', attempt, row)] };
}

function nextDueLook(attempt: Attempt, now: number) {
  const inquiries = attempt.inquiries + 1;
  return { inquiries, next_inquiry_at: nextLookAt(attempt, inquiries, now) };
}

/** Whether the customer's time for the challenge is over. */
export function isChallengeOver(attempt: Pick<Attempt, 'created_at'>, now: number): boolean {
  return now >= attempt.created_at + CHALLENGE_LIFE_MS;
}

/** As for other attempts, but never later than the end of the challenge. */
function nextLookAt(attempt: Attempt, inquiries: number, now: number): number {
  const end = attempt.created_at + CHALLENGE_LIFE_MS;
  const next = nextInquiryAt(inquiries, now);
  return end > now ? Math.min(next, end) : next;
}
