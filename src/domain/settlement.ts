/**
 * What an upstream's word does to an attempt, its payment and its session: one way through for the answer to our own
 * call, for a callback and for the inquiry round.
 *
 * Invariant: pure, and total. Every answer in every state gives a change, or nothing, or an alarm; never an exception.
 * An approved payment's money, fee and event commit with its status.
 */

import {
  ATTEMPT,
  type AttemptFact,
  isBeingAsked,
  isOpen,
  isOverdue,
  nextAfterHint,
  nextAfterthoughtAt,
  nextInquiryAt,
} from './attempt.ts';
import type { Change, Insert, Transfer, Update } from './change.ts';
import type { Prefix } from './ids.ts';
import { paymentTransfers, suspenseAccount, transitAccount } from './ledger.ts';
import { step } from './machine.ts';
import {
  factOfDecline,
  isFinal,
  type Moved,
  movePayment,
  type PaymentColumns,
  type PaymentFact,
  StateConflict,
} from './payment.ts';
import type { DeclineReason, Reason } from './reason.ts';
import type { Attempt, AttemptStatus, Payment, Session } from './records.ts';
import { siblingsOf, updateSession } from './session.ts';
import { collectEvent } from './webhook.ts';

/** What an upstream said of an attempt; the words of `connectors/connector.ts`. */
export type Word =
  | { readonly kind: 'approved' | 'waiting'; readonly providerReference: string | null }
  | { readonly kind: 'declined'; readonly reason: DeclineReason; readonly providerReference: string | null }
  | { readonly kind: 'not_sent' | 'unknown'; readonly reason: string }
  | { readonly kind: 'not_found' }
  /** Of the issuer's challenge, and never of money: it ends nothing but a challenge. */
  | { readonly kind: 'challenge_failed'; readonly reason: DeclineReason };

/** What made us ask: the inquiry round's own time; or a callback or a reader, who may come at any time. */
export type Inquired = 'due' | 'hint';

export interface SettlementRows {
  readonly attempt: Attempt;
  readonly payment: Payment;
  /** Read while the session may still be unconsumed by this payment: the attempt is `intended`. */
  readonly session: Session | undefined;
  /** The session's payments, read when it has more than one. */
  readonly sessionPayments: readonly Payment[];
}

export interface SettlementContext {
  readonly now: number;
  /** When the upstream was asked: an answer says how things stood then, however late it is heard. */
  readonly askedAt: number;
  /** Milliseconds after which a second `not_found` proves that nothing was taken. */
  readonly settleDelay: number;
  readonly newId: (prefix: Prefix, shard: number) => string;
  /** Why there was an inquiry; false: the word answers our own call. Only those that were due count, and put off the next. */
  readonly inquiry: Inquired | false;
  /** What was heard of a card customer's authentication on the way to this word. */
  readonly authentication?: Pick<Attempt, 'three_ds_status' | 'eci'>;
  /** Why it was settled, where the word alone does not say. */
  readonly reason?: Reason;
}

/** Something that a person must look at; logged as an error, and counted. */
export type Alarm = 'late_success' | 'late_acceptance' | 'contradiction' | 'overdue';

export interface Settlement {
  readonly change?: Change;
  /** The payment as it will be. */
  readonly payment: Payment;
  readonly attempt: Attempt;
  readonly alarm?: Alarm;
}

interface Meaning {
  readonly attempt: AttemptFact;
  readonly payment: PaymentFact;
  readonly reason: Reason | null;
}

/** Decides what an upstream's word writes. */
export function settleAttempt(rows: SettlementRows, word: Word, context: SettlementContext): Settlement {
  try {
    return weighWord(rows, word, context);
  } catch (error) {
    if (error instanceof StateConflict) return { payment: rows.payment, attempt: rows.attempt, alarm: 'contradiction' };
    throw error;
  }
}

