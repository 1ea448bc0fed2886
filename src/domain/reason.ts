/**
 * Why a payment ended as it did, in our words. Stored with the payment, shown in `payment_info` and the timeline;
 * the sentence for people is in `messages/`.
 */

import type { PaymentStatus } from './records.ts';

/** What an upstream's final "no" can mean, and the status each leads to (upstreams §12.1). */
export const DECLINE_STATUS = {
  insufficient_funds: 'failed',
  customer_rejected: 'cancelled',
  wrong_pin: 'failed',
  prompt_expired: 'expired',
  limit_reached: 'failed',
  payer_unknown: 'failed',
  not_allowed: 'failed',
  carrier_failed: 'failed',
  card_declined: 'declined',
  card_funds: 'declined',
  card_expired: 'declined',
  authentication_failed: 'declined',
  authentication_cancelled: 'cancelled',
  challenge_expired: 'expired',
} as const satisfies Record<string, PaymentStatus>;

export type DeclineReason = keyof typeof DECLINE_STATUS;

/** Every reason a payment's row or timeline can carry. */
export type Reason =
  | DeclineReason
  | 'not_sent'
  | 'session_expired'
  | 'sibling_paid'
  | 'carrier_timeout'
  | 'declined'
  | 'proof_declined'
  | 'proof_overdue'
  | 'settled_by_operator';
