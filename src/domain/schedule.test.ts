import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calendar } from '../platform/calendar.ts';
import type { PayoutFrequency } from './outgoing-records.ts';
import { MAX_OCCURRENCES, occurrenceDates } from './schedule.ts';

const DAY = 86_400_000;
const date = fc
  .integer({ min: 0, max: 60_000 })
  .map((days) => new Date(Date.UTC(2000, 0, 1) + days * DAY).toISOString().slice(0, 10));
const occurrences = fc.integer({ min: 1, max: MAX_OCCURRENCES });
const instant = (text: string): number => Date.parse(`${text}T00:00:00Z`);
const dayOf = (text: string): number => Number(text.slice(8));
const monthsSince = (start: string, text: string): number =>
  12 * (Number(text.slice(0, 4)) - Number(start.slice(0, 4))) + Number(text.slice(5, 7)) - Number(start.slice(5, 7));
const lastDay = (text: string): number =>
  new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();

function recurring(start: string, frequency: PayoutFrequency, count: number): readonly string[] {
  return occurrenceDates(calendar, { sending_type: 'recurring', start, frequency, occurrences: count });
}

describe('the dates of a payout', () => {
  it('are those ordered, earliest first', () => {
    const some = fc.uniqueArray(date, { minLength: 1, maxLength: MAX_OCCURRENCES });
    fc.assert(
      fc.property(some, (dates) => {
        const run = occurrenceDates(calendar, { sending_type: 'scheduled', dates });
        expect(new Set(run)).toEqual(new Set(dates));
        expect(run.every((text, index) => index === 0 || (run[index - 1] ?? '') < text)).toBe(true);
        expect(run).toHaveLength(dates.length);
      }),
    );
  });

  it.each([
    ['daily', 1],
    ['weekly', 7],
    ['biweekly', 14],
  ] as const)('come %s, as many as ordered', (frequency, days) => {
    fc.assert(
      fc.property(date, occurrences, (start, count) => {
        const run = recurring(start, frequency, count);
        expect(run).toHaveLength(count);
        expect(run.every((text, index) => instant(text) === instant(start) + index * days * DAY)).toBe(true);
      }),
    );
  });

  it('come monthly on the first one’s day, or on the month’s last', () => {
    fc.assert(
      fc.property(date, occurrences, (start, count) => {
        const run = recurring(start, 'monthly', count);
        expect(run).toHaveLength(count);
        for (const [index, text] of run.entries()) {
          expect(monthsSince(start, text)).toBe(index);
          expect(dayOf(text)).toBe(Math.min(dayOf(start), lastDay(text)));
        }
      }),
    );
  });

  it('find leap days again', () => {
    expect(recurring('2027-12-31', 'monthly', 3)).toEqual(['2027-12-31', '2028-01-31', '2028-02-29']);
    const fromLeapDay = recurring('2028-02-29', 'monthly', 49);
    expect(fromLeapDay[12]).toBe('2029-02-28');
    expect(fromLeapDay[13]).toBe('2029-03-29');
    expect(fromLeapDay[48]).toBe('2032-02-29');
    expect(recurring('2028-02-28', 'daily', 3)).toEqual(['2028-02-28', '2028-02-29', '2028-03-01']);
  });
});
