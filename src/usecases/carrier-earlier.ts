/**
 * Inquires about earlier mobile-money attempts that carriers turned away, before the same customer is asked for the money
 * again.
 *
 * Invariant: if a carrier has accepted one of them, or cannot say while its prompt may still be open, the money is not asked
 * for a second time. An attempt that the carrier does not know blocks nothing: the customer is present, and has to confirm on
 * the phone anyway.
 */

import type { InquiryAnswer } from '../domain/answer.ts';
import { MINUTE_MS } from '../domain/durations.ts';
import { isFinal, isUntried } from '../domain/payment.ts';
import type { Attempt, Payment, Session } from '../domain/records.ts';
import { turnedAwayAt } from './attempt-previous.ts';
import { settleByInquiry } from './attempt-settle.ts';
import type { SessionCaller } from './callers.ts';
import { isClockShared, MAX_WRONG_MS } from './clock-guard.ts';
import type { Deps } from './deps.ts';
import { isPaidAside } from './paid-aside.ts';
import { hasOnePayment } from './session-payments.ts';
import { type AttemptInquired, askAboutAll } from './upstream-inquire.ts';

/** What became of the earlier attempts. */
export type EarlierByPhone =
  /** There are none, and no carrier was asked. */
  | { readonly kind: 'none' }
  /** According to their carriers, none of them was accepted. */
  | { readonly kind: 'not_taken' }
  /** The carrier has accepted this one, and that has been written. */
  | { readonly kind: 'taken'; readonly attempt: Attempt }
  /** One has paid too late to count: its money is in suspense, or an operator has booked it. */
  | { readonly kind: 'paid_aside' }
  /** The outcome of this one is unknown. */
  | { readonly kind: 'unclear'; readonly attempt: Attempt };

/**
 * How many turned-away attempts are inquired about, newest first: older ones were inquired about before the newer ones were
 * made. However often a submit is repeated while a carrier turns it away, each costs that carrier no more than this.
 */
const MAX_ASKED = 4;
/** 5 min that an unconfirmed prompt lives: after that an attempt whose outcome is unknown holds up no other. */
const PROMPT_LIFE_MS = 5 * MINUTE_MS;

/**
 * Asks the carriers of the session's earlier attempts. `payment` is as it was read: the caller guards its version when opening
 * another attempt for it.
 */
export async function askEarlierByPhone(
  deps: Deps,
  { session }: SessionCaller,
  payment: Payment,
): Promise<EarlierByPhone> {
  const attempts = await earlierAttempts(deps, session, payment);
  if (attempts.length === 0) return { kind: 'none' };
  if (attempts.some(isPaidAside)) return { kind: 'paid_aside' };
  // An attempt known to be waiting is inquired about, however many attempts followed it.
  const waiting = attempts.filter(({ status }) => status === 'waiting');
  const turnedAway = attempts.filter(({ status }) => status === 'not_sent').slice(-MAX_ASKED);
  const results = await askAboutAll(deps, [...waiting, ...turnedAway]);
  const taken =
    results.find(({ answer }) => answer.kind === 'approved') ?? results.find(({ answer }) => isTaken(answer));
  if (taken !== undefined) {
    log(deps, 'earlier_attempt_taken', taken.attempt);
    const after = await settleByInquiry(deps, taken.attempt, undefined, taken, 'hint');
    return isLeft(taken, after, payment)
      ? { kind: 'unclear', attempt: taken.attempt }
      : { kind: 'taken', attempt: taken.attempt };
  }
  const unclear = await findUnclear(deps, results);
  if (unclear === undefined) return { kind: 'not_taken' };
  log(deps, 'earlier_attempt_unclear', unclear.attempt);
  return { kind: 'unclear', attempt: unclear.attempt };
}

/** Attempts of this payment and of the session's others, since a customer turned away may collect anew. Oldest first. */
async function earlierAttempts(deps: Deps, session: Session, payment: Payment): Promise<Attempt[]> {
  const { shard, session_id } = payment;
  const payments = hasOnePayment(session) ? [payment] : await deps.store.payment.ofSession(shard, session_id);
  const tried = payments.filter((one) => !isUntried(one));
  const attempts = await Promise.all(tried.map(({ id }) => deps.store.attempt.turnedAway(shard, id)));
  return attempts.flat().sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Whether an open prompt is another payment's that has ended: no payment resumes with it, and its outcome is unknown. */
function isLeft({ attempt, answer }: AttemptInquired, after: Payment, payment: Payment): boolean {
  if (answer.kind !== 'waiting' || after.id === payment.id || after.attempt_id === attempt.id) return false;
  return isFinal(after.status) && after.reason !== 'sibling_paid';
}

function isTaken({ kind }: InquiryAnswer): boolean {
  return kind === 'approved' || kind === 'waiting';
}

/**
 * An attempt whose outcome its carrier cannot tell, while its prompt may be open. By a clock that is not the database's it may be
 * for longer: another process, whose clock is wrong too, may have written when it began. A clock that was set while carriers
 * were asked counts by the earliest of its times.
 */
async function findUnclear(deps: Deps, results: readonly AttemptInquired[]): Promise<AttemptInquired | undefined> {
  const unknown = results.filter(({ answer }) => answer.kind === 'unknown');
  const at = Math.min(...results.map((one) => one.at), deps.clock.now());
  const openFor = (life: number) => unknown.find(({ attempt }) => at < turnedAwayAt(attempt) + life);
  const open = openFor(PROMPT_LIFE_MS);
  const perhaps = open ?? openFor(PROMPT_LIFE_MS + 2 * MAX_WRONG_MS);
  return perhaps === open || !(await isClockShared(deps)) ? perhaps : undefined;
}

function log(deps: Pick<Deps, 'log'>, event: string, { id, connector, payment_id }: Attempt): void {
  deps.log.warn(event, { attempt_id: id, connector, transaction_id: payment_id });
}
