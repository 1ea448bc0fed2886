/**
 * On which dates a payout runs (contract §5).
 *
 * Invariant: dates ascend and none comes twice. A monthly payout keeps the day it began on, or takes the month's last day where
 * that day does not exist: a payout of the 31st runs on 28 February, then on 31 March again.
 */

import type { PayoutFrequency } from './outgoing-records.ts';

/** The most dates, or occurrences, of one call. */
export const MAX_OCCURRENCES = 366;

/** The part of the calendar that dates are counted by. */
export interface Dates {
  plusDays(date: string, days: number): string;
  plusMonths(date: string, months: number): string;
}

/** What a merchant ordered; its dates are known to be non-empty and distinct. */
export type ScheduleOrder =
  | { readonly sending_type: 'scheduled'; readonly dates: readonly string[] }
  | {
      readonly sending_type: 'recurring';
      readonly start: string;
      readonly frequency: PayoutFrequency;
      readonly occurrences: number;
    };

/** One date for each occurrence. */
export function occurrenceDates(calendar: Dates, order: ScheduleOrder): readonly string[] {
  if (order.sending_type === 'scheduled') return order.dates.toSorted();
  const { start, frequency, occurrences } = order;
  return Array.from({ length: occurrences }, (_, index) => nth(calendar, start, frequency, index));
}

/** Counted from the start, never from the date before: a short month shortens that month alone. */
function nth(calendar: Dates, start: string, frequency: PayoutFrequency, index: number): string {
  switch (frequency) {
    case 'daily':
      return calendar.plusDays(start, index);
    case 'weekly':
      return calendar.plusDays(start, 7 * index);
    case 'biweekly':
      return calendar.plusDays(start, 14 * index);
    case 'monthly':
      return calendar.plusMonths(start, index);
  }
}
