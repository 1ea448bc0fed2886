import { describe, expect, it } from 'vitest';
import { addressKey, addressMatcher, clientAddressReader } from './client-address.ts';

describe('an allow-list', () => {
  const allowed = addressMatcher([
    '192.0.2.0/24',
    '198.51.100.7',
    '::ffff:203.0.113.0/120',
    '2001:db8::/32',
    'nonsense',
  ]);

  it('holds addresses and ranges, including IPv4-mapped ones', () => {
    const inside = [
      '192.0.2.1',
      '::ffff:192.0.2.9',
      '198.51.100.7',
      '203.0.113.255',
      '::ffff:203.0.113.1',
      '2001:db8::1',
    ];
    const outside = [
      '192.0.3.1',
      '198.51.100.8',
      '203.0.114.1',
      '2001:db9::1',
      '',
      'nonsense',
      '192.0.2.1 ',
      '::ffff:198.51.100.8',
    ];
    expect(inside.every(allowed)).toBe(true);
    expect(outside.some(allowed)).toBe(false);
  });
});

describe('the caller’s address', () => {
  const behind = (trustProxy: readonly string[]) => {
    const addressOf = clientAddressReader(trustProxy);
    return (remoteAddress: string | undefined, forwardedFor: string | undefined): string =>
      addressOf({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor } });
  };
  const read = behind(['10.0.0.0/8']);

  it('is the peer’s, unless a trusted proxy says otherwise', () => {
    expect(read('203.0.113.5', '192.0.2.1')).toBe('203.0.113.5');
    expect(read('10.0.0.1', undefined)).toBe('10.0.0.1');
    expect(read('10.0.0.1', '192.0.2.1')).toBe('192.0.2.1');
    expect(behind([])('10.0.0.1', '192.0.2.1')).toBe('10.0.0.1');
    expect(read(undefined, '192.0.2.1')).toBe('');
  });

  it.each([
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::443', '2001:db8::443'],
  ])('is read from %s, as some proxies write it', (entry, address) => {
    expect(read('10.0.0.1', entry)).toBe(address);
    expect(read('10.0.0.1', `192.0.2.99, ${entry}, 10.0.0.2:8080`)).toBe(address);
    expect(read('203.0.113.5', entry)).toBe('203.0.113.5');
  });

  it.each(['203.0.113.7:', '203.0.113.7:x', '203.0.113.7:70000', '[203.0.113.7]:1', '[2001:db8::1', '51234:1', '[]:1'])(
    'is not read from %s',
    (entry) => {
      expect(read('10.0.0.1', entry)).toBe('10.0.0.1');
    },
  );

  it('cannot be chosen by the client', () => {
    expect(read('10.0.0.1', '192.0.2.99, 203.0.113.5')).toBe('203.0.113.5');
    expect(read('10.0.0.1', '192.0.2.99, 203.0.113.5, 10.0.0.2')).toBe('203.0.113.5');
    expect(read('10.0.0.1', '192.0.2.99, nonsense')).toBe('10.0.0.1');
    expect(read('10.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.3');
  });
});

describe('the key by which failures are counted', () => {
  it('is one IPv4 address, and the /64 of an IPv6 one', () => {
    expect(addressKey('::ffff:192.0.2.1')).toBe(addressKey('192.0.2.1'));
    expect(addressKey('2001:db8:1:2::1')).toBe(addressKey('2001:db8:1:2:ffff::9'));
    expect(addressKey('2001:db8:1:2::1')).not.toBe(addressKey('2001:db8:1:3::1'));
    expect(addressKey('x'.repeat(1_000))).toHaveLength(64);
  });
});
