/**
 * Closes days that are over: writes down each account's balance at the end of the day, where statements and audits then begin.
 *
 * Invariant: a day is closed only when nothing more can be committed into it; days are closed in order, without a gap.
 */

import { dayOf, startOfDay } from '../domain/day.ts';
import { DAY_MS, HOUR_MS } from '../domain/durations.ts';
import { hasJustLeapt } from './clock-leap.ts';
import type { Deps } from './deps.ts';

/** 1 h after midnight before a day is closed: clocks differ, and changes decided before midnight are committed after it. */
const LATE_MS = HOUR_MS;
/** 400 days at most per run, more than a year, so that a leap of the clock is soon caught up with. */
const DAYS_AT_ONCE = 400;

/** Closes the days that are due. Returns how many: 0, with a warning, while a transfer of these days is still being committed. */
export async function closeDays(deps: Pick<Deps, 'store' | 'clock' | 'log'>): Promise<number> {
  if (hasJustLeapt(deps.clock)) return 0;
  const over = Math.floor((deps.clock.now() - LATE_MS) / DAY_MS) * DAY_MS;
  const first = await firstOpen(deps);
  if (first === undefined) return 0;
  const days: string[] = [];
  for (let at = first; at < over && days.length < DAYS_AT_ONCE; at += DAY_MS) days.push(dayOf(at));
  const closed = await deps.store.closeAccountDays(days);
  if (closed < days.length) deps.log.warn('days_not_closed', { days: days.length, first: dayOf(first) });
  return closed;
}

/** The start of the first day that is not closed; undefined if no money has ever moved. */
async function firstOpen({ store }: Pick<Deps, 'store'>): Promise<number | undefined> {
  const closed = await store.lastClosedDay();
  if (closed !== undefined) return startOfDay(closed) + DAY_MS;
  const first = await store.firstTransferDay();
  return first === undefined ? undefined : startOfDay(first);
}
