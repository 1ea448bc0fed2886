/**
 * What an upstream's answer does to an attempt, its payment and its session: one code path for the answer to our own call, for a
 * callback and for the inquiry round.
 *
 * Invariant: pure except for the ids that it is handed, and total. Every answer in every state gives a change, nothing, or an
 * alarm; never an exception. An approved payment's money, fee and event commit with its status.
 */

import type { AttemptAnswer } from './answer.ts';
import { ATTEMPT, type AttemptFact, EARLIER_ASKED_MS, isOpen } from './attempt.ts';
import {
  type Alarm,
  attemptColumns,
  type Judgement,
  judgeAnswer,
  lookAgain,
  referenceIn,
  type SettlementContext,
} from './attempt-settlement.ts';
import { type Change, type DecisionContext, guard, type Insert, revise, type Transfer, type Update } from './change.ts';
import { transferIds } from './ids.ts';
import { lateTransfer, paymentTransfers, transitAccount } from './ledger.ts';
import { StateConflict, step } from './machine.ts';
import { factOfDecline, isFinal, type Moved, movePayment, type PaymentColumns, type PaymentFact } from './payment.ts';
import type { Reason } from './reason.ts';
import type { Attempt, Payment, Session } from './records.ts';
import { consume, siblingsOf, updateSession } from './session.ts';
import { collectEvent, eventInsert } from './webhook.ts';

/** The rows that an answer about a payment's attempt is decided on. */
export interface SettlementRows {
  readonly attempt: Attempt;
  readonly payment: Payment;
  /** Read while the session may still have to be consumed by this payment: see `needsSession`. */
  readonly session: Session | undefined;
  /** The session's payments, read when it has more than one. */
  readonly sessionPayments: readonly Payment[];
}

/** What an answer writes, and the alarm that it raises, if any. */
export interface Settlement {
  readonly change?: Change;
  /** The payment as it will be. */
  readonly payment: Payment;
  /** The attempt as it will be. */
  readonly attempt: Attempt;
  readonly alarm?: Alarm;
}

interface Meaning {
  readonly attempt: AttemptFact;
  readonly payment: PaymentFact;
  readonly reason: Reason | null;
}

/**
 * Whether settling needs the session: our own call may still be unanswered, or the payment is back with the customer and may be
 * submitted again.
 */
export function needsSession(attempt: Attempt, payment: Payment): boolean {
  return attempt.status === 'intended' || isFree(payment);
}

/** Nothing is in flight for the payment, and any method may be tried. */
function isFree({ status, attempt_id }: Payment): boolean {
  return status === 'pending' && attempt_id === null;
}

/** Decides what an upstream's answer writes. */
export function settleAttempt(rows: SettlementRows, answer: AttemptAnswer, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  const isItsOwn = payment.attempt_id === attempt.id && !isFinal(payment.status);
  const meaning = { ...meaningOf(answer, rows), ...(context.reason === undefined ? {} : { reason: context.reason }) };
  const taken = takenLate(rows, answer);
  if (taken !== undefined) return { ...move(taken, meaning, answer, context), alarm: 'late_acceptance' };
  if (!isItsOwn && mayFindItsPayment(rows, answer, context))
    return attemptOnly(rows, lookAgain(attempt, context), context);
  const judgement = judgeAnswer({ attempt, isItsOwn }, answer, meaning.attempt, context);
  if (judgement.kind !== 'moves') return attemptOnly(rows, judgement, context);
  try {
    return move(rows, meaning, answer, context);
  } catch (error) {
    if (error instanceof StateConflict) return { payment, attempt, alarm: 'contradiction' };
    throw error;
  }
}

/**
 * An upstream believed not to have the order turns out to have accepted it, or taken the money, and nothing else is under way:
 * the payment resumes with that attempt, so that its customer is not asked twice, and holds the session again, as in a submit.
 * For a card only taken money counts: the network knows the order from the first attempt on.
 */
function takenLate(rows: SettlementRows, answer: AttemptAnswer): SettlementRows | undefined {
  const { attempt, payment, session } = rows;
  if (answer.kind !== 'approved' && answer.kind !== 'waiting') return undefined;
  if (attempt.method !== 'mobile_money' && (attempt.method !== 'card' || answer.kind !== 'approved')) return undefined;
  if (attempt.status === 'approved' || !isFree(payment)) return undefined;
  // Declined first and reported as accepted later: an attempt that is closed for good cannot carry the payment.
  if (answer.kind === 'waiting' && attempt.status !== 'not_sent' && attempt.status !== 'waiting') return undefined;
  if (session?.status !== 'ACTIVE' || session.submitting_payment_id !== null) return undefined;
  return { ...rows, session: { ...session, submitting_payment_id: payment.id } };
}

