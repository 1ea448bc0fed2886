/**
 * What a submit answers for a payment that it has ended or left open, by any method.
 *
 * Invariant: only a card is refused at once; every other payment is answered as it is, except that a mobile-money submit never
 * answers that the payment is paid.
 */

import { isPaid } from '../domain/payment.ts';
import type { Reason } from '../domain/reason.ts';
import type { Payment } from '../domain/records.ts';
import { type DetailCode, Refusal } from '../domain/refusal.ts';
import type { Submitted } from '../domain/submission.ts';
import type { Decision } from './perform.ts';

/** Answers the payment, or refuses with 1502 for a card that was declined. */
export function outcomeOf(payment: Payment): Decision<Submitted> {
  const known = payment.reason === null ? undefined : DECLINED[payment.reason];
  if (known === undefined && payment.status !== 'declined') return { answer: { payment: asSubmitted(payment) } };
  const code = known ?? 'CARD_DECLINED';
  return { refusal: new Refusal(1502, { transactionId: payment.id, details: [{ field: 'session_id', code }] }) };
}

/**
 * A mobile-money payment as its submit answers it: at most `processing`. A carrier that was slow to answer may have called back
 * before, but an approval is reported by status and webhook, never by a submit (specification, States: processing).
 */
export function asSubmitted(payment: Payment): Payment {
  return isPaid(payment) && payment.method === 'mobile_money'
    ? { ...payment, status: 'processing', completed_at: null }
    : payment;
}

const DECLINED: { readonly [reason in Reason]?: DetailCode } = {
  card_declined: 'CARD_DECLINED',
  card_funds: 'CARD_FUNDS',
  card_expired: 'CARD_EXPIRED',
  authentication_failed: 'AUTHENTICATION_FAILED',
  authentication_cancelled: 'AUTHENTICATION_FAILED',
  challenge_expired: 'AUTHENTICATION_FAILED',
};
