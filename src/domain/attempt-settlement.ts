/**
 * What an upstream's answer means for an attempt, whatever the attempt moves money for: what silence proves, what "not found"
 * proves, and which answers still count for a closed attempt.
 *
 * Invariant: pure and total. Only the attempt is decided here; its order (a payment, payout line or refund) moves with it, or
 * stays as it is.
 */

import type { AttemptAnswer } from './answer.ts';
import {
  ATTEMPT,
  type AttemptFact,
  isBeingAsked,
  isOpen,
  isOverdue,
  mayStillPay,
  nextAfterHint,
  nextAfterthoughtAt,
  nextAfterthoughtInVain,
  nextInquiryAt,
} from './attempt.ts';
import type { DecisionContext } from './change.ts';
import { step } from './machine.ts';
import { LATE_ACCEPTED, LATE_WAITS, type LateReason, type Reason } from './reason.ts';
import type { Attempt, AttemptStatus } from './records.ts';

/** What triggered the inquiry: the inquiry round, when due; or a callback or a reader, at any time. */
export type Inquired = 'due' | 'hint';

/** What an attempt's settlement depends on besides its rows. */
export interface SettlementContext extends DecisionContext {
  /** When the upstream was asked: its answer describes the state at that time, however late it arrives. */
  readonly askedAt: number;
  /** Milliseconds after which a second `not_found` proves that nothing was taken. */
  readonly settleDelayMs: number;
  /**
   * Why the upstream was asked; false: this answers our own call. Only inquiries that were `due` are counted and postpone the
   * next one.
   */
  readonly inquiry: Inquired | false;
  /** What was learnt about a card customer's authentication on the way to this answer. */
  readonly threeDs?: Pick<Attempt, 'three_ds_status' | 'eci'> | undefined;
  /** Why it was settled, if the answer alone does not say. */
  readonly reason?: Reason | undefined;
}

/** Something that a person must look at; logged as an error, and counted. */
export type Alarm = 'late_success' | 'late_acceptance' | 'contradiction' | 'overdue';

/** The columns of an attempt that an upstream's answer may update. */
export type AttemptColumns = Partial<
  Omit<Attempt, 'shard' | 'id' | 'version' | 'merchant_id' | 'purpose' | 'payment_id' | 'created_at'>
>;

/** What an answer does to an attempt. */
export type Judgement =
  /** The attempt moves, and its order moves with it. */
  | { readonly kind: 'moves' }
  /** Only the attempt's row changes. */
  | { readonly kind: 'noted'; readonly row: AttemptColumns; readonly alarm?: Alarm }
  /** Money has moved that no order waits for any more: it is booked to suspense, once. */
  | { readonly kind: 'late_money'; readonly row: AttemptColumns; readonly alarm: 'late_success' }
  | { readonly kind: 'nothing'; readonly alarm?: Alarm };

/** The judgement of an answer that moves neither the attempt nor money. */
type Unmoved = Extract<Judgement, { kind: 'noted' | 'nothing' }>;

interface Concerned {
  readonly attempt: Attempt;
  /** The attempt's order is open, and waits for this attempt. */
  readonly isItsOwn: boolean;
}

/** Weighs an answer. `fact` is what the answer means for an open attempt. */
export function judgeAnswer(
  { attempt, isItsOwn }: Concerned,
  answer: AttemptAnswer,
  fact: AttemptFact,
  context: SettlementContext,
): Judgement {
  // Closed, or no longer the attempt that its order waits for: the answer cannot change the order.
  if (!isOpen(attempt.status) || !isItsOwn) return afterClosing(attempt, answer, context);
  if (answer.kind === 'not_found') return notFound(attempt, context);
  // An unanswered inquiry says nothing about our own call, which may not even have been made.
  if (context.inquiry !== false && answer.kind === 'unknown') return lookAgain(attempt, context);
  const next = step(ATTEMPT, attempt.status, fact);
  if (next.kind === 'conflict') return { kind: 'nothing', alarm: 'contradiction' };
  return next.kind === 'repeated' ? stillOpen(attempt, context) : { kind: 'moves' };
}

/** The columns of an attempt after an answer, whether it moves or stays where it is. */
export function attemptColumns(
  attempt: Attempt,
  status: AttemptStatus,
  reason: Reason | LateReason | null,
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
    next_inquiry_at: isOpen(status)
      ? nextLook(attempt, inquiries, context)
      : nextAfterthoughtAt({ status, reason }, now, now),
    ...(attempt.challenge === null ? {} : { challenge: null }),
    ...context.threeDs,
  };
}

