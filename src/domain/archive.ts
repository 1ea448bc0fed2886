/**
 * The archive's calendar: which months there are, what is old enough to be moved there, and where to look for a record.
 *
 * A month is a UTC month, written `2026-05`. Invariant: nothing younger than `YOUNGEST_MONTHS` is ever archived, so that a young
 * record that is missing need not be looked for there.
 */

import { DAY_MS } from './durations.ts';

/** The fewest whole months for which a record must have been final to be archived. */
export const YOUNGEST_MONTHS = 2;
/** The most months that an operator can ask for; more would be a typing error. */
export const OLDEST_MONTHS = 600;

/** Records younger than this are not looked for in the archive. Two whole months are at least 59 days; the rest allows for clock skew. */
const LOOKED_FOR_MS = 45 * DAY_MS;

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** Whether a text is a month as we write it. */
export function isMonth(text: string): boolean {
  return MONTH.test(text);
}

/** The month of an instant (milliseconds). */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 'yyyy-mm'.length);
}

/** The first instant of a month. */
export function startOfMonth(month: string): number {
  return Date.parse(`${month}-01T00:00:00.000Z`);
}

/** The month `months` months later; earlier, for a negative number. */
export function monthsLater(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return monthOf(Date.UTC(year, number - 1 + months, 1));
}

/** The instant before which a record must have become final to be older than `months` whole months. */
export function cutoffOf(now: number, months: number): number {
  return startOfMonth(monthsLater(monthOf(now), -months));
}

/** Whether what was made or moved at that instant may lie in the archive by now. */
export function mayBeArchived(at: number, now: number): boolean {
  return at < now - LOOKED_FOR_MS;
}
