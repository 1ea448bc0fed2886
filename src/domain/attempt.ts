/**
 * An attempt's life cycle: one try to move money at an upstream.
 *
 * Invariant: silence never settles an attempt; the inquiry round keeps asking. It is settled by the upstream's answer about its
 * reference, by an operator, by the end of its challenge (before which no money was asked for), or because another attempt paid
 * the same payment before this one asked for money.
 */

import { DAY_MS, MINUTE_MS } from './durations.ts';
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
/** What can happen to an attempt, as input to its state machine. */
export type AttemptFact = (typeof ATTEMPT_FACTS)[number];

/** The states of an attempt at an upstream: only what is said of its reference settles it. */
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
    // The issuer challenges the customer: no money can have moved, so any refusal ends the attempt.
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
    // Once the upstream has accepted it, "never arrived" contradicts what the upstream said before.
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
    // Closed, but still inquired about: a late answer touches the payment only while nothing else is in flight.
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

/** Whether the outcome of an attempt is still open. */
export function isOpen(status: AttemptStatus): boolean {
  return !ATTEMPT.final.includes(status);
}

/** Reasons for closing a card attempt before its money was requested. */
const NEVER_ASKED: ReadonlySet<Attempt['reason']> = new Set(['form_unusable', 'not_asked']);

/** Whether the upstream may have been asked for the attempt's money: only then can it ever have paid. */
export function hasAskedForMoney({ reason }: Pick<Attempt, 'reason'>): boolean {
  return !NEVER_ASKED.has(reason);
}

/**
 * Whether the attempt's own call may still be in flight, so that nobody else can know its outcome. Until that call has ended, the
 * inquiry round leaves the attempt alone; once the round has claimed it, `next_inquiry_at` holds the round's own lease for a
 * while.
 */
export function isBeingAsked(attempt: Pick<Attempt, 'status' | 'inquiries' | 'next_inquiry_at'>, now: number): boolean {
  const { status, inquiries, next_inquiry_at: due } = attempt;
  return (status === 'intended' || status === 'authenticated') && inquiries === 0 && due !== null && due > now;
}

/** Milliseconds that a customer has for the issuer's challenge; after that no money can be taken, and the payment expires. */
export const CHALLENGE_LIFE_MS = 10 * MINUTE_MS;

/**
 * Milliseconds after its submit within which a card attempt may inquire about earlier ones: when it begins, and again when its
 * challenge ends.
 */
export const EARLIER_ASKED_MS = 20 * MINUTE_MS;

/** Intervals between inquiries, in milliseconds; the last one repeats (upstreams §12.2). */
const INQUIRY_DELAYS_MS = [5_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 900_000] as const;

/**
 * Milliseconds after closing at which an attempt is inquired about again: a quarter of an hour and a day, then never. Upstreams
 * have been seen to pay what they had refused, and the callback that reports it comes once or not at all.
 */
const AFTERTHOUGHTS_MS = [15 * MINUTE_MS, DAY_MS] as const;

/** Whether a closed attempt can still turn out to have paid. */
export function mayStillPay(attempt: Pick<Attempt, 'status' | 'reason'>): boolean {
  return attempt.status !== 'approved' && hasAskedForMoney(attempt);
}

/** The next fixed time to inquire about a closed attempt; null: both have passed, or it has paid, or it never can. */
export function nextAfterthoughtAt(
  attempt: Pick<Attempt, 'status' | 'reason'>,
  settledAt: number,
  now: number,
): number | null {
  if (!mayStillPay(attempt)) return null;
  const next = AFTERTHOUGHTS_MS.find((delay) => settledAt + delay > now);
  return next === undefined ? null : settledAt + next;
}

/** Milliseconds after closing for which an attempt is inquired about while its upstream gives no final answer. */
const ASKED_IN_VAIN_MS = 7 * DAY_MS;

/**
 * When to inquire again about a closed attempt whose upstream did not answer, or still calls it waiting; neither means that it
 * will not pay. The intervals double, the fixed times are never skipped, and after a week inquiries end.
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

/** When to inquire next about an attempt that has been inquired about `inquiries` times. */
export function nextInquiryAt(inquiries: number, now: number): number {
  return now + (INQUIRY_DELAYS_MS[Math.min(inquiries, INQUIRY_DELAYS_MS.length - 1)] ?? 900_000);
}

/**
 * When to inquire again after a callback or a reader prompted an inquiry and the upstream could not be reached: soon, and never
 * later than already planned.
 */
export function nextAfterHint({ next_inquiry_at: due }: Pick<Attempt, 'next_inquiry_at'>, now: number): number {
  const soon = nextInquiryAt(0, now);
  return due === null ? soon : Math.min(due, soon);
}

/** Inquiries per day at the longest interval. */
const INQUIRIES_A_DAY = 96;

/** Whether to alert an operator that an attempt is still open after this many inquiries: about once a day. */
export function isOverdue(inquiries: number): boolean {
  return inquiries > 0 && inquiries % INQUIRIES_A_DAY === 0;
}
