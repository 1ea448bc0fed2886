/**
 * The calendar: dates, months and the clock changes of time zones, by the Temporal standard (temporal-polyfill).
 *
 * Invariant: its results depend on its arguments alone, never on the machine's zone or time.
 */

import { Temporal } from 'temporal-polyfill';
import type { Calendar } from './platform.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** Names only: an offset such as +01:00 has no clock changes, and is not a place. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

export const calendar: Calendar = {
  isDate: (text) => DATE.test(text) && succeeds(() => Temporal.PlainDate.from(text, { overflow: 'reject' })),
  isZone: (text) => ZONE.test(text) && succeeds(() => zoned(0, text)),
  today: (zone, now) => zoned(now, zone).toPlainDate().toString(),
  plusDays: (date, days) => Temporal.PlainDate.from(date).add({ days }).toString(),
  plusMonths: (date, months) => Temporal.PlainDate.from(date).add({ months }, { overflow: 'constrain' }).toString(),
  instantOf: (date, hour, zone) =>
    Temporal.PlainDate.from(date).toPlainDateTime({ hour }).toZonedDateTime(zone, { disambiguation: 'compatible' })
      .epochMilliseconds,
};

function zoned(now: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone);
}

function succeeds(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
