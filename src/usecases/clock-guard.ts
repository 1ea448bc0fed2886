/**
 * Keeps a worker whose clock is fast from doing too early what nothing can undo: pay what is due on a date, end payments, forget
 * replies, close days.
 *
 * Invariant: in production, what asks here first does not begin while this machine's clock is known to be more than
 * `AHEAD_MOST_MS` ahead of the database's.
 */

import { isWithin } from '../domain/elapsed.ts';
import { clockLead } from './clock-difference.ts';
import type { Deps } from './deps.ts';

/** 5 min, half of what is kept longer than it is valid because clocks differ (`idempotency-reap.ts`). */
const AHEAD_MOST_MS = 5 * 60_000;
/** 10 s for which an answer is used again. A clock that leaps further ends it, so the leap is noticed at once. */
const LIFE_MS = 10_000;

type GuardDeps = Pick<Deps, 'store' | 'clock' | 'log' | 'mode'>;

/**
 * Tells whether this machine's clock can be believed; it is logged once when it no longer can, and once when it can again. A
 * sandbox moves no real money, so its clock is always believed. The answer rejects while the database cannot be reached.
 */
export function openClockGuard(deps: GuardDeps): () => Promise<boolean> {
  if (deps.mode !== 'production') return () => Promise.resolve(true);
  let asked: { readonly at: number; readonly isBelieved: Promise<boolean> } | undefined;
  let wasBelieved = true;
  const compare = async (): Promise<boolean> => {
    const ahead = await clockLead(deps);
    const isBelieved = ahead <= AHEAD_MOST_MS;
    if (wasBelieved && !isBelieved) deps.log.error('clock_ahead', { ahead_ms: ahead });
    if (isBelieved && !wasBelieved) deps.log.info('clock_right_again');
    wasBelieved = isBelieved;
    return isBelieved;
  };
  return () => {
    const now = deps.clock.wall();
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
