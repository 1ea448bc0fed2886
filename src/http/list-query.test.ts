import { expect, test } from 'vitest';
import { readSpan, spanFaults } from './list-query.ts';

const AT = Date.parse('2026-11-30T12:00:00.123Z');

test.each([
  ['2026-11-30T12:00:00.123Z'],
  ['2026-11-30T12:00:00.123456Z'],
  ['2026-11-30T12:00:00.123456789Z'],
  ['2026-11-30T14:00:00.123456+02:00'],
  ['2026-11-30t12:00:00.123z'],
])('an instant may have more digits than are kept: %s', (text) => {
  expect(spanFaults({ from: text, to: text })).toEqual([]);
  // The end of the span belongs to it.
  expect(readSpan({ from: text, to: text })).toEqual({ from: AT, until: AT + 1 });
});

test.each([['2026-11-30T12:00:00.1234567890Z'], ['2026-11-30T12:00:00.Z'], ['2026-11-30T12:00:00'], ['2026-02-30']])(
  'anything else is refused: %s',
  (text) => {
    expect(spanFaults({ from: text })).toEqual([{ field: 'from', code: 'INVALID_INSTANT' }]);
  },
);
