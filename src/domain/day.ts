/**
 * Days of UTC, written `2026-05-31`.
 *
 * Invariant: days sort as their texts do, and each ends where the next one begins.
 */

/** The day of an instant (milliseconds). */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 'yyyy-mm-dd'.length);
}

/** The first instant of a day (milliseconds). */
export function startOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00.000Z`);
}
