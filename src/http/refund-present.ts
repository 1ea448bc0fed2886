/**
 * Refunds in wire form (contract §9).
 *
 * Invariant: amounts that the merchant wrote are echoed byte for byte; no phone number is part of an answer.
 */

import { formatMinor } from '../domain/money.ts';
import { isTakenAfterAll } from '../domain/outgoing.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import { REASONS } from '../domain/reason.ts';
import { isByHand, type RefundRows } from '../domain/refund.ts';
import { type Language, say } from '../messages/messages.ts';
import { timestamp } from './present.ts';

/** The answer that is about one refund. */
export function presentRefund(rows: RefundRows, language: Language) {
  return { success: true, summary_code: 'lok000', ...presentListedRefund(rows, language) };
}

/** A refund in a list: what its own answer says, but for what is about the call. */
export function presentListedRefund({ refund, payment }: RefundRows, language: Language) {
  return {
    refund_id: refund.id,
    transaction_id: refund.payment_id,
    status: refund.status,
    message: sentenceOf(refund, language),
    amount: refund.amount,
    currency: refund.currency,
    method: refund.method,
    by_hand: isByHand(refund),
    reason: refund.note,
    failure: refund.status === 'failed' ? { code: refund.reason, message: reasonOf(refund, language) } : null,
    taken_after_all: isTakenAfterAll(refund),
    refunded_amount: formatMinor(payment.refunded_minor, payment.currency),
    provider_reference: refund.provider_reference,
    created_at: timestamp(refund.created_at),
    completed_at: timestamp(refund.completed_at),
  };
}

/** How a refund stands, in a sentence: what it waits for, or why it failed. */
function sentenceOf(refund: Refund, language: Language): string {
  const { status, reason } = refund;
  if (status === 'failed') {
    const key = isTakenAfterAll(refund) ? 'refund.taken_after_all' : 'refund.failed';
    return say(language, key, { reason: reasonOf(refund, language) });
  }
  if (status !== 'pending') return say(language, `refund.${status}`);
  if (isByHand(refund)) return say(language, 'refund.by_hand');
  return say(language, reason === null ? 'refund.pending' : 'refund.waiting');
}

function reasonOf(refund: Refund, language: Language): string {
  const reason = REASONS.find((known) => known === refund.reason);
  return reason === undefined ? '' : say(language, `reason.${reason}`);
}
