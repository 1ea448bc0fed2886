/**
 * The archive's calendar: which months there are, what is old enough to move there, and where a record has to be looked for.
 *
 * A month is that of UTC and is written `2026-05`. Invariant: nothing that is younger than `YOUNGEST_MONTHS` is ever
 * archived, so that whoever misses something young need not look there.
 */

/** What is archived has been final for at least this many whole months. */
export const YOUNGEST_MONTHS = 2;
/** Longer is a slip of the keyboard. */
export const OLDEST_MONTHS = 600;

/**
 * What is younger than that is not looked for in the archive. Two whole months are 59 days and more: the rest is for clocks that
 * differ.
 */
const LOOKED_FOR_MS = 45 * 24 * 60 * 60_000;

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

/** The month so many months later; earlier, for a negative number. */
export function monthsLater(month: string, months: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number);
  return monthOf(Date.UTC(year, number - 1 + months, 1));
}

/** The instant before which a record must have been final to be older than so many whole months. */
export function cutoffOf(now: number, months: number): number {
  return startOfMonth(monthsLater(monthOf(now), -months));
}

/** Whether what was made or moved at that instant may lie in the archive by now. */
export function mayBeArchived(at: number, now: number): boolean {
  return at < now - LOOKED_FOR_MS;
}
