/**
 * A session's life: minted, collected on, consumed by one payment, or expired.
 *
 * Invariant: one session pays at most once. `submitting_payment_id` reserves it while an upstream is being called; only the
 * payment that holds it may consume it. Expiry is a matter of time, not of a write.
 */

import { type Columns, guardedUpdate, type Revision, revise, type Update } from './change.ts';
import { type Machine, StateConflict, step } from './machine.ts';
import type { Payment, Session } from './records.ts';
import { Refusal, refuseField } from './refusal.ts';

/** `expired` is never written: it is how an ACTIVE session counts once its time is over. */
export type SessionState = 'ACTIVE' | 'CONSUMED' | 'expired';
/**
 * Only `submit_succeeded` is ever written. The other two change no row, and complete the table: a session outlives a submit that
 * failed, and time runs out by itself (`isSessionOpen`).
 */
const SESSION_FACTS = ['submit_succeeded', 'submit_failed', 'time_ran_out'] as const;
export type SessionFact = (typeof SESSION_FACTS)[number];

/** The states of a session (contract §3). `expired` is never written: it follows from the time. */
export const SESSION: Machine<SessionState, SessionFact> = {
  name: 'session',
  initial: 'ACTIVE',
  final: ['CONSUMED', 'expired'],
  facts: SESSION_FACTS,
  table: {
    ACTIVE: { submit_succeeded: 'CONSUMED', submit_failed: 'ACTIVE', time_ran_out: 'expired' },
    // A submit that began in time may succeed after expiry.
    expired: { submit_succeeded: 'CONSUMED', submit_failed: 'expired', time_ran_out: 'expired' },
    CONSUMED: { time_ran_out: 'CONSUMED' },
  },
};

/** Seconds that a session lives if its mint does not say: half an hour (contract §3). */
export const TTL_DEFAULT_S = 1_800;
/** Seconds of the longest lifetime: a day. */
export const MAX_TTL_S = 86_400;
/** Seconds of the shortest lifetime; a sandbox may mint a session of one second, to watch it end (contract §3). */
export const MIN_TTL_S = { sandbox: 1, production: 60 } as const;

/**
 * Characters that no order's name needs: control characters, line separators, and those that change the reading direction. Shown
 * to an operator, they could falsify the text beside them.
 */
const UNREADABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** Whether a merchant's name for an order is plain text of one line. */
export function isReferenceText(text: string): boolean {
  return !UNREADABLE.test(text);
}

/** Refuses a session that a payment has consumed: the refusal names that payment, which a caller must read before paying again. */
export function refuseConsumed({ submitting_payment_id }: Pick<Session, 'submitting_payment_id'>): Refusal {
  const refusal = refuseField(1001, 'Authorization', 'SESSION_CONSUMED');
  return submitting_payment_id === null ? refusal : refusal.about(submitting_payment_id);
}

/**
 * Refuses a session whose time is over. If a payment was submitted with it, that is named: it may have paid, and must be read before
 * the order is paid anew.
 */
export function refuseExpired({
  status,
  submitting_payment_id: id,
}: Pick<Session, 'status' | 'submitting_payment_id'>): Refusal {
  const isSubmitted = status === 'CONSUMED' || id !== null;
  const refusal = refuseField(1005, 'Authorization', isSubmitted ? 'EXPIRED_AFTER_SUBMIT' : 'SESSION_EXPIRED');
  return id === null ? refusal : refusal.about(id);
}

/** Whether something new can be started on a session: it has not paid, and its time is not over (contract §3). */
export function isSessionOpen({ status, expires_at }: Pick<Session, 'status' | 'expires_at'>, now: number): boolean {
  return status === 'ACTIVE' && expires_at > now;
}

/**
 * Refuses what starts something new on a session that is not open.
 *
 * @throws Refusal 1001 when it has already paid, 1005 when its time is over.
 */
export function requireOpen(session: Session, now: number): void {
  if (isSessionOpen(session, now)) return;
  throw session.status === 'CONSUMED' ? refuseConsumed(session) : refuseExpired(session);
}

/** The guarded update of a session, and the session as it will be. */
export function reviseSession(session: Session, columns: Columns<'session'>): Revision<'session'> {
  return revise('session', session, withUsual(session, columns));
}

/** The guarded update of a session. */
export function updateSession(session: Session, columns: Columns<'session'>): Update<'session'> {
  return guardedUpdate('session', session, withUsual(session, columns));
}

/**
 * The given columns, and those that a session's steps change, changed or not, so that the updates of a batch's sessions are one
 * statement.
 */
function withUsual(
  { payments, submitting_payment_id, status }: Session,
  columns: Columns<'session'>,
): Columns<'session'> {
  return { payments, submitting_payment_id, status, ...columns };
}

/**
 * The guarded write by which a payment consumes its session.
 *
 * @throws StateConflict when the session has paid already.
 */
export function consume(session: Session, paymentId: string, columns: Pick<Partial<Session>, 'payments'> = {}): Update {
  const next = step(SESSION, session.status, 'submit_succeeded');
  if (next.kind !== 'moved' || next.to !== 'CONSUMED') throw new StateConflict('session', session, 'submit_succeeded');
  return updateSession(session, { ...columns, status: next.to, submitting_payment_id: paymentId });
}

/**
 * The columns that bind a session to the first device that uses it (contract §1).
 *
 * @throws Refusal 1305 when another device has been bound since the call was authenticated.
 */
export function deviceColumns(session: Session, fingerprint: string | undefined): { device_fingerprint?: string } {
  if (session.device_fingerprint !== null && session.device_fingerprint !== fingerprint) throw new Refusal(1305);
  return session.device_fingerprint === null && fingerprint !== undefined ? { device_fingerprint: fingerprint } : {};
}

/** The session's other payments that are still open and were never submitted: they end when it is consumed. */
export function siblingsOf(payment: Payment, all: readonly Payment[]): Payment[] {
  return all.filter((other) => other.id !== payment.id && other.status === 'pending');
}