function weighWord(rows: SettlementRows, word: Word, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  // Closed, or no longer the payment's: whatever is said of it now is no news of the payment.
  const isItsOwn = payment.attempt_id === attempt.id && !isFinal(payment.status);
  if (!isOpen(attempt.status) || !isItsOwn) return afterword(rows, word, context);
  if (word.kind === 'not_found') return notFound(rows, context);
  // That an inquiry stays unanswered says nothing about a call that may not even have been made.
  if (context.inquiry !== false && word.kind === 'unknown') return unanswered(rows, context);
  const meaning = { ...meaningOf(word, rows), ...(context.reason === undefined ? {} : { reason: context.reason }) };
  const next = step(ATTEMPT, attempt.status, meaning.attempt);
  if (next.kind === 'conflict') return { payment, attempt, alarm: 'contradiction' };
  if (next.kind === 'repeated') return stillOpen(rows, context);
  return move(rows, meaning, word, context);
}

function meaningOf(word: Word, rows: SettlementRows): Meaning {
  switch (word.kind) {
    case 'approved':
      return { attempt: 'confirmed', payment: 'carrier_confirmed', reason: null };
    case 'waiting':
      return { attempt: 'accepted', payment: 'carrier_accepted', reason: null };
    case 'declined':
      return { attempt: 'refused', payment: factOfDecline(word.reason), reason: word.reason };
    case 'challenge_failed':
      return { attempt: 'challenge_failed', payment: factOfDecline(word.reason), reason: word.reason };
    case 'not_sent':
      return nothingTaken(rows);
    case 'unknown':
    case 'not_found':
      return { attempt: 'silent', payment: 'carrier_silent', reason: null };
  }
}

/**
 * The upstream has certainly taken nothing. Where the submit has not answered yet, the payment goes back to the customer;
 * where it has, or where a token was spent, the customer was told that it runs, and it has failed.
 */
function nothingTaken(rows: SettlementRows): Meaning {
  if (isHeld(rows)) return { attempt: 'not_sent', payment: 'attempt_not_sent', reason: 'not_sent' };
  return { attempt: 'never_arrived', payment: 'attempt_never_arrived', reason: 'not_sent' };
}

/** Whether this payment's submit still holds the session: it has not answered yet. */
export function isHeld({ session, payment }: Pick<SettlementRows, 'session' | 'payment'>): boolean {
  return session?.status === 'ACTIVE' && session.submitting_payment_id === payment.id;
}

/** The attempt moves, and the payment with it; a session that is not consumed yet is, unless nothing was taken. */
export function move(rows: SettlementRows, meaning: Meaning, word: Word, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  const { now } = context;
  const next = step(ATTEMPT, attempt.status, meaning.attempt);
  if (next.kind !== 'moved') return { payment, attempt };
  const attemptRow = attemptColumns(attempt, next.to, meaning.reason, referenceIn(word), context);
  const columns = paymentColumns(meaning, attemptRow, rows);
  const moved = movePayment(payment, meaning.payment, meaning.reason, now, columns);
  const { payment: after, update } = moved ?? takeOver(payment, columns);
  const updates: Update[] = [updateAttempt(attempt, attemptRow), update];
  const inserts: Insert[] = [];
  const transfers: Transfer[] = [];
  if (moved !== undefined) {
    inserts.push(moved.history);
    if (after.completed_at !== null) inserts.push(eventOf(after, context));
  }
  if (next.to === 'approved') {
    const source = transitAccount(payment.shard, attempt.connector, payment.currency);
    transfers.push(...paymentTransfers(after, source, transferIds(payment.shard, context), now));
  }
  const session = sessionAfter(rows, meaning, context);
  return {
    change: { updates: updates.concat(session.updates), inserts: inserts.concat(session.inserts), transfers },
    payment: after,
    attempt: { ...attempt, ...attemptRow },
  };
}

/** A payment that stays as it is takes over method and fee all the same: from now on the upstream may have the order. */
function takeOver(payment: Payment, columns: PaymentColumns): Pick<Moved, 'update' | 'payment'> {
  const { shard, id, version } = payment;
  return {
    payment: { ...payment, ...columns, version: version + 1 },
    update: { table: 'payment', shard, id, version, row: columns },
  };
}

function referenceIn(word: Word): string | null {
  return 'providerReference' in word ? word.providerReference : null;
}

