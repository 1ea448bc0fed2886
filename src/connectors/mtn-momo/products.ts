/**
 * MTN's two products, money in (Collections) and money out (Disbursements): one API, and what differs between the two.
 *
 * Invariant: a term has a meaning in each direction. What concerns our own account at MTN is never reported to a payer, a
 * receiver or a merchant as if it were theirs.
 */

import type { LastingRefusal } from '../../domain/answer.ts';
import type { DeclineReason } from '../../domain/reason.ts';

/**
 * What a refusal before anything was accepted means: the order may be sent again later (`not_sent`), is refused for a lasting
 * reason, or is finally declined.
 */
type Refusal = 'not_sent' | LastingRefusal | PayoutDecline;

/** Only a transfer is declined at once: a payer is present, and may try again by another number or method. */
type PayoutDecline = 'carrier_failed' | 'payee_unknown' | 'payee_blocked';

export interface Product {
  /** The first part of its paths; log lines name it. */
  readonly name: 'collection' | 'disbursement';
  readonly resource: 'requesttopay' | 'transfer';
  /** What a reason beside FAILED means. */
  readonly reasons: { readonly [term in ReasonTerm]: DeclineReason };
  /** What the status REJECTED means. */
  readonly rejected: DeclineReason;
  /** Statuses with which their front end or their checks reject a request: malformed, token, address, path, rate, closed. */
  readonly turnedAway: { readonly [status: number]: Refusal };
  /**
   * Codes that are documented as refusals before anything is accepted. They count before the status, beside a 500 or any 4xx but 409;
   * after a 500 with another code the request may have been accepted.
   */
  readonly refusals: { readonly [code: string]: Refusal };
  /** Terms that only an operator can do something about: our account, its funds and limits, what it is allowed. */
  readonly ours: ReadonlySet<string>;
}

/** Every reason that is documented, or was seen, beside FAILED. */
const COLLECTION_REASONS = {
  PAYER_NOT_FOUND: 'payer_unknown',
  NOT_ENOUGH_FUNDS: 'insufficient_funds',
  PAYER_LIMIT_REACHED: 'limit_reached',
  APPROVAL_REJECTED: 'customer_rejected',
  TRANSACTION_CANCELED: 'customer_rejected',
  // Not approved, though the customer did not reject it: wrong PINs (upstreams §12.1).
  PAYMENT_NOT_APPROVED: 'wrong_pin',
  EXPIRED: 'prompt_expired',
  // Their errors page: the customer did not approve within five minutes.
  COULD_NOT_PERFORM_TRANSACTION: 'prompt_expired',
  NOT_ALLOWED: 'not_allowed',
  SENDER_ACCOUNT_NOT_ACTIVE: 'not_allowed',
  // The errors page says "mostly insufficient funds", which is not enough to tell a customer that they have none.
  INTERNAL_PROCESSING_ERROR: 'carrier_failed',
  LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED: 'carrier_failed',
  // The rest is about our account or configuration; the customer can do nothing about it.
  PAYEE_NOT_FOUND: 'carrier_failed',
  PAYEE_NOT_ALLOWED_TO_RECEIVE: 'carrier_failed',
  PAYEE_LIMIT_REACHED: 'carrier_failed',
  NOT_ALLOWED_TARGET_ENVIRONMENT: 'carrier_failed',
  INVALID_CALLBACK_URL_HOST: 'carrier_failed',
  INVALID_CURRENCY: 'carrier_failed',
  SERVICE_UNAVAILABLE: 'carrier_failed',
  RESOURCE_NOT_FOUND: 'carrier_failed',
  TRANSACTION_NOT_FOUND: 'carrier_failed',
  RESOURCE_ALREADY_EXIST: 'carrier_failed',
} as const satisfies { readonly [term: string]: DeclineReason };

type ReasonTerm = keyof typeof COLLECTION_REASONS;

