import { describe, expect, it } from 'vitest';
import {
  readAmounts,
  readCounts,
  readDuration,
  readLimits,
  readList,
  readNetworks,
  readPhone,
  readTime,
} from './options.ts';

describe('options', () => {
  it.each([
    ['0', 0],
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
    ['1000000s', 1_000_000_000],
  ])('the duration %s is %i ms', (text, ms) => {
    expect(readDuration(text)).toBe(ms);
  });

  it.each(['', '24', '-1h', '1.5h', '1w', 'h'])('%j is not a duration', (text) => {
    expect(() => readDuration(text)).toThrow('not a duration');
  });

  it('reads times with their zone, and dates', () => {
    expect(readTime('2026-03-01T09:00:00+01:00')).toBe(Date.UTC(2026, 2, 1, 8));
    expect(readTime('2026-03-01T08:00:00.123999+00:00')).toBe(Date.UTC(2026, 2, 1, 8, 0, 0, 123));
    expect(readTime('2026-03-01t08:00:00.123z')).toBe(Date.UTC(2026, 2, 1, 8, 0, 0, 123));
    expect(readTime('2026-03-01')).toBe(Date.UTC(2026, 2, 1));
  });

  it.each([
    'yesterday',
    '2026-03-01T09:00:00',
    '2026-13-01',
    '1772355600000',
    '2026-02-30',
    '2026-02-30T09:00:00Z',
    '0001-01-01',
    '9999-12-31',
  ])('%j is not a time', (text) => {
    expect(() => readTime(text)).toThrow('not a time');
  });

  it('reads a phone number, and nothing beside it', async () => {
    expect(await readPhone(' +243 81 000 00 42 ')).toBe('+243810000042');
    for (const bad of ['+243810000042 or 43', '+243810000042 (Grace)', '0810000042', '+24381']) {
      await expect(readPhone(bad)).rejects.toThrow('not valid');
    }
  });

  it('reads lists, and the word for none', () => {
    expect([readList('a, b,,c', 'all'), readList('all', 'all')]).toEqual([['a', 'b', 'c'], null]);
  });

  it('reads addresses and networks', () => {
    expect(readNetworks('192.0.2.7,10.0.0.0/8,2001:db8::/32')).toEqual(['192.0.2.7', '10.0.0.0/8', '2001:db8::/32']);
    expect(readNetworks('any')).toBeNull();
    for (const bad of ['10.0.0.0/33', 'shop.example', '10.0.0.0/8/8', '::1/129']) {
      expect(() => readNetworks(bad)).toThrow('not an address');
    }
    for (const none of ['', ' ', ',']) expect(() => readNetworks(none)).toThrow('at least one address');
  });

  it('reads amounts by currency in minor units', () => {
    expect([...readAmounts('usd:100.50,xof:5000,cdf:default')]).toEqual([
      ['usd', 10050n],
      ['xof', 5000n],
      ['cdf', null],
    ]);
    expect(() => readAmounts('xof:1.5')).toThrow('not a valid amount in xof');
    expect(() => readAmounts('gbp:1')).toThrow('not a currency');
  });

  it('ignores nothing that follows a value', () => {
    for (const read of [readAmounts, readLimits, readCounts]) {
      expect(() => read('usd:1:5000')).toThrow('"usd:1:5000" has too many parts');
    }
  });

  it('reads limits without an upper or lower bound', () => {
    expect([...readLimits('usd:1-5000,cdf:500-,xof:-900,eur:none')]).toEqual([
      ['usd', { min: 100n, max: 500000n }],
      ['cdf', { min: 50000n }],
      ['xof', { max: 900n }],
      ['eur', null],
    ]);
    expect(() => readLimits('usd:0-5')).toThrow('it must be above zero (leave it out for no limit), like 100.00');
    for (const bad of ['usd:5', 'usd:-', 'usd:1-2-3', 'usd']) expect(() => readLimits(bad)).toThrow('not a limit');
  });

  it('reads counts by name', () => {
    expect([...readCounts('payments:240,sessions_create:default')]).toEqual([
      ['payments', 240],
      ['sessions_create', null],
    ]);
    expect(() => readCounts('payments:0')).toThrow('whole number');
  });
});
