/**
 * An attempt's life: one try to move money at an upstream.
 *
 * Invariant: an attempt is settled only by what the upstream said of its reference. Silence leaves it open, and the
 * inquiry round asks again for as long as it takes.
 */

import type { Machine } from './machine.ts';
import type { AttemptStatus } from './records.ts';

export type AttemptFact =
  | 'challenged'
  | 'authenticated'
  | 'accepted'
  | 'silent'
  | 'confirmed'
  | 'refused'
  | 'not_sent'
  | 'never_arrived';

export const ATTEMPT: Machine<AttemptStatus, AttemptFact> = {
  name: 'attempt',
  initial: 'intended',
  final: ['approved', 'declined', 'not_sent'],
  facts: ['challenged', 'authenticated', 'accepted', 'silent', 'confirmed', 'refused', 'not_sent', 'never_arrived'],
  table: {
    intended: {
      challenged: 'challenged',
      accepted: 'waiting',
      silent: 'unknown',
      confirmed: 'approved',
      refused: 'declined',
      not_sent: 'not_sent',
      never_arrived: 'not_sent',
    },
    // The issuer asks the customer. Money is asked for only after `authenticated` has committed: from then on the
    // network may have been told to take it.
    challenged: { challenged: 'challenged', silent: 'challenged', authenticated: 'unknown', refused: 'declined' },
    // Once the upstream has taken it, "never arrived" contradicts what it said before.
    waiting: { accepted: 'waiting', silent: 'waiting', confirmed: 'approved', refused: 'declined' },
    unknown: {
      accepted: 'waiting',
      silent: 'unknown',
      confirmed: 'approved',
      refused: 'declined',
      never_arrived: 'not_sent',
    },
    // Closed, and asked about again all the same: what comes late then never touches the payment.
    approved: { accepted: 'approved', silent: 'approved', confirmed: 'approved' },
    declined: {
      accepted: 'declined',
      silent: 'declined',
      confirmed: 'approved',
      refused: 'declined',
      never_arrived: 'declined',
    },
    not_sent: {
      accepted: 'waiting',
      silent: 'not_sent',
      confirmed: 'approved',
      refused: 'not_sent',
      not_sent: 'not_sent',
      never_arrived: 'not_sent',
    },
  },
};

export function isOpen(status: AttemptStatus): boolean {
  return !ATTEMPT.final.includes(status);
}

/** How long a customer has for the issuer's challenge; after that nothing can be taken any more, and the payment expires. */
export const CHALLENGE_LIFE_MS = 10 * 60_000;

/** Milliseconds to the next inquiries; the last one repeats (upstreams §12.2). */
const INQUIRY_DELAYS = [5_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 900_000] as const;

/**
 * When a closed attempt is asked about again: a quarter of an hour and a day after it was closed, then never. Upstreams
 * have been seen to pay what they had refused, and the callback that would tell of it comes once or not at all.
 */
const AFTERTHOUGHTS = [15 * 60_000, 24 * 60 * 60_000] as const;

/** The next time a closed attempt is asked about; null: it has been asked often enough, or has paid. */
export function nextAfterthoughtAt(status: AttemptStatus, settledAt: number, now: number): number | null {
  if (status === 'approved') return null;
  const next = AFTERTHOUGHTS.find((delay) => settledAt + delay > now);
  return next === undefined ? null : settledAt + next;
}

/** When an attempt that has been inquired about this often is due again. */
export function nextInquiryAt(inquiries: number, now: number): number {
  return now + (INQUIRY_DELAYS[Math.min(inquiries, INQUIRY_DELAYS.length - 1)] ?? 900_000);
}
