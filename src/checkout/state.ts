/**
 * Which page shows a payment.
 *
 * Invariant: every status that a payment can have leads to one page, and no page offers what the customer could then do twice.
 */

import type { PageView } from '../usecases/checkout-read.ts';

/** The pages of a payment. `choose`: how to pay; `challenge`: the way to the issuer; `ended`: declined, failed or cancelled. */
export type PageState =
  | 'choose'
  /** A carrier has been asked and the customer confirms on the phone. */
  | 'phone'
  /** An upstream has been asked, and the customer has nothing to do. */
  | 'asked'
  | 'challenge'
  | 'code'
  | 'proof'
  | 'proof_sent'
  | 'paid'
  | 'refunded'
  | 'ended'
  | 'expired';

/**
 * The page that shows a payment as it is now. A payment with which its customer can no longer go on is `expired`, even before it
 * has that status.
 */
export function stateOf({ payment, attempt, isOpen, now }: PageView): PageState {
  switch (payment.status) {
    case 'pending':
      if (payment.attempt_id !== null) return 'asked';
      return isOpen ? 'choose' : 'expired';
    case 'processing':
      if (payment.method === 'bank_transfer') return 'proof_sent';
      if (attempt?.status === 'challenged') return 'challenge';
      return attempt?.method === 'mobile_money' ? 'phone' : 'asked';
    case 'pending_mobile_money_verification':
      return 'phone';
    case 'pending_otp_verification':
      return payment.expires_at > now ? 'code' : 'expired';
    case 'pendingBankProofUpload':
      return payment.expires_at > now ? 'proof' : 'expired';
    case 'approved':
      return 'paid';
    case 'refunded':
      return 'refunded';
    case 'expired':
      return 'expired';
    case 'declined':
    case 'failed':
    case 'cancelled':
      return 'ended';
  }
}

/** A carrier that has not confirmed the request within this time is late. */
const LATE_AFTER_MS = 20_000;

/** Whether the carrier is late in confirming the request. Nobody knows then whether the request has arrived. */
export function isLate({ payment, attempt, now }: PageView): boolean {
  return payment.status === 'processing' && now > sentAt({ payment, attempt, now }) + LATE_AFTER_MS;
}

/** When the carrier was asked. */
export function sentAt({ payment, attempt, now }: Pick<PageView, 'payment' | 'attempt' | 'now'>): number {
  return attempt?.created_at ?? payment.submitted_at ?? now;
}

/** Whether the customer's code has expired, or pays nothing any more. */
export function isCodeOver({ code, isCodeOutdated, now }: Pick<PageView, 'code' | 'isCodeOutdated' | 'now'>): boolean {
  return code !== undefined && (code.expires_at <= now || isCodeOutdated);
}

/**
 * Changes whenever another page would be shown; says nothing about the payment. The attempt's version is not part of it: an
 * inquiry without news raises that too, and a reload makes readers lose their place.
 */
export function versionOf(view: PageView): string {
  const { payment, attempt } = view;
  const state = stateOf(view);
  const tried = attempt === undefined ? '' : `${attempt.id.slice(-6)}.${attempt.status}`;
  const passed = (state === 'phone' && isLate(view)) || (state === 'code' && isCodeOver(view));
  const sent = state === 'code' ? (view.code?.resends ?? 0) : '';
  const more = [passed ? 'over' : '', view.isCodeOutdated ? 'changed' : '', view.isPaidAside ? 'aside' : ''].join('');
  return `${state}.${payment.id.slice(-6)}.${payment.version}.${tried}.${sent}.${more}`;
}
