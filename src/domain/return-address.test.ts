import { validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPlainAddress, withQuery } from './return-address.ts';

const MORE = { transaction_id: 'txn_1', status: 'approved' };

test.each([
  ['https://shop.example/thanks', 'https://shop.example/thanks?transaction_id=txn_1&status=approved'],
  ['https://shop.example', 'https://shop.example/?transaction_id=txn_1&status=approved'],
  ['https://shop.example/?cart=7', 'https://shop.example/?cart=7&transaction_id=txn_1&status=approved'],
  ['https://shop.example/?', 'https://shop.example/?transaction_id=txn_1&status=approved'],
  ['https://shop.example/?a=1&', 'https://shop.example/?a=1&transaction_id=txn_1&status=approved'],
  [
    'https://shop.example/?transaction_id=txn_0&a=1&status=approved&statuses=2&%73tatus=x&status#status=y',
    'https://shop.example/?a=1&statuses=2&transaction_id=txn_1&status=approved#status=y',
  ],
  [
    'https://shop.example/?a=b?status=1&c=%20+',
    'https://shop.example/?a=b?status=1&c=%20+&transaction_id=txn_1&status=approved',
  ],
  [
    'https://shop.example/??status=1&&b=2&',
    'https://shop.example/??status=1&&b=2&transaction_id=txn_1&status=approved',
  ],
  ['https://shop.example/?a=1;status=x;b', 'https://shop.example/?a=1;b&transaction_id=txn_1&status=approved'],
  ['https://shop.example/a#top?x', 'https://shop.example/a?transaction_id=txn_1&status=approved#top?x'],
  [
    'https://shop.example/заказ',
    'https://shop.example/%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7?transaction_id=txn_1&status=approved',
  ],
])('%s leads to %s', (address, expected) => {
  expect(withQuery(address, MORE)).toBe(expected);
});

test.each(['https://shop.example/заказ#готово', 'https://shop.example/?a=1&b=%20#top'])(
  '%s is left plain',
  (address) => {
    expect(isPlainAddress(address)).toBe(true);
  },
);

test.each([' ', '\t', '\n', '\r', '\u0000', '\u007f', '\u00a0', '\u2028', '\\'])(
  '%j becomes another address',
  (odd) => {
    for (const place of [`/a${odd}b`, `/?q=a${odd}b`, `/#a${odd}b`]) {
      expect(isPlainAddress(`https://shop.example${place}`)).toBe(false);
    }
  },
);

test('whatever is in an address, it can be written into a header', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 12 }), (odd) => {
      const address = withQuery(`https://shop.example/${odd}?${odd}#${odd}`, MORE);
      validateHeaderValue('Location', address);
      expect(address).toMatch(/^[!-~]+$/);
    }),
  );
});
