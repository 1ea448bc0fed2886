/** Spans of time as pages write them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { leftText, spanText } from './amounts.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const UNITS: Readonly<Record<string, number>> = { sec: 1_000, min: MINUTE, hr: HOUR, days: DAY };

function worth(text: string): number {
  const [count = '', unit = ''] = text.split(' ');
  return Number(count) * (UNITS[unit] ?? Number.NaN);
}

test('nobody is told to wait for less than the span, nor promised a minute more than is left', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9 * DAY }), (span) => {
      expect(worth(spanText('en', span))).toBeGreaterThanOrEqual(span);
      expect(worth(leftText('en', span))).toBeLessThan(span + MINUTE);
    }),
  );
});

test.each([
  [45_000, '45 sec', '45 sec'],
  [28 * MINUTE, '28 min', '28 min'],
  [2 * HOUR, '120 min', '120 min'],
  [2 * HOUR + MINUTE, '3 hr', '2 hr'],
  [24 * HOUR - MINUTE, '24 hr', '23 hr'],
  [49 * HOUR, '3 days', '2 days'],
])('%i ms are %s to wait for, and %s left', (span, toWait, left) => {
  expect([spanText('en', span), leftText('en', span)]).toEqual([toWait, left]);
});
