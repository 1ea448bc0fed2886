/**
 * Which page a payment is shown by.
 *
 * Invariant: every status a payment can have leads to one page, and what the customer could do twice is offered by none.
 */

import type { PageView } from '../usecases/checkout-read.ts';

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

/** Changes whenever another page would be shown; says nothing about the payment. */
export function versionOf(view: PageView): string {
  const { payment, attempt } = view;
  return `${stateOf(view)}.${payment.id.slice(-6)}.${payment.version}.${attempt?.version ?? 0}`;
}
