/**
 * What an upstream's answer does to an attempt that sends money out, and to its order: a payout line or a refund. One code path
 * for the answer to our own call, for a callback and for the inquiry round.
 *
 * Invariant: pure except for the ids that it is handed, and total. An order is paid once: the outcome of its last attempt is
 * applied to it. If another attempt turns out to have paid, that counts for the order while nothing else is in flight; otherwise
 * the money is booked to suspense, once. The order remembers such an attempt, so that nothing more is sent.
 */

import type { AttemptAnswer } from './answer.ts';
import { ATTEMPT, type AttemptFact, isOpen } from './attempt.ts';
import {
  type Alarm,
  attemptColumns,
  type Judgement,
  judgeAnswer,
  referenceIn,
  type SettlementContext,
} from './attempt-settlement.ts';
import { type Change, merged, revise, type Update } from './change.ts';
import { lateTransfer } from './ledger.ts';
import { StateConflict, step } from './machine.ts';
import type { PayoutLine, Refund } from './outgoing-records.ts';
import type { Reason } from './reason.ts';
import type { Attempt } from './records.ts';

/** What an upstream's answer means for an order that sends money out. */
export type OutgoingFact =
  | 'upstream_accepted'
  | 'upstream_silent'
  | 'upstream_paid'
  | 'upstream_refused'
  | 'attempt_not_taken';

/** An order (payout line or refund), as far as settling its attempts needs it. */
export interface Outgoing {
  /** The order's status, as its merchant reads it. */
  readonly status: string;
  /** Whether the order is open and this is its last attempt, be it in flight or waiting to be made again. */
  isItsOwn(attempt: Attempt): boolean;
  /** Whether the order waits to be sent, with nothing in flight: then it may continue with any attempt accepted after all. */
  readonly waits: boolean;
  /**
   * What the fact writes besides the attempt (given in its new state); undefined: nothing. It must handle every fact while the
   * order is under way, and `upstream_accepted` and `upstream_paid` while it waits for a retry: an upstream that was believed
   * not to have the order may have accepted it after all.
   */
  move(fact: OutgoingFact, reason: Reason | null, attempt: Attempt, context: SettlementContext): Change | undefined;
  /**
   * What the order records when an attempt (given in its new state) that is no longer waited for was accepted late, has paid,
   * or has ended unpaid; nothing if the order is already paid. If the attempt's status `hasMoved`, the order is written in any
   * case: the guard ensures that it still does not wait for this attempt.
   */
  noteLate(attempt: Attempt, hasMoved: boolean): readonly Update[];
}

/** Whether the fact says that the attempt has not paid, and will not. */
export function isNotPaid(fact: OutgoingFact): boolean {
  return fact === 'upstream_refused' || fact === 'attempt_not_taken';
}

/** What an answer writes, the attempt as it will be, and the alarm that it raises, if any. */
export interface OutgoingSettlement {
  readonly change?: Change;
  readonly attempt: Attempt;
  readonly alarm?: Alarm;
}

interface Meaning {
  readonly attempt: AttemptFact;
  readonly order: OutgoingFact;
  readonly reason: Reason | null;
}

/** Decides what an upstream's answer writes. */
export function settleOutgoing(
  attempt: Attempt,
  order: Outgoing,
  answer: AttemptAnswer,
  context: SettlementContext,
): OutgoingSettlement {
  const isItsOwn = order.isItsOwn(attempt);
  const meaning = { ...meaningOf(answer), ...(context.reason === undefined ? {} : { reason: context.reason }) };
  if (isTakenLate(attempt, order, answer)) {
    return { ...move(attempt, order, meaning, answer, context), alarm: 'late_acceptance' };
  }
  const judgement = judgeAnswer({ attempt, isItsOwn }, answer, meaning.attempt, context);
  return judgement.kind === 'moves'
    ? move(attempt, order, meaning, answer, context)
    : attemptOnly(attempt, order, judgement, context);
}

/**
 * Whether the attempt was accepted after all while nothing is in flight: the order continues with it, be it the last or an
 * earlier one.
 */
function isTakenLate({ status }: Attempt, { waits }: Outgoing, answer: AttemptAnswer): boolean {
  if (!waits) return false;
  if (answer.kind === 'approved') return status !== 'approved';
  return answer.kind === 'waiting' && (status === 'not_sent' || status === 'waiting');
}

function meaningOf(answer: AttemptAnswer): Meaning {
  switch (answer.kind) {
    case 'approved':
      return { attempt: 'confirmed', order: 'upstream_paid', reason: null };
    case 'waiting':
      return { attempt: 'accepted', order: 'upstream_accepted', reason: null };
    case 'declined':
    case 'challenge_failed':
      return { attempt: 'refused', order: 'upstream_refused', reason: answer.reason };
    case 'not_sent':
    case 'not_found':
      return { attempt: 'never_arrived', order: 'attempt_not_taken', reason: 'not_sent' };
    case 'unknown':
      return { attempt: 'silent', order: 'upstream_silent', reason: null };
  }
}