/** Here the payer is our own account: if it lacks money, that is our problem, and never the merchant's. */
const DISBURSEMENT_REASONS = {
  PAYEE_NOT_FOUND: 'payee_unknown',
  PAYEE_NOT_ALLOWED_TO_RECEIVE: 'payee_blocked',
  PAYEE_LIMIT_REACHED: 'limit_reached',
  PAYER_NOT_FOUND: 'carrier_failed',
  NOT_ENOUGH_FUNDS: 'carrier_failed',
  PAYER_LIMIT_REACHED: 'carrier_failed',
  APPROVAL_REJECTED: 'carrier_failed',
  TRANSACTION_CANCELED: 'carrier_failed',
  PAYMENT_NOT_APPROVED: 'carrier_failed',
  EXPIRED: 'carrier_failed',
  COULD_NOT_PERFORM_TRANSACTION: 'carrier_failed',
  NOT_ALLOWED: 'carrier_failed',
  SENDER_ACCOUNT_NOT_ACTIVE: 'carrier_failed',
  INTERNAL_PROCESSING_ERROR: 'carrier_failed',
  LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED: 'carrier_failed',
  NOT_ALLOWED_TARGET_ENVIRONMENT: 'carrier_failed',
  INVALID_CALLBACK_URL_HOST: 'carrier_failed',
  INVALID_CURRENCY: 'carrier_failed',
  SERVICE_UNAVAILABLE: 'carrier_failed',
  RESOURCE_NOT_FOUND: 'carrier_failed',
  TRANSACTION_NOT_FOUND: 'carrier_failed',
  RESOURCE_ALREADY_EXIST: 'carrier_failed',
} as const satisfies { readonly [term in ReasonTerm]: DeclineReason };

/** How customers are asked for money: MTN's terms for it, and what each reason and refusal means. */
export const COLLECTION: Product = {
  name: 'collection',
  resource: 'requesttopay',
  reasons: COLLECTION_REASONS,
  rejected: 'customer_rejected',
  // The payer is present and may try again, so every refusal leaves the payment open.
  turnedAway: {
    // Their errors page: wrong headers or address, unsupported characters, another currency, notes that are too long.
    400: 'operator_needed',
    401: 'operator_needed',
    403: 'operator_needed',
    404: 'operator_needed',
    429: 'not_sent',
    503: 'not_sent',
  },
  refusals: {
    PAYER_NOT_FOUND: 'payer_unknown',
    NOT_ALLOWED: 'operator_needed',
    NOT_ALLOWED_TARGET_ENVIRONMENT: 'operator_needed',
    INVALID_CALLBACK_URL_HOST: 'operator_needed',
    INVALID_CURRENCY: 'operator_needed',
    PAYEE_NOT_FOUND: 'operator_needed',
    PAYEE_NOT_ALLOWED_TO_RECEIVE: 'operator_needed',
    SERVICE_UNAVAILABLE: 'not_sent',
  },
  ours: new Set(['PAYEE_NOT_FOUND', 'PAYEE_NOT_ALLOWED_TO_RECEIVE', 'PAYEE_LIMIT_REACHED']),
};

/** How money is sent out: MTN's terms for it, and what each reason and refusal means. */
export const DISBURSEMENT: Product = {
  name: 'disbursement',
  resource: 'transfer',
  reasons: DISBURSEMENT_REASONS,
  rejected: 'carrier_failed',
  // A refusal that concerns this transfer would come every time, so the transfer fails. One that concerns the carrier, or our
  // access to it, passes or gets fixed, so the transfer waits.
  turnedAway: {
    400: 'carrier_failed',
    401: 'operator_needed',
    403: 'operator_needed',
    404: 'operator_needed',
    429: 'not_sent',
    503: 'not_sent',
  },
  refusals: {
    PAYEE_NOT_FOUND: 'payee_unknown',
    PAYEE_NOT_ALLOWED_TO_RECEIVE: 'payee_blocked',
    INVALID_CURRENCY: 'carrier_failed',
    NOT_ALLOWED: 'operator_needed',
    NOT_ALLOWED_TARGET_ENVIRONMENT: 'operator_needed',
    INVALID_CALLBACK_URL_HOST: 'operator_needed',
    PAYER_NOT_FOUND: 'operator_needed',
    SERVICE_UNAVAILABLE: 'not_sent',
  },
  ours: new Set([
    'NOT_ENOUGH_FUNDS',
    'LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED',
    // Mostly a lack of funds, according to their errors page; here the funds are ours.
    'INTERNAL_PROCESSING_ERROR',
    'PAYER_LIMIT_REACHED',
    'PAYER_NOT_FOUND',
    'SENDER_ACCOUNT_NOT_ACTIVE',
    'NOT_ALLOWED',
  ]),
};
