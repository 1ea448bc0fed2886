/**
 * What an upstream's word does to an attempt, its payment and its session: one way through for the answer to our own
 * call, for a callback and for the inquiry round.
 *
 * Invariant: pure, and total. Every answer in every state gives a change, or nothing, or an alarm; never an exception.
 * An approved payment's money, fee and event commit with its status.
 */

import { ATTEMPT, type AttemptFact, isOpen, nextInquiryAt } from './attempt.ts';
import type { Change, Insert, Transfer, Update } from './change.ts';
import type { Prefix } from './ids.ts';
import { paymentTransfers, suspenseAccount, transitAccount } from './ledger.ts';
import { step } from './machine.ts';
import { factOfDecline, movePayment, type PaymentColumns, type PaymentFact, StateConflict } from './payment.ts';
import type { DeclineReason, Reason } from './reason.ts';
import type { Attempt, Payment, Session } from './records.ts';
import { siblingsOf, updateSession } from './session.ts';
import { collectEvent } from './webhook.ts';

/** What an upstream said of an attempt; the words of `connectors/connector.ts`. */
export type Word =
  | { readonly kind: 'approved' | 'waiting'; readonly providerReference: string | null }
  | { readonly kind: 'declined'; readonly reason: DeclineReason; readonly providerReference: string | null }
  | { readonly kind: 'not_sent' | 'unknown'; readonly reason: string }
  | { readonly kind: 'not_found' };

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
  /** Milliseconds after which a second `not_found` proves that nothing was taken. */
  readonly settleDelay: number;
  readonly newId: (prefix: Prefix, shard: number) => string;
  /** Whether this word answers an inquiry, which counts and sets the next one. */
  readonly inquiry: boolean;
}

/** Something that a person must look at; logged as an error, and counted. */
export type Alarm = 'late_success' | 'contradiction';

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
  const { attempt } = rows;
  if (word.kind === 'not_found' && isOpen(attempt.status)) return notFound(rows, context);
  const meaning = meaningOf(word);
  const next = step(ATTEMPT, attempt.status, meaning.attempt);
  if (next.kind === 'conflict') return contradiction(rows, meaning.attempt, context);
  if (next.kind === 'repeated') {
    return isOpen(attempt.status) && context.inquiry ? stillOpen(rows, context) : { payment: rows.payment, attempt };
  }
  return move(rows, meaning, word, context);
}

function meaningOf(word: Word): Meaning {
  switch (word.kind) {
    case 'approved':
      return { attempt: 'confirmed', payment: 'carrier_confirmed', reason: null };
    case 'waiting':
      return { attempt: 'accepted', payment: 'carrier_accepted', reason: null };
    case 'declined':
      return { attempt: 'refused', payment: factOfDecline(word.reason), reason: word.reason };
    case 'not_sent':
      return { attempt: 'not_sent', payment: 'attempt_not_sent', reason: 'not_sent' };
    case 'unknown':
    case 'not_found':
      return { attempt: 'silent', payment: 'carrier_silent', reason: null };
  }
}

/** The attempt moves, and the payment with it; a session that is not consumed yet is, unless nothing was taken. */
function move(rows: SettlementRows, meaning: Meaning, word: Word, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  const { now } = context;
  const next = step(ATTEMPT, attempt.status, meaning.attempt);
  if (next.kind !== 'moved') return { payment, attempt };
  const reference = 'providerReference' in word ? word.providerReference : null;
  const settled = !isOpen(next.to);
  const attemptRow = {
    status: next.to,
    reason: meaning.reason,
    provider_reference: reference ?? attempt.provider_reference,
    settled_at: settled ? now : null,
    not_found_at: null,
    inquiries: attempt.inquiries + (context.inquiry ? 1 : 0),
    next_inquiry_at: nextInquiryAt(attempt.inquiries + (context.inquiry ? 1 : 0), now),
  };
  const columns: PaymentColumns = {
    ...(reference === null ? {} : { provider_reference: reference }),
    ...(meaning.payment === 'attempt_not_sent' ? { attempt_id: null, submitted_at: null } : {}),
  };
  const moved = movePayment(payment, meaning.payment, meaning.reason, now, columns);
  const updates: Update[] = [updateAttempt(attempt, attemptRow)];
  const inserts: Insert[] = [];
  const transfers: Transfer[] = [];
  const after = moved?.payment ?? payment;
  if (moved !== undefined) {
    updates.push(moved.update);
    inserts.push(moved.history);
    if (after.completed_at !== null) inserts.push(eventOf(after, context));
  }
  if (next.to === 'approved') {
    const source = transitAccount(payment.shard, attempt.connector, payment.currency);
    transfers.push(...paymentTransfers(after, source, transferIds(payment.shard, context), now));
  }
  const session = sessionAfter(rows, meaning, context);
  updates.push(...session.updates);
  inserts.push(...session.inserts);
  return { change: { updates, inserts, transfers }, payment: after, attempt: { ...attempt, ...attemptRow } };
}

