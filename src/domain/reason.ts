/**
 * Why a payment ended as it did, in our words. Stored with the payment, shown in `payment_info` and the timeline;
 * the sentence for people is in `messages/`.
 */

/** What an upstream's final "no" can mean, and the status each leads to (upstreams §12.1). */
export const DECLINE_STATUS = {
  insufficient_funds: 'failed',
  customer_rejected: 'cancelled',
  wrong_pin: 'failed',
  prompt_expired: 'expired',
  limit_reached: 'failed',
  payer_unknown: 'failed',
  // Of payouts: the number that should receive has no account, or one that takes no money.
  payee_unknown: 'failed',
  payee_blocked: 'failed',
  not_allowed: 'failed',
  carrier_failed: 'failed',
  card_declined: 'declined',
  card_funds: 'declined',
  card_expired: 'declined',
  authentication_failed: 'declined',
  authentication_cancelled: 'cancelled',
  challenge_expired: 'expired',
} as const satisfies Record<string, 'failed' | 'cancelled' | 'expired' | 'declined'>;

export type DeclineReason = keyof typeof DECLINE_STATUS;

/** Reasons that are no upstream's decline. */
const OTHER_REASONS = [
  'not_sent',
  // A card's form was none that could pay: no money was asked for.
  'form_unusable',
  // The card network was not asked for the money: it was away, or an earlier attempt may have paid.
  'not_asked',
  'session_expired',
  'sibling_paid',
  'carrier_timeout',
  'declined',
  'proof_declined',
  'proof_overdue',
  'settled_by_operator',
  // Payouts and refunds.
  'merchant_funds_missing',
  'wallet_unknown',
  'wallet_currency',
  'called_off',
  'refund_called_off',
] as const;

/** Every reason that the row of a payment, a payout line or a refund, or a timeline, can carry. */
export type Reason = DeclineReason | (typeof OTHER_REASONS)[number];

/** The `reason` of an attempt that was taken for turned away, and that its upstream calls taken, while its order waits for another. */
export const LATE_ACCEPTED = 'late_acceptance';
/** The `reason` of an attempt whose late money lies in suspense. */
export const LATE_WAITS = 'late_success';
/** And once it was booked to the merchant, or its order has been paid with it. */
export const LATE_KEPT = 'late_success_kept';
/** And once it was given back: to the payer by hand, or by the upstream. */
export const LATE_GIVEN_BACK = 'late_success_given_back';
/** And once the gateway has borne it. */
export const LATE_BORNE = 'late_success_borne';

/** What came late of an attempt, and where its money is. No payment, payout or refund carries it. */
export type LateReason =
  | typeof LATE_ACCEPTED
  | typeof LATE_WAITS
  | typeof LATE_KEPT
  | typeof LATE_GIVEN_BACK
  | typeof LATE_BORNE;

export const REASONS: readonly Reason[] = [...(Object.keys(DECLINE_STATUS) as DeclineReason[]), ...OTHER_REASONS];
