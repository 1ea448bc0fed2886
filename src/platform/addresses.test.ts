/** Only addresses known to be public pass. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLoopbackAddress, isPublicAddress } from './addresses.ts';

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '198.17.255.255',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001:80b::200e',
  '::ffff:8.8.8.8',
  '2001:200::1',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

test.each([
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:a9fe:a9fe',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::808:808',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:1ff::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '3fff::1',
  '4000::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '',
  'localhost',
  '127.1',
  '0x7f000001',
  '2130706433',
  '010.8.8.8',
  '8.8.8',
  ' 8.8.8.8',
])('%j is not public', (address) => expect(isPublicAddress(address)).toBe(false));

test.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])('%s is this machine', (address) =>
  expect(isLoopbackAddress(address)).toBe(true),
);

test.each(['0.0.0.0', '::', '10.0.0.1', '8.8.8.8', '64:ff9b::7f00:1', 'x', ''])('%j is not this machine', (address) =>
  expect(isLoopbackAddress(address)).toBe(false),
);

test('an IPv4 address and the same one mapped into IPv6 are judged alike', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublicAddress(address));
      expect(isPublicAddress(address) && isLoopbackAddress(address)).toBe(false);
    }),
  );
});

test('no text makes it fail', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.ipV6()), (text) => typeof isPublicAddress(text) === 'boolean'));
});
