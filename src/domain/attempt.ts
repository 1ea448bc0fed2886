/**
 * An attempt's life cycle: one try to move money at an upstream.
 *
 * Invariant: silence never settles an attempt; the inquiry round keeps asking. It is settled by the upstream's answer about its
 * reference, by an operator, by the end of its challenge (before which no money was asked for), or because another attempt paid
 * the same payment before this one asked for money.
 */

import type { Machine } from './machine.ts';
import type { Attempt, AttemptStatus } from './records.ts';

const ATTEMPT_FACTS = [
  'challenged',
  'challenge_failed',
  'authenticated',
  'accepted',
  'silent',
  'confirmed',
  'refused',
  'not_sent',
  'never_arrived',
] as const;
export type AttemptFact = (typeof ATTEMPT_FACTS)[number];

export const ATTEMPT: Machine<AttemptStatus, AttemptFact> = {
  name: 'attempt',
  initial: 'intended',
  final: ['approved', 'declined', 'not_sent'],
  facts: ATTEMPT_FACTS,
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
    // The issuer asks the customer: no money can have moved, and any no ends it.
    challenged: {
      challenged: 'challenged',
      challenge_failed: 'declined',
      authenticated: 'authenticated',
      silent: 'challenged',
      refused: 'declined',
    },
    // Money is being asked for. From here on, later messages about the challenge have no effect.
    authenticated: {
      challenge_failed: 'authenticated',
      authenticated: 'authenticated',
      accepted: 'waiting',
      silent: 'unknown',
      confirmed: 'approved',
      refused: 'declined',
      never_arrived: 'not_sent',
    },
    // Once the upstream has taken it, "never arrived" contradicts what it said before.
    waiting: {
      challenge_failed: 'waiting',
      accepted: 'waiting',
      silent: 'waiting',
      confirmed: 'approved',
      refused: 'declined',
    },
    unknown: {
      challenge_failed: 'unknown',
      accepted: 'waiting',
      silent: 'unknown',
      confirmed: 'approved',
      refused: 'declined',
      never_arrived: 'not_sent',
    },
    // Closed, and asked about again all the same: what comes late touches the payment only while nothing else is under way.
    approved: { challenge_failed: 'approved', accepted: 'approved', silent: 'approved', confirmed: 'approved' },
    declined: {
      challenge_failed: 'declined',
      accepted: 'declined',
      silent: 'declined',
      confirmed: 'approved',
      refused: 'declined',
      never_arrived: 'declined',
    },
    not_sent: {
      challenge_failed: 'not_sent',
      accepted: 'waiting',
      silent: 'not_sent',
      confirmed: 'approved',
      refused: 'not_sent',
      not_sent: 'not_sent',
      never_arrived: 'not_sent',
    },
  },
};

/** Whether it is not known yet how an attempt ends. */
export function isOpen(status: AttemptStatus): boolean {
  return !ATTEMPT.final.includes(status);
}

/** Why a card attempt was closed before anybody was asked for its money. */
const NEVER_ASKED: ReadonlySet<Attempt['reason']> = new Set(['form_unusable', 'not_asked']);

/** Whether the upstream may have been asked for the attempt's money: only then can it ever have paid. */
export function hasAskedForMoney({ reason }: Pick<Attempt, 'reason'>): boolean {
  return !NEVER_ASKED.has(reason);
}

/**
 * Whether its own call may still be under way, so that nobody else can know how that ends. Until then the inquiry round
 * leaves it alone; once the round has taken it, the round's own lease stands in `next_inquiry_at` for a while.
 */
export function isBeingAsked(attempt: Pick<Attempt, 'status' | 'inquiries' | 'next_inquiry_at'>, now: number): boolean {
  const { status, inquiries, next_inquiry_at: due } = attempt;
  return (status === 'intended' || status === 'authenticated') && inquiries === 0 && due !== null && due > now;
}

/** How long a customer has for the issuer's challenge; after that nothing can be taken any more, and the payment expires. */
export const CHALLENGE_LIFE_MS = 10 * 60_000;

/**
 * A card attempt inquires about earlier ones when it begins, and again when its challenge ends: within this time after its
 * submit, or not at all.
 */
export const EARLIER_ASKED_MS = 20 * 60_000;

/** Milliseconds to the next inquiries; the last one repeats (upstreams §12.2). */
const INQUIRY_DELAYS_MS = [5_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 900_000] as const;

/**
 * When a closed attempt is asked about again: a quarter of an hour and a day after it was closed, then never. Upstreams
 * have been seen to pay what they had refused, and the callback that would tell of it comes once or not at all.
 */
const AFTERTHOUGHTS_MS = [15 * 60_000, 24 * 60 * 60_000] as const;

/** Whether a closed attempt can still turn out to have paid. */
export function mayStillPay(attempt: Pick<Attempt, 'status' | 'reason'>): boolean {
  return attempt.status !== 'approved' && hasAskedForMoney(attempt);
}

/** The next time a closed attempt is asked about; null: it has been asked often enough, has paid, or never can. */
export function nextAfterthoughtAt(
  attempt: Pick<Attempt, 'status' | 'reason'>,
  settledAt: number,
  now: number,
): number | null {
  if (!mayStillPay(attempt)) return null;
  const next = AFTERTHOUGHTS_MS.find((delay) => settledAt + delay > now);
  return next === undefined ? null : settledAt + next;
}

/** How long a closed attempt is inquired about while its upstream gives no final answer. */
const ASKED_IN_VAIN_MS = 7 * 24 * 60 * 60_000;

/**
 * When to inquire again about a closed attempt whose upstream did not answer, or still calls it waiting; neither means that it
 * will not pay. The intervals double, the fixed times are never skipped, and after a week it is not asked again.
 */
export function nextAfterthoughtInVain(
  attempt: Pick<Attempt, 'status' | 'reason'>,
  settledAt: number,
  now: number,
): number | null {
  const closedFor = now - settledAt;
  if (closedFor >= ASKED_IN_VAIN_MS || !mayStillPay(attempt)) return null;
  const fixed = nextAfterthoughtAt(attempt, settledAt, now);
  const again = Math.min(now + Math.max(closedFor, AFTERTHOUGHTS_MS[0]), settledAt + ASKED_IN_VAIN_MS);
  return fixed === null ? again : Math.min(fixed, again);
}

/** When an attempt that has been inquired about this often is due again. */
export function nextInquiryAt(inquiries: number, now: number): number {
  return now + (INQUIRY_DELAYS_MS[Math.min(inquiries, INQUIRY_DELAYS_MS.length - 1)] ?? 900_000);
}

/**
 * When it is looked at again after somebody hinted at news and the upstream could not be asked: soon, and never later than
 * it would have been.
 */
export function nextAfterHint({ next_inquiry_at: due }: Pick<Attempt, 'next_inquiry_at'>, now: number): number {
  const soon = nextInquiryAt(0, now);
  return due === null ? soon : Math.min(due, soon);
}

/** Inquiries a day, once their pauses are the longest. */
const INQUIRIES_A_DAY = 96;

/** Whether a person should hear of an attempt that so many inquiries have left open: about once a day. */
export function isOverdue(inquiries: number): boolean {
  return inquiries > 0 && inquiries % INQUIRIES_A_DAY === 0;
}
