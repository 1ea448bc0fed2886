/**
 * Keeps a process whose clock is wrong from doing what nothing can undo: a fast worker from paying what is due on a date, ending
 * payments, forgetting replies and closing days too early; a process that answers calls from changing anything; and any process
 * from giving up an order by the time between instants of two clocks.
 *
 * Invariant: in production, what asks here first does not begin while this machine's clock is known to be further from the
 * database's than it may be.
 */

import { isWithin } from '../domain/elapsed.ts';
import { clockDifference, clockLead } from './clock-difference.ts';
import type { Deps } from './deps.ts';

/** 5 min, half of what is kept longer than it is valid because clocks differ (`idempotency-reap.ts`). */
const WRONG_MOST_MS = 5 * 60_000;
/** 5 s: two clocks that far from the database's shorten the minute for which an order must be unknown by a sixth. */
const APART_MOST_MS = 5_000;
/** 10 s for which an answer is used again. A clock that leaps further ends it, so the leap is noticed at once. */
const LIFE_MS = 10_000;

type ClockDeps = Pick<Deps, 'store' | 'clock' | 'mode'>;

/**
 * Tells whether this machine's clock can be believed; it is logged once when it no longer can, and once when it can again. A
 * sandbox moves no real money, so its clock is always believed. The answer rejects while the database cannot be reached.
 */
export function openClockGuard(deps: ClockDeps & Pick<Deps, 'log'>): () => Promise<boolean> {
  return told(deps, clockLead, (ahead_ms) => deps.log.error('clock_ahead', { ahead_ms }));
}

/** Whether this machine's clock is known to be too fast for what `openClockGuard` guards; asked anew each time. */
export async function isClockFast(deps: ClockDeps): Promise<boolean> {
  return deps.mode === 'production' && (await clockLead(deps)) > WRONG_MOST_MS;
}

/**
 * Tells whether this machine's clock is close enough to the database's to answer calls by it, as `openClockGuard` does: a fast one
 * forgets the replies that are kept for Idempotency-Keys and unlocks PINs too early, and what a slow one writes is soon forgotten
 * by the others.
 */
export function openCloseClock(deps: ClockDeps & Pick<Deps, 'log'>): () => Promise<boolean> {
  return told(deps, clockDifference, (apart_ms) => deps.log.error('clock_off', { apart_ms }));
}

/** Believes the clock while what is measured is at most `WRONG_MOST_MS`. */
function told(
  deps: ClockDeps & Pick<Deps, 'log'>,
  measure: (deps: ClockDeps) => Promise<number>,
  tell: (milliseconds: number) => void,
): () => Promise<boolean> {
  let wasBelieved = true;
  return remembered(deps, async () => {
    const milliseconds = await measure(deps);
    const isBelieved = milliseconds <= WRONG_MOST_MS;
    if (wasBelieved && !isBelieved) tell(milliseconds);
    if (isBelieved && !wasBelieved) deps.log.info('clock_right_again');
    wasBelieved = isBelieved;
    return isBelieved;
  });
}

/**
 * Tells whether instants that other processes have written can be compared with this machine's clock, as `openClockGuard` does.
 * Nothing is logged: the alert on the clocks' difference comes much earlier.
 */
export function openSharedClock(deps: ClockDeps): () => Promise<boolean> {
  return remembered(deps, async () => (await clockDifference(deps)) <= APART_MOST_MS);
}

function remembered({ clock, mode }: ClockDeps, compare: () => Promise<boolean>): () => Promise<boolean> {
  if (mode !== 'production') return () => Promise.resolve(true);
  let asked: { readonly at: number; readonly isBelieved: Promise<boolean> } | undefined;
  return () => {
    const now = clock.wall();
    if (asked !== undefined && isWithin(LIFE_MS, asked.at, now)) return asked.isBelieved;
    const isBelieved = compare();
    const asking = { at: now, isBelieved };
    asked = asking;
    isBelieved.catch(() => {
      if (asked === asking) asked = undefined;
    });
    return isBelieved;
  };
}