/** Consumes the session that this payment holds, and ends its siblings; or gives it back when nothing was taken. */
function sessionAfter(
  rows: SettlementRows,
  meaning: Meaning,
  context: SettlementContext,
): { updates: Update[]; inserts: Insert[] } {
  const { session, payment } = rows;
  const holds = session?.status === 'ACTIVE' && session.submitting_payment_id === payment.id;
  if (session === undefined || !holds) return { updates: [], inserts: [] };
  if (meaning.payment === 'attempt_not_sent') {
    return { updates: [updateSession(session, { submitting_payment_id: null })], inserts: [] };
  }
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

/** The upstream does not know the reference: proof of nothing until it says so twice, its settle delay apart. */
function notFound(rows: SettlementRows, context: SettlementContext): Settlement {
  const { attempt, session, payment } = rows;
  const { now } = context;
  if (attempt.status === 'waiting') return { ...stillOpen(rows, context), alarm: 'contradiction' };
  if (attempt.not_found_at === null || now - attempt.not_found_at < context.settleDelay) {
    return stillOpen(rows, context, { not_found_at: attempt.not_found_at ?? now });
  }
  // Where the submit never answered, the payment goes back to the customer; where it did, the customer was told it runs.
  const unanswered = session?.status === 'ACTIVE' && session.submitting_payment_id === payment.id;
  const meaning: Meaning = unanswered
    ? { attempt: 'never_arrived', payment: 'attempt_not_sent', reason: 'not_sent' }
    : { attempt: 'never_arrived', payment: 'attempt_never_arrived', reason: 'not_sent' };
  return move(rows, meaning, { kind: 'not_found' }, context);
}

function stillOpen(rows: SettlementRows, context: SettlementContext, row: Partial<Attempt> = {}): Settlement {
  const { attempt, payment } = rows;
  const inquiries = attempt.inquiries + 1;
  const columns = { ...row, inquiries, next_inquiry_at: nextInquiryAt(inquiries, context.now) };
  return { change: { updates: [updateAttempt(attempt, columns)] }, payment, attempt: { ...attempt, ...columns } };
}

/**
 * The upstream contradicts what it said before. Money that arrives after the merchant was told "no" goes to suspense,
 * once, for an operator to give back; anything else is only an alarm.
 */
function contradiction(rows: SettlementRows, fact: AttemptFact, context: SettlementContext): Settlement {
  const { attempt, payment } = rows;
  if (fact !== 'confirmed' || isOpen(attempt.status)) return { payment, attempt, alarm: 'contradiction' };
  const row = { status: 'approved', reason: 'late_success', settled_at: context.now } as const;
  const transfer: Transfer = {
    shard: payment.shard,
    id: context.newId('trf', payment.shard),
    debit: transitAccount(payment.shard, attempt.connector, payment.currency),
    credit: suspenseAccount(payment.shard, payment.currency),
    amount_minor: payment.total_minor,
    currency: payment.currency,
    cause: 'late_success',
    cause_id: payment.id,
    at: context.now,
  };
  return {
    change: { updates: [updateAttempt(attempt, row)], transfers: [transfer] },
    payment,
    attempt: { ...attempt, ...row },
    alarm: 'late_success',
  };
}

function updateAttempt(attempt: Attempt, row: Extract<Update, { table: 'attempt' }>['row']): Update {
  return { table: 'attempt', shard: attempt.shard, id: attempt.id, version: attempt.version, row };
}

function eventOf(payment: Payment, context: SettlementContext): Insert {
  return { table: 'webhook_event', row: collectEvent(payment, context.newId('evt', payment.shard), context.now) };
}

function transferIds(shard: number, context: SettlementContext): [string, string] {
  return [context.newId('trf', shard), context.newId('trf', shard)];
}
