/**
 * A payment's life: its states, and what moving between them writes.
 *
 * Invariant: a final status never changes again, except that an approved payment may become refunded (contract §4).
 * Every move writes the status, the time when final, and one line of the timeline, in one change.
 */

import { type Insert, revise, type Update } from './change.ts';
import { type Machine, StateConflict, step } from './machine.ts';
import { DECLINE_STATUS, type DeclineReason, type Reason } from './reason.ts';
import type { Payment, PaymentMethod, PaymentStatus } from './records.ts';
import { Refusal } from './refusal.ts';

/** All payment methods, in the order in which the API lists them. */
export const PAYMENT_METHODS: readonly PaymentMethod[] = [
  'wallet',
  'mobile_money',
  'card',
  'flash',
  'bank_transfer',
  'google_pay',
  'apple_pay',
];

const PAYMENT_FACTS = [
  'account_debited',
  'code_asked',
  'code_confirmed',
  'attempt_intended',
  'attempt_not_sent',
  'attempt_never_arrived',
  'upstream_accepted',
  'upstream_silent',
  'upstream_confirmed',
  'upstream_failed',
  'customer_rejected',
  'prompt_expired',
  'issuer_declined',
  'transfer_promised',
  'proof_uploaded',
  'proof_approved',
  'proof_declined',
  'proof_overdue',
  'sibling_paid',
  'session_expired',
  'refunded_in_full',
] as const;
/** What can happen to a payment, as input to its state machine. */
export type PaymentFact = (typeof PAYMENT_FACTS)[number];

/** The states of a payment (contract §4). A final one changes no more, except that approved may become refunded. */
export const PAYMENT: Machine<PaymentStatus, PaymentFact> = {
  name: 'payment',
  initial: 'pending',
  final: ['approved', 'declined', 'failed', 'cancelled', 'expired', 'refunded'],
  facts: PAYMENT_FACTS,
  table: {
    pending: {
      account_debited: 'approved',
      code_asked: 'pending_otp_verification',
      attempt_intended: 'processing',
      transfer_promised: 'pendingBankProofUpload',
      sibling_paid: 'cancelled',
      session_expired: 'expired',
      // An attempt that was believed not to have reached the carrier was accepted after all.
      upstream_accepted: 'pending_mobile_money_verification',
      // Native pay: the token came with the collect, so the card network is called while the payment is pending.
      attempt_never_arrived: 'failed',
      upstream_silent: 'pending',
      upstream_confirmed: 'approved',
      upstream_failed: 'failed',
      customer_rejected: 'cancelled',
      issuer_declined: 'declined',
    },
    processing: {
      attempt_not_sent: 'pending',
      attempt_never_arrived: 'failed',
      upstream_accepted: 'pending_mobile_money_verification',
      upstream_silent: 'processing',
      upstream_confirmed: 'approved',
      upstream_failed: 'failed',
      customer_rejected: 'cancelled',
      prompt_expired: 'expired',
      issuer_declined: 'declined',
      proof_uploaded: 'processing',
      proof_approved: 'approved',
      proof_declined: 'declined',
    },
    pending_mobile_money_verification: {
      attempt_never_arrived: 'failed',
      upstream_accepted: 'pending_mobile_money_verification',
      upstream_silent: 'pending_mobile_money_verification',
      upstream_confirmed: 'approved',
      upstream_failed: 'failed',
      customer_rejected: 'cancelled',
      prompt_expired: 'expired',
    },
    pending_otp_verification: { code_confirmed: 'approved', session_expired: 'expired' },
    pendingBankProofUpload: { proof_uploaded: 'processing', proof_overdue: 'expired' },
    approved: { upstream_confirmed: 'approved', proof_approved: 'approved', refunded_in_full: 'refunded' },
    declined: { issuer_declined: 'declined', proof_declined: 'declined' },
    failed: { upstream_failed: 'failed', attempt_never_arrived: 'failed' },
    cancelled: { customer_rejected: 'cancelled', sibling_paid: 'cancelled' },
    expired: { prompt_expired: 'expired', session_expired: 'expired', proof_overdue: 'expired' },
    refunded: { upstream_confirmed: 'refunded', refunded_in_full: 'refunded' },
  },
};

/** Whether a payment has ended (contract §4). An approved one may still become refunded. */
export function isFinal(status: PaymentStatus): boolean {
  return PAYMENT.final.includes(status);
}