export function attemptColumns(
  attempt: Attempt,
  status: AttemptStatus,
  reason: Reason | 'late_success' | null,
  reference: string | null,
  context: SettlementContext,
) {
  const { now } = context;
  const inquiries = attempt.inquiries + (context.inquiry === 'due' ? 1 : 0);
  return {
    status,
    reason,
    provider_reference: reference ?? attempt.provider_reference,
    settled_at: isOpen(status) ? null : now,
    not_found_at: null,
    inquiries,
    next_inquiry_at: isOpen(status) ? nextLook(attempt, inquiries, context) : nextAfterthoughtAt(status, now, now),
    ...(attempt.challenge === null ? {} : { challenge: null }),
    ...context.authentication,
  };
}

function nextLook(attempt: Attempt, inquiries: number, { inquiry, now }: SettlementContext): number {
  return inquiry === 'hint' ? nextAfterHint(attempt, now) : nextInquiryAt(inquiries, now);
}

/**
 * What a payment takes over from its attempt: the method and its fee, once the upstream may have the order. Where
 * nothing was taken, the payment is as it was collected, and any method may be tried.
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
  };
}

const ENDS_AT_ONCE: ReadonlySet<PaymentFact> = new Set(['issuer_declined', 'customer_rejected', 'prompt_expired']);

/** Consumes the session that this payment holds, and ends its siblings; or gives it back when nothing was taken. */
function sessionAfter(
  rows: SettlementRows,
  meaning: Meaning,
  context: SettlementContext,
): { updates: Update[]; inserts: Insert[] } {
  const { session } = rows;
  if (session === undefined || !isHeld(rows)) return { updates: [], inserts: [] };
  // A card that ends at once without paying ends its payment, and leaves the session for another collect (contract §3).
  const endedAtOnce = rows.attempt.method === 'card' && ENDS_AT_ONCE.has(meaning.payment);
  if (endedAtOnce || meaning.payment === 'attempt_not_sent') {
    return { updates: [updateSession(session, { submitting_payment_id: null })], inserts: [] };
  }
  return consumeSession(rows, session, context);
}

/** Consumes a session for the payment that holds it, and ends the session's other open payments. */
export function consumeSession(
  rows: Pick<SettlementRows, 'payment' | 'sessionPayments'>,
  session: Session,
  context: Pick<SettlementContext, 'now' | 'newId'>,
): { updates: Update[]; inserts: Insert[] } {
  const { payment } = rows;
  const siblings = endSiblings(payment, rows.sessionPayments, context.now, context.newId);
  return { updates: [updateSession(session, { status: 'CONSUMED' }), ...siblings.updates], inserts: siblings.inserts };
}

/** What ends a consumed session's other open payments. */
export function endSiblings(
  payment: Payment,
  all: readonly Payment[],
  now: number,
  newId: SettlementContext['newId'],
): { updates: Update[]; inserts: Insert[] } {
  const updates: Update[] = [];
  const inserts: Insert[] = [];
  for (const sibling of siblingsOf(payment, all)) {
    const moved = movePayment(sibling, 'sibling_paid', 'sibling_paid', now);
    if (moved === undefined) continue;
    updates.push(moved.update);
    inserts.push(moved.history, {
      table: 'webhook_event',
      row: collectEvent(moved.payment, newId('evt', sibling.shard), now),
    });
  }
  return { updates, inserts };
}

/**
 * The upstream does not know the reference: proof of nothing until it says so twice, its settle delay apart, and for as
 * long as our own call may not even have reached it.
 */
function notFound(rows: SettlementRows, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  const { askedAt } = context;
  if (context.inquiry !== 'due' && isBeingAsked(attempt, askedAt)) return { payment, attempt };
  if (attempt.status === 'waiting') return { ...stillOpen(rows, context), alarm: 'contradiction' };
  if (attempt.not_found_at === null || askedAt - attempt.not_found_at < context.settleDelay) {
    const isFirst = attempt.not_found_at === null;
    return stillOpen(rows, context, isFirst ? { not_found_at: askedAt } : undefined);
  }
  return move(rows, { ...nothingTaken(rows), attempt: 'never_arrived' }, { kind: 'not_found' }, context);
}