/** The attempt moves, and the order with it. */
function move(
  attempt: Attempt,
  order: Outgoing,
  meaning: Meaning,
  answer: AttemptAnswer,
  context: SettlementContext,
): OutgoingSettlement {
  const next = step(ATTEMPT, attempt.status, meaning.attempt);
  // Even an attempt that is open already may be the one that a waiting order continues with.
  if (next.kind !== 'moved' && !order.waits) return { attempt };
  const to = next.kind === 'moved' ? next.to : attempt.status;
  const row = attemptColumns(attempt, to, meaning.reason, referenceIn(answer), context);
  const { update, after } = revise('attempt', attempt, row);
  try {
    const change = order.move(meaning.order, meaning.reason, after, context);
    return {
      change: merged({ updates: [update] }, change),
      attempt: after,
    };
  } catch (error) {
    if (error instanceof StateConflict) return { attempt, alarm: 'contradiction' };
    throw error;
  }
}

/** The order keeps what its merchant was told. Money that left late is booked to suspense, with an alarm for an operator. */
function attemptOnly(
  attempt: Attempt,
  order: Outgoing,
  judgement: Exclude<Judgement, { kind: 'moves' }>,
  { now, newId }: SettlementContext,
): OutgoingSettlement {
  const { alarm } = judgement;
  const raised = alarm === undefined ? {} : { alarm };
  if (judgement.kind === 'nothing') return { attempt, ...raised };
  const { update, after } = revise('attempt', attempt, judgement.row);
  // The order's own attempt changes status here only if a commit came between the reads of order and attempt: then this change
  // loses.
  const hasMoved = judgement.row.status !== undefined;
  const late = order.isItsOwn(attempt) && !hasMoved ? [] : order.noteLate(after, hasMoved);
  const transfers =
    judgement.kind === 'late_money' ? [lateTransfer(attempt, 'out', newId('trf', attempt.shard), now)] : [];
  return { change: { updates: [update, ...late], transfers }, attempt: after, ...raised };
}

/** The columns by which orders of either kind remember late attempts. */
type Remembering = Pick<PayoutLine | Refund, 'status' | 'attempt_id' | 'late_attempt_id'>;

/**
 * Whether an order that was reported as failed was taken up after all: an upstream has paid it, or may still. Its merchant must not
 * pay it another way.
 */
export function isTakenAfterAll({ status, late_attempt_id: late }: Omit<Remembering, 'attempt_id'>): boolean {
  return status === 'failed' && late !== null;
}

/** The attempt that an order remembers, and all attempts of the order; both are empty if it remembers none. */
export interface Remembered {
  readonly late: Attempt | undefined;
  readonly all: readonly Attempt[];
}

/** For an order that remembers no attempt. */
export const NOTHING_REMEMBERED: Remembered = { late: undefined, all: [] };

/**
 * The attempt to remember instead of one that has ended, or that the order itself now waits for: another one that was accepted
 * and that is not the `waitedFor` one.
 */
function successor(known: string | null, waitedFor: string | null, { all }: Remembered): string | null {
  const next = all.find(({ id, status }) => isOpen(status) && id !== known && id !== waitedFor);
  return next?.id ?? null;
}

/**
 * What an order writes about an attempt that changed status although the order did not wait for it; undefined: nothing. It
 * remembers an accepted attempt until that ends unpaid, or a paid one, which takes precedence over one that is only waiting. A
 * remembered attempt that ended unpaid is replaced by another accepted one. If nothing changes, the order is written all the
 * same, so that concurrent decisions based on its attempts are made again. A failed order keeps its reference, as its merchant
 * reads it.
 */
export function lateColumns(order: Remembering, attempt: Attempt, remembered: Remembered, hasMoved: boolean) {
  if (order.status === 'completed') return undefined;
  const { id, status, provider_reference } = attempt;
  const known = order.late_attempt_id;
  const isKnown = known === id;
  if (status === 'approved') {
    if (known !== null && !isKnown && remembered.late?.status !== 'waiting') return { late_attempt_id: known };
    return { late_attempt_id: id, ...(order.status === 'failed' ? {} : { provider_reference }) };
  }
  if (isOpen(status)) return { late_attempt_id: known ?? id };
  // Written all the same: since it was read, the order may have started to wait for this attempt, or to remember it.
  if (known === null) return hasMoved ? { late_attempt_id: null } : undefined;
  if (!isKnown) return { late_attempt_id: known };
  // A failed order does not wait for its last attempt: it may have been called off after the upstream had turned that attempt
  // away.
  const waitedFor = order.status === 'failed' ? null : order.attempt_id;
  return { late_attempt_id: successor(known, waitedFor, remembered) };
}

/** What `lateColumns` writes of an order. */
export type LateColumns = ReturnType<typeof lateColumns>;

/** What an order does next when its attempt has not paid and it remembers another one. */
export type Onward =
  /** The order waits for the remembered attempt from now on. */
  | { readonly kind: 'waits'; readonly row: Partial<Remembering & Pick<Attempt, 'provider_reference'>> }
  /** The remembered attempt has paid. */
  | { readonly kind: 'paid'; readonly by: Attempt };

/**
 * What happens to an order when the attempt that it waited for has not paid. Only a remembered attempt that has certainly paid
 * completes it; if that one ended otherwise just after it was read, the order's version has changed with it, and this change
 * loses.
 */
export function onward(order: Remembering, remembered: Remembered): Onward {
  const { late } = remembered;
  if (late === undefined) throw new Error('what an order remembers has to be read before it is decided on');
  if (late.status === 'approved') return { kind: 'paid', by: late };
  const { id: attempt_id, provider_reference } = late;
  const late_attempt_id = successor(late.id, order.attempt_id, remembered);
  return { kind: 'waits', row: { attempt_id, late_attempt_id, provider_reference } };
}
