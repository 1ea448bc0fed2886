/**
 * Keeps a process whose clock is wrong from changing anything, and one whose clock is a little wrong from giving up an order by the
 * time between instants of two clocks.
 *
 * Invariant: in production, what asks here first does not begin while this machine's clock is known to be further from the
 * database's than it may be.
 */

import { MINUTE_MS } from '../domain/durations.ts';
import { clockDifference, clockDifferenceAtMost, clockLead } from './clock-difference.ts';
import type { Deps } from './deps.ts';
import { freshReads } from './fresh-read.ts';
import { OperatorError } from './operator-error.ts';

/** 5 min, half of what is kept longer than it is valid because clocks differ (`reap.ts`). */
export const MAX_WRONG_MS = 5 * MINUTE_MS;
/** 5 s: two clocks that far from the database's shorten the minute for which an order must be unknown by a sixth. */
const MAX_APART_MS = 5_000;
/** 10 s for which an answer is used again. A clock that leaps further ends it, so the leap is noticed at once. */
const LIFE_MS = 10_000;

type ClockDeps = Pick<Deps, 'store' | 'clock' | 'mode'>;

/**
 * Tells whether this machine's clock is close enough to the database's to change anything by it; it is logged once when it no longer
 * is, and once when it is again. A fast one pays dates and ends payments too early, forgets the replies that are kept for
 * Idempotency-Keys, unlocks PINs, and leases work for too long; what a slow one writes is soon forgotten by the others; and whoever
 * receives a webhook refuses the time in the signature of both. A sandbox moves no real money, so its clock is always believed.
 * The answer rejects while the database cannot be reached.
 */
export function openClockGuard(deps: ClockDeps & Pick<Deps, 'log'>): () => Promise<boolean> {
  let wasBelieved = true;
  return remembered(deps, async () => {
    const apart_ms = await clockDifference(deps);
    const isBelieved = apart_ms <= MAX_WRONG_MS;
    if (wasBelieved && !isBelieved) deps.log.error('clock_off', { apart_ms });
    if (isBelieved && !wasBelieved) deps.log.info('clock_right_again');
    wasBelieved = isBelieved;
    return isBelieved;
  });
}

/**
 * Requires of an operator's command what `openClockGuard` tells: by a fast clock it would skip dates of a paused payout that are still
 * to come, or close an attempt whose call is under way. @throws OperatorError
 */
export function requireRightClock(deps: ClockDeps): Promise<void> {
  return requireWithin(MAX_WRONG_MS, deps);
}

/** Requires a clock that can tell whether what another process has begun may still be under way. @throws OperatorError */
export function requireSharedClock(deps: ClockDeps): Promise<void> {
  return requireWithin(MAX_APART_MS, deps);
}

async function requireWithin(most: number, deps: ClockDeps): Promise<void> {
  const apart = deps.mode === 'production' ? await clockDifference(deps) : 0;
  if (apart <= most) return;
  const what = `this machine's clock is ${Math.floor(apart / 1_000)} seconds from the database's`;
  throw new OperatorError(`${what}: set the wrong one right with NTP, or give the command where the two clocks agree`);
}

/** Whether this machine's clock is known to be too fast to change anything by it; asked anew each time. */
export async function isClockFast(deps: ClockDeps): Promise<boolean> {
  return deps.mode === 'production' && (await clockLead(deps)) > MAX_WRONG_MS;
}

/** Whether what this machine's clock writes can certainly be compared by the clocks of others; asked anew each time. */
export async function isClockShared(deps: ClockDeps): Promise<boolean> {
  return deps.mode !== 'production' || (await clockDifferenceAtMost(deps)) <= MAX_APART_MS;
}

/**
 * Tells whether instants that other processes have written can be compared with this machine's clock, as `openClockGuard` does.
 * Nothing is logged: the alert on the clocks' difference comes much earlier.
 */
export function openSharedClock(deps: ClockDeps): () => Promise<boolean> {
  return remembered(deps, () => isClockShared(deps));
}

function remembered({ clock, mode }: ClockDeps, compare: () => Promise<boolean>): () => Promise<boolean> {
  if (mode !== 'production') return () => Promise.resolve(true);
  const reads = freshReads<boolean>({ now: () => clock.wall(), lifeMs: LIFE_MS });
  return () => reads('', compare);
}
