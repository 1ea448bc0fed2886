/** The archive's calendar. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutoffOf, isMonth, mayBeArchived, monthOf, monthsLater, startOfMonth, YOUNGEST_MONTHS } from './archive.ts';

const instants = fc.integer({ min: 0, max: Date.UTC(2200, 0) });

test('an instant is in its month, and in no other', () => {
  fc.assert(
    fc.property(instants, (at) => {
      const month = monthOf(at);
      expect(isMonth(month)).toBe(true);
      expect(startOfMonth(month)).toBeLessThanOrEqual(at);
      expect(at).toBeLessThan(startOfMonth(monthsLater(month, 1)));
    }),
  );
});

test('months can be added across the end of a year, forwards and back', () => {
  expect(monthsLater('2025-12', 1)).toBe('2026-01');
  expect(monthsLater('2026-01', -13)).toBe('2024-12');
  expect(cutoffOf(Date.UTC(2026, 10, 20, 12), 13)).toBe(Date.UTC(2025, 9, 1));
});

test('what the archive is searched for is younger than anything in it', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2200, 0) }), (now) => {
      // Even by a clock that is some days behind the one that archived.
      const slowest = now - 10 * 24 * 60 * 60_000;
      expect(mayBeArchived(cutoffOf(now, YOUNGEST_MONTHS) - 1, slowest)).toBe(true);
      expect(mayBeArchived(now, now)).toBe(false);
    }),
  );
});

test.each(['2024-5', '2024-13', '2024-00', '24-05', '2024-05-01', ''])('%j is not a month', (text) => {
  expect(isMonth(text)).toBe(false);
});
