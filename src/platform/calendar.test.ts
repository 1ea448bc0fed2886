import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calendar } from './calendar.ts';

const DAY = 86_400_000;
const dates = fc
  .integer({ min: 0, max: 40_000 })
  .map((days) => new Date(Date.UTC(1990, 0, 1) + days * DAY).toISOString().slice(0, 10));
const zones = fc.constantFrom('UTC', 'Africa/Kinshasa', 'Europe/Paris', 'America/Sao_Paulo', 'Asia/Shanghai');

describe('the calendar', () => {
  it.each(['2027-01-31', '2028-02-29', '2000-02-29', '1999-12-31', '9999-12-31', '0999-01-01'])('knows %s', (text) => {
    expect(calendar.isDate(text)).toBe(true);
  });

  it.each([
    '2027-02-30',
    '2027-02-29',
    '2100-02-29',
    '2027-13-01',
    '2027-00-10',
    '2027-04-31',
    '2027-1-31',
    '20270131',
    '31-01-2027',
    '2027-01-31T00:00:00Z',
    ' 2027-01-31',
    '2027-01-31\n',
    '3001-02-29',
    '10000-01-01',
    '+012027-01-31',
    '2027-01-31[u-ca=hebrew]',
    '',
  ])('refuses %j as a date', (text) => {
    expect(calendar.isDate(text)).toBe(false);
  });

  it.each(['UTC', 'Africa/Kinshasa', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires'])('knows the zone %s', (zone) => {
    expect(calendar.isZone(zone)).toBe(true);
  });

  it.each(['+01:00', 'Z', '', 'Africa/Nowhere', 'Africa/', '2027-01-01T00:00Z[Africa/Kinshasa]', 'Local', '../etc'])(
    'refuses %j as a zone',
    (zone) => {
      expect(calendar.isZone(zone)).toBe(false);
    },
  );

  it('counts months to the same day, or to the last one', () => {
    const year = [...Array(13).keys()].map((month) => calendar.plusMonths('2027-01-31', month));
    expect(year.map((date) => date.slice(5))).toEqual(
      '01-31 02-28 03-31 04-30 05-31 06-30 07-31 08-31 09-30 10-31 11-30 12-31 01-31'.split(' '),
    );
    expect(calendar.plusMonths('2028-01-31', 1)).toBe('2028-02-29');
    expect(calendar.plusMonths('2028-02-29', 12)).toBe('2029-02-28');
  });

  it('says which date it is in a zone', () => {
    const evening = Date.UTC(2026, 11, 31, 23, 30);
    expect(calendar.today('UTC', evening)).toBe('2026-12-31');
    expect(calendar.today('Africa/Kinshasa', evening)).toBe('2027-01-01');
    expect(calendar.today('America/New_York', evening)).toBe('2026-12-31');
  });

  it('finds an hour, even if a clock change skips or repeats it', () => {
    expect(calendar.instantOf('2027-01-31', 6, 'Africa/Kinshasa')).toBe(Date.UTC(2027, 0, 31, 5));
    // Paris: from 2 to 3 on 28 March 2027, and from 3 back to 2 on 31 October.
    expect(calendar.instantOf('2027-03-28', 2, 'Europe/Paris')).toBe(Date.UTC(2027, 2, 28, 1));
    expect(calendar.instantOf('2027-10-31', 2, 'Europe/Paris')).toBe(Date.UTC(2027, 9, 31, 0));
    expect(calendar.instantOf('2027-10-31', 3, 'Europe/Paris')).toBe(Date.UTC(2027, 9, 31, 2));
  });

  it('gives every date an hour on its own day, and later dates later instants', () => {
    fc.assert(
      fc.property(dates, zones, fc.integer({ min: 0, max: 23 }), (date, zone, hour) => {
        const at = calendar.instantOf(date, hour, zone);
        expect(calendar.today(zone, at)).toBe(date);
        expect(calendar.instantOf(calendar.plusDays(date, 1), hour, zone)).toBeGreaterThan(at);
      }),
    );
  });
});