/** Nobody could be asked. For a hint, that is made up for soon; a call that is under way keeps its time. */
function unanswered(rows: SettlementRows, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  if (context.inquiry === 'due') return stillOpen(rows, context);
  const next_inquiry_at = nextAfterHint(attempt, context.now);
  const keeps = isBeingAsked(attempt, context.now) || next_inquiry_at === attempt.next_inquiry_at;
  return keeps ? { payment, attempt } : afterwordOf(rows, { next_inquiry_at });
}

/** Nothing is new. Only an inquiry that was due is counted, and puts off the next one. */
function stillOpen(rows: SettlementRows, context: SettlementContext, row?: Partial<Attempt>): Settlement {
  const { attempt, payment } = rows;
  if (context.inquiry !== 'due') return row === undefined ? { payment, attempt } : afterwordOf(rows, row);
  const inquiries = attempt.inquiries + 1;
  const columns = { ...row, inquiries, next_inquiry_at: nextInquiryAt(inquiries, context.now) };
  return afterwordOf(rows, columns, isOverdue(inquiries) ? 'overdue' : undefined);
}

/**
 * The upstream speaks of an attempt that is closed, or that its payment has given up. The merchant keeps what it was
 * told. Money that came late goes to suspense, once, for an operator to give back; an order that was taken late is
 * asked about until it ends.
 */
function afterword(rows: SettlementRows, word: Word, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  if (word.kind === 'approved' && attempt.status !== 'approved') return lateSuccess(rows, word, context);
  if (word.kind === 'waiting' && attempt.status === 'not_sent') {
    const row = attemptColumns(attempt, 'waiting', null, word.providerReference, context);
    return afterwordOf(rows, row, 'late_acceptance');
  }
  if (isOpen(attempt.status)) {
    // Given up by its payment, and open again: only the attempt itself can still end.
    if (word.kind === 'declined') {
      return afterwordOf(rows, attemptColumns(attempt, 'declined', word.reason, word.providerReference, context));
    }
    return stillOpen(rows, context);
  }
  if (context.inquiry !== 'due' || attempt.next_inquiry_at === null) {
    const silent = word.kind !== 'declined' || attempt.status !== 'approved';
    return silent ? { payment, attempt } : { payment, attempt, alarm: 'contradiction' };
  }
  const next_inquiry_at = nextAfterthoughtAt(attempt.status, attempt.settled_at ?? context.now, context.now);
  return afterwordOf(rows, { inquiries: attempt.inquiries + 1, next_inquiry_at });
}

function lateSuccess(rows: SettlementRows, word: Word, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  const row = attemptColumns(attempt, 'approved', 'late_success', referenceIn(word), context);
  const transfer: Transfer = {
    shard: attempt.shard,
    id: context.newId('trf', attempt.shard),
    debit: transitAccount(attempt.shard, attempt.connector, attempt.currency),
    credit: suspenseAccount(attempt.shard, attempt.currency),
    amount_minor: attempt.amount_minor,
    currency: attempt.currency,
    cause: 'late_success',
    cause_id: payment.id,
    at: context.now,
  };
  const settled = afterwordOf(rows, row, 'late_success');
  return { ...settled, change: { ...settled.change, transfers: [transfer] } };
}

function afterwordOf(rows: SettlementRows, row: Partial<Attempt>, alarm?: Alarm): Settlement {
  const { attempt, payment } = rows;
  return {
    change: { updates: [updateAttempt(attempt, row)] },
    payment,
    attempt: { ...attempt, ...row },
    ...(alarm === undefined ? {} : { alarm }),
  };
}

function updateAttempt(attempt: Attempt, row: Partial<Attempt>): Update {
  return { table: 'attempt', shard: attempt.shard, id: attempt.id, version: attempt.version, row };
}

function eventOf(payment: Payment, context: SettlementContext): Insert {
  return { table: 'webhook_event', row: collectEvent(payment, context.newId('evt', payment.shard), context.now) };
}

function transferIds(shard: number, context: SettlementContext): [string, string] {
  return [context.newId('trf', shard), context.newId('trf', shard)];
}