/**
 * True while another card attempt is in flight, which inquires about earlier ones and claims what they paid, or while a submit
 * holds the session and may release it. Booking the money to suspense now would deny it to the payment. An operator's decision is
 * final.
 */
function mayFindItsPayment(
  { attempt, payment, session }: SettlementRows,
  answer: AttemptAnswer,
  { now, reason }: SettlementContext,
): boolean {
  if (answer.kind !== 'approved' || attempt.method !== 'card' || attempt.status === 'approved') return false;
  if (reason === 'settled_by_operator') return false;
  if (isFree(payment)) return session?.status === 'ACTIVE' && session.submitting_payment_id !== null;
  const { status, method, submitted_at } = payment;
  if (status !== 'processing' || (method !== 'card' && method !== 'none')) return false;
  return submitted_at !== null && now < submitted_at + EARLIER_ASKED_MS;
}

function meaningOf(answer: AttemptAnswer, rows: SettlementRows): Meaning {
  switch (answer.kind) {
    case 'approved':
      return { attempt: 'confirmed', payment: 'upstream_confirmed', reason: null };
    case 'waiting':
      return { attempt: 'accepted', payment: 'upstream_accepted', reason: null };
    case 'declined':
      return { attempt: 'refused', payment: factOfDecline(answer.reason), reason: answer.reason };
    case 'challenge_failed':
      return { attempt: 'challenge_failed', payment: factOfDecline(answer.reason), reason: answer.reason };
    case 'not_sent':
      return nothingTaken(rows);
    case 'not_found':
      return { ...nothingTaken(rows), attempt: 'never_arrived' };
    case 'unknown':
      return { attempt: 'silent', payment: 'upstream_silent', reason: null };
  }
}

/**
 * The upstream has certainly taken nothing. If the submit has not replied yet, the payment goes back to the customer. If it has,
 * or if a token was spent, the customer was told that the payment is in progress, so it fails.
 */
function nothingTaken(rows: SettlementRows): Meaning {
  if (holdsSession(rows)) return { attempt: 'not_sent', payment: 'attempt_not_sent', reason: 'not_sent' };
  return { attempt: 'never_arrived', payment: 'attempt_never_arrived', reason: 'not_sent' };
}

/** Whether this payment's submit still holds the session, because it has not replied yet. */
export function holdsSession({ session, payment }: Pick<SettlementRows, 'session' | 'payment'>): boolean {
  return session?.status === 'ACTIVE' && session.submitting_payment_id === payment.id;
}

/** Moves the attempt and its payment; also consumes the session if it is still held, unless nothing was taken. */
export function move(
  rows: SettlementRows,
  meaning: Meaning,
  answer: AttemptAnswer,
  context: SettlementContext,
): Settlement {
  const { attempt, payment } = rows;
  const { now } = context;
  const next = step(ATTEMPT, attempt.status, meaning.attempt);
  if (next.kind === 'conflict') return { payment, attempt };
  const to = next.kind === 'moved' ? next.to : attempt.status;
  const attemptRow = attemptColumns(attempt, to, meaning.reason, referenceIn(answer), context);
  const columns = paymentColumns(meaning, attemptRow, rows);
  const moved = movePayment(payment, meaning.payment, meaning.reason, now, columns);
  const { payment: after, update } = moved ?? takeOver(payment, columns);
  const revised = revise('attempt', attempt, attemptRow);
  const updates: Update[] = [revised.update, update];
  const inserts: Insert[] = [];
  const transfers: Transfer[] = [];
  if (moved !== undefined) {
    inserts.push(moved.history);
    if (after.completed_at !== null) inserts.push(eventOf(after, context));
  }
  if (to === 'approved') {
    const source = transitAccount(payment.shard, attempt.connector, payment.currency);
    transfers.push(...paymentTransfers(after, source, transferIds(context.newId, payment.shard), now));
  }
  const session = sessionAfter(rows, meaning, context);
  return {
    change: { updates: updates.concat(session.updates), inserts: inserts.concat(session.inserts), transfers },
    payment: after,
    attempt: revised.after,
  };
}

/** A payment that keeps its status takes over method and fee all the same: from now on the upstream may have the order. */
function takeOver(payment: Payment, columns: PaymentColumns): Pick<Moved, 'update' | 'payment'> {
  const { update, after } = revise('payment', payment, columns);
  return { payment: after, update };
}