/** Whether a payment's money has come, even if it was given back since. */
export function isPaid({ status }: Pick<Payment, 'status'>): boolean {
  return status === 'approved' || status === 'refunded';
}

/** Whether nothing has been tried since the payment was collected. */
export function isUntried({ version }: Pick<Payment, 'version'>): boolean {
  return version === 1;
}

/** The fact that an upstream's decline amounts to. */
export function factOfDecline(reason: DeclineReason): PaymentFact {
  const status = DECLINE_STATUS[reason];
  if (status === 'cancelled') return 'customer_rejected';
  if (status === 'declined') return 'issuer_declined';
  return status === 'expired' ? 'prompt_expired' : 'upstream_failed';
}

/** Columns that a move may set besides those that it sets by itself. */
export type PaymentColumns = Partial<
  Omit<Payment, 'shard' | 'id' | 'version' | 'status' | 'reason' | 'completed_at' | 'events'>
>;

/** What moving a payment writes. All of it must be part of one change. */
export interface Moved {
  /** The payment as it will be once the change has committed. */
  readonly payment: Payment;
  readonly update: Update;
  readonly history: Insert;
}

/**
 * Moves a payment by a fact: the guarded update, the timeline entry, and the payment as it will be.
 *
 * A repeated fact returns undefined and writes nothing, not even `columns`. A fact that contradicts the state throws
 * `StateConflict`. The caller must write the event of a payment that becomes final: `events` is incremented here for it.
 */
export function movePayment(
  payment: Payment,
  fact: PaymentFact,
  reason: Reason | null,
  now: number,
  columns: PaymentColumns = {},
): Moved | undefined {
  const next = step(PAYMENT, payment.status, fact);
  if (next.kind === 'repeated') return undefined;
  if (next.kind === 'conflict') throw new StateConflict('payment', payment, fact);
  const done = isFinal(next.to);
  const row = {
    status: next.to,
    reason,
    completed_at: done ? now : null,
    events: done ? payment.events + 1 : payment.events,
    ...usualColumns(payment),
    ...columns,
  };
  const { update, after } = revise('payment', payment, row);
  return {
    payment: after,
    update,
    history: {
      table: 'payment_history',
      row: { shard: payment.shard, payment_id: payment.id, version: after.version, status: next.to, reason, at: now },
    },
  };
}

/**
 * Moves a payment by a fact that nobody can have stated before: what `movePayment` does, for a step that is decided on the state.
 *
 * @throws StateConflict also when the fact repeats what is known
 */
export function advancePayment(
  payment: Payment,
  fact: PaymentFact,
  reason: Reason | null,
  now: number,
  columns?: PaymentColumns,
): Moved {
  const moved = movePayment(payment, fact, reason, now, columns);
  if (moved === undefined) throw new StateConflict('payment', payment, fact);
  return moved;
}

/**
 * The columns that every move writes besides the status, changed or not, so that the moves of a batch are one statement (there is
 * one per set of columns). The version guard ensures that unchanged values are still those that were read.
 */
function usualColumns({
  method,
  fee_minor,
  total_minor,
  msisdn,
  carrier,
  provider_reference,
  attempt_id,
  submitted_at,
}: Payment): PaymentColumns {
  return { method, fee_minor, total_minor, msisdn, carrier, provider_reference, attempt_id, submitted_at };
}

/** Refuses a step of a payment whose time is over, even if no round has expired it yet (1205). */
export function requireInTime(payment: Payment, now: number): void {
  if (payment.expires_at <= now) throw refuseState({ ...payment, status: 'expired' });
}

/** Refuses a step that the payment's state does not allow; the message names the state (1205). `field` names the payment. */
export function refuseState(payment: Payment, field = 'payment_id'): Refusal {
  return new Refusal(1205, {
    transactionId: payment.id,
    words: { state: payment.status },
    details: [{ field, code: 'STATE', words: { state: payment.status } }],
  });
}

/** The specification's mobile money vocabulary (contract §4). */
export function mobileMoneyStatus(
  status: PaymentStatus,
): 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' {
  switch (status) {
    case 'pending':
      return 'pending';
    case 'approved':
    case 'refunded':
      return 'completed';
    case 'cancelled':
      return 'cancelled';
    case 'declined':
    case 'failed':
    case 'expired':
      return 'failed';
    default:
      return 'processing';
  }
}