/** The upstream's own reference, if the answer carries one. */
export function referenceIn(answer: AttemptAnswer): string | null {
  return 'providerReference' in answer ? answer.providerReference : null;
}

function nextLook(attempt: Attempt, inquiries: number, { inquiry, now }: SettlementContext): number {
  return inquiry === 'hint' ? nextAfterHint(attempt, now) : nextInquiryAt(inquiries, now);
}

/**
 * The upstream does not know the reference. That proves nothing until it says so twice, at least its settle delay apart, and
 * not while our own call may still be on its way.
 */
function notFound(attempt: Attempt, context: SettlementContext): Judgement {
  const { askedAt } = context;
  if (context.inquiry !== 'due' && isBeingAsked(attempt, askedAt)) return { kind: 'nothing' };
  if (attempt.status === 'waiting') return { ...stillOpen(attempt, context), alarm: 'contradiction' };
  if (attempt.not_found_at === null) return stillOpen(attempt, context, { not_found_at: askedAt });
  if (askedAt - attempt.not_found_at < context.settleDelayMs) return stillOpen(attempt, context);
  return { kind: 'moves' };
}

/**
 * The upstream could not be asked, or its answer is left for another attempt of the payment to discover. A due inquiry
 * schedules the next one as usual; after a hint, the next one is brought forward, unless our own call may still be under way.
 */
export function lookAgain(attempt: Attempt, context: SettlementContext): Unmoved {
  const { inquiry, now, threeDs } = context;
  if (inquiry === 'due') return stillOpen(attempt, context, threeDs);
  const next_inquiry_at = nextAfterHint(attempt, now);
  const keeps = isBeingAsked(attempt, now) || next_inquiry_at === attempt.next_inquiry_at;
  if (keeps) return threeDs === undefined ? { kind: 'nothing' } : { kind: 'noted', row: threeDs };
  return { kind: 'noted', row: { next_inquiry_at, ...threeDs } };
}

/** Nothing has changed. Only a due inquiry is counted, and postpones the next one. */
function stillOpen(attempt: Attempt, context: SettlementContext, row?: AttemptColumns): Unmoved {
  if (context.inquiry !== 'due') return row === undefined ? { kind: 'nothing' } : { kind: 'noted', row };
  const inquiries = attempt.inquiries + 1;
  const columns = { ...row, inquiries, next_inquiry_at: nextInquiryAt(inquiries, context.now) };
  return { kind: 'noted', row: columns, ...(isOverdue(inquiries) ? { alarm: 'overdue' as const } : {}) };
}

/**
 * An answer about an attempt that is closed, or that its order no longer waits for. The merchant keeps what it was told. Money
 * that moved late is booked to suspense, once, for an operator; an attempt that was accepted late is inquired about until it
 * ends.
 */
function afterClosing(attempt: Attempt, answer: AttemptAnswer, context: SettlementContext): Judgement {
  if (answer.kind === 'approved' && attempt.status !== 'approved') {
    const row = attemptColumns(attempt, 'approved', LATE_WAITS, answer.providerReference, context);
    return { kind: 'late_money', row, alarm: 'late_success' };
  }
  if (answer.kind === 'waiting' && attempt.status === 'not_sent') {
    const row = attemptColumns(attempt, 'waiting', LATE_ACCEPTED, answer.providerReference, context);
    return { kind: 'noted', row, alarm: 'late_acceptance' };
  }
  if (isOpen(attempt.status)) {
    // Open, although its order no longer waits for it: only the attempt itself can still end.
    if (answer.kind !== 'declined') return stillOpen(attempt, context);
    return {
      kind: 'noted',
      row: attemptColumns(attempt, 'declined', answer.reason, answer.providerReference, context),
    };
  }
  if (context.inquiry === 'hint' && answer.kind === 'unknown' && mayStillPay(attempt))
    return lookAgain(attempt, context);
  if (context.inquiry !== 'due' || attempt.next_inquiry_at === null) {
    const contradicts = answer.kind === 'declined' && attempt.status === 'approved';
    return contradicts ? { kind: 'nothing', alarm: 'contradiction' } : { kind: 'nothing' };
  }
  const isInVain = answer.kind === 'unknown' || answer.kind === 'waiting';
  const next = isInVain ? nextAfterthoughtInVain : nextAfterthoughtAt;
  const next_inquiry_at = next(attempt, attempt.settled_at ?? context.now, context.now);
  return { kind: 'noted', row: { inquiries: attempt.inquiries + 1, next_inquiry_at } };
}