/**
 * What a payment takes over from its attempt: the method and its fee, once the upstream may have the order. If nothing was taken,
 * the payment is again as it was collected, and any method may be tried.
 */
function paymentColumns(
  meaning: Meaning,
  row: { readonly provider_reference: string | null },
  { attempt, payment }: SettlementRows,
): PaymentColumns {
  if (meaning.payment === 'attempt_not_sent') return { attempt_id: null, submitted_at: null };
  return {
    method: attempt.method,
    fee_minor: attempt.fee_minor,
    total_minor: attempt.amount_minor,
    ...(attempt.method === 'mobile_money' ? { msisdn: attempt.msisdn, carrier: attempt.carrier } : {}),
    provider_reference: row.provider_reference,
    ...(payment.attempt_id === attempt.id ? {} : { attempt_id: attempt.id }),
    ...(payment.submitted_at === null ? { submitted_at: attempt.created_at } : {}),
  };
}

const ENDS_AT_ONCE: ReadonlySet<PaymentFact> = new Set(['issuer_declined', 'customer_rejected', 'prompt_expired']);

/** Consumes the session that this payment holds, and ends its siblings; or releases it when nothing was taken. */
function sessionAfter(
  rows: SettlementRows,
  meaning: Meaning,
  context: SettlementContext,
): { updates: Update[]; inserts: Insert[] } {
  const { session } = rows;
  if (session === undefined || !holdsSession(rows)) return { updates: [], inserts: [] };
  // A card that ends at once without paying ends its payment, and leaves the session for another collect (contract §3).
  const endedAtOnce = rows.attempt.method === 'card' && ENDS_AT_ONCE.has(meaning.payment);
  if (endedAtOnce || meaning.payment === 'attempt_not_sent') {
    return { updates: [updateSession(session, { submitting_payment_id: null })], inserts: [] };
  }
  return consumeSession(rows, session, context);
}

/**
 * What a payment writes when it consumes its session: the session, and the end of its other open payments.
 *
 * @throws StateConflict when the session has paid already
 */
export function consumeSession(
  { payment, sessionPayments }: Pick<SettlementRows, 'payment' | 'sessionPayments'>,
  session: Session,
  { now, newId }: DecisionContext,
  columns?: Pick<Partial<Session>, 'payments'>,
): { updates: Update[]; inserts: Insert[] } {
  const updates: Update[] = [consume(session, payment.id, columns)];
  const inserts: Insert[] = [];
  for (const sibling of siblingsOf(payment, sessionPayments)) {
    const moved = movePayment(sibling, 'sibling_paid', 'sibling_paid', now);
    if (moved === undefined) continue;
    updates.push(moved.update);
    inserts.push(moved.history, eventInsert(collectEvent(moved.payment, newId('evt', sibling.shard), now)));
  }
  return { updates, inserts };
}

/** The payment keeps the status that was reported. Late money goes to suspense, for an operator to decide on. */
function attemptOnly(
  { attempt, payment }: SettlementRows,
  judgement: Exclude<Judgement, { kind: 'moves' }>,
  { now, newId }: SettlementContext,
): Settlement {
  const { alarm } = judgement;
  const raised = alarm === undefined ? {} : { alarm };
  if (judgement.kind === 'nothing')
    return { payment, attempt, ...raised, ...(isMixed(attempt, payment) ? guardOnly(payment) : {}) };
  // Whether the payment waits for this attempt was decided on an open payment: the guard makes sure that this still holds.
  const moves = judgement.row.status !== undefined;
  const guards = moves && !isFinal(payment.status) ? [guard('payment', payment)] : [];
  const { update, after } = revise('attempt', attempt, judgement.row);
  const transfers =
    judgement.kind === 'late_money' ? [lateTransfer(attempt, 'in', newId('trf', attempt.shard), now)] : [];
  return {
    change: { updates: [update, ...guards], transfers },
    payment,
    attempt: after,
    ...raised,
  };
}

/**
 * A payment ends, or goes back to its customer, together with its attempt: a payment that still looks open beside its closed
 * attempt is a stale read, and must not be returned.
 */
export function isMixed(attempt: Attempt, payment: Payment): boolean {
  return payment.attempt_id === attempt.id && !isFinal(payment.status) && !isOpen(attempt.status);
}

/** Changes nothing, but guards that the payment is still as it was read. */
export function guardOnly(payment: Payment): { readonly change: Change } {
  return { change: { updates: [guard('payment', payment)] } };
}

function eventOf(payment: Payment, context: SettlementContext): Insert {
  return eventInsert(collectEvent(payment, context.newId('evt', payment.shard), context.now));
}
