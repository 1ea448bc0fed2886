/**
 * Why a payment ended as it did, in our words. Stored with the payment, shown in `payment_info` and the timeline; the sentence
 * for people is in `messages/`.
 */

/** What an upstream's decline can mean, and the status to which each reason leads (upstreams §12.1). */
export const DECLINE_STATUS = {
  insufficient_funds: 'failed',
  customer_rejected: 'cancelled',
  wrong_pin: 'failed',
  prompt_expired: 'expired',
  limit_reached: 'failed',
  payer_unknown: 'failed',
  // Payouts only: the receiving number has no account, or one that cannot receive money.
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

/** Why an upstream declined. */
export type DeclineReason = keyof typeof DECLINE_STATUS;

/** Reasons other than an upstream's decline. */
const OTHER_REASONS = [
  'not_sent',
  // The card form could not be used to pay: no money was requested.
  'form_unusable',
  // The card network was not asked for the money: it was unavailable, or an earlier attempt may have paid.
  'not_asked',
  'session_expired',
  'sibling_paid',
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

/**
 * The `reason` of an attempt that was believed not sent but that its upstream reports as accepted, while its order no longer
 * waits for it.
 */
export const LATE_ACCEPTED = 'late_acceptance';
/** The `reason` of an attempt whose late money lies in suspense. */
export const LATE_WAITS = 'late_success';
/** The `reason` of an attempt whose late money was booked to the merchant, or has paid its order. */
export const LATE_KEPT = 'late_success_kept';
/** The `reason` of an attempt whose late money was given back: to the payer by hand, or by the upstream. */
export const LATE_GIVEN_BACK = 'late_success_given_back';
/** The `reason` of an attempt whose late money the gateway has borne. */
export const LATE_BORNE = 'late_success_borne';

/** What happened late to an attempt, and where its money is. Payments, payouts and refunds never carry it. */
export type LateReason =
  | typeof LATE_ACCEPTED
  | typeof LATE_WAITS
  | typeof LATE_KEPT
  | typeof LATE_GIVEN_BACK
  | typeof LATE_BORNE;

/** All reasons that the row of a payment, a payout line or a refund can carry. */
export const REASONS: readonly Reason[] = [...(Object.keys(DECLINE_STATUS) as DeclineReason[]), ...OTHER_REASONS];
