/** HTTP dates are read in all three forms of RFC 9110, and nothing else is. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseHttpDate } from './http-date.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');

test.each([
  ['Sun, 06 Nov 1994 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
  ['Sunday, 06-Nov-94 08:49:37 GMT', '1994-11-06T08:49:37.000Z'],
  ['Sun Nov  6 08:49:37 1994', '1994-11-06T08:49:37.000Z'],
  ['Wed Nov 16 08:49:37 1994', '1994-11-16T08:49:37.000Z'],
  ['Thursday, 29-Feb-24 23:59:59 GMT', '2024-02-29T23:59:59.000Z'],
  ['Sun, 06 Nov 0050 08:49:37 GMT', '0050-11-06T08:49:37.000Z'],
  ['Sat, 31 Dec 2016 23:59:60 GMT', '2017-01-01T00:00:00.000Z'],
])('%j is an HTTP date', (text, instant) => {
  expect(parseHttpDate(text, NOW)).toBe(Date.parse(instant));
});

test.each([
  ['Sunday, 01-Mar-76 12:00:00 GMT', NOW, '2076-03-01T12:00:00.000Z'],
  ['Sunday, 01-Mar-76 12:00:01 GMT', NOW, '1976-03-01T12:00:01.000Z'],
  ['Sunday, 01-Jan-77 00:00:00 GMT', NOW, '1977-01-01T00:00:00.000Z'],
  ['Sunday, 02-Jan-00 00:00:00 GMT', Date.parse('2099-12-31T00:00:00Z'), '2100-01-02T00:00:00.000Z'],
])('%j has the latest year that is at most 50 ahead', (text, now, instant) => {
  expect(parseHttpDate(text, now)).toBe(Date.parse(instant));
});

test.each([
  '',
  'Sun, 99 Foo 2026 99:99:99 GMT',
  'Mon, 30 Feb 2026 12:00:00 GMT',
  'Mon, 00 Mar 2026 12:00:00 GMT',
  'Mon, 02 Mar 2026 24:00:00 GMT',
  'mon, 02 mar 2026 12:00:00 gmt',
  'Mon, 02 Mar 2026 12:00:00 UTC',
  'Mon, 2 Mar 2026 12:00:00 GMT',
  'Monday, 02-Mar-2026 12:00:00 GMT',
  'Mon Mar 2 12:00:00 2026',
  'Mon Mar  2 12:00:00 2026 GMT',
  '2026-03-02T12:00:00Z',
])('%j is none', (text) => {
  expect(parseHttpDate(text, NOW)).toBeUndefined();
});

test('the date that a sender writes is the one that is read, to the second', () => {
  const seconds = fc.integer({ min: Date.parse('0000-01-01T00:00:00Z') / 1_000, max: Date.UTC(9999, 11, 31) / 1_000 });
  fc.assert(
    fc.property(seconds, (second) => {
      expect(parseHttpDate(new Date(second * 1_000).toUTCString(), NOW)).toBe(second * 1_000);
    }),
  );
});
