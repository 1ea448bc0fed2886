import cardValidator from 'card-validator';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Wallet } from './records.ts';
import { afterWrongPin, isWalletNumber, lockedFor, makeWalletNumber, PIN_LOCK_MS, shardOfWallet } from './wallet.ts';

const number = fc
  .tuple(fc.integer({ min: 0, max: 63 }), fc.integer({ min: 0, max: 999_999_999 }))
  .map(([shard, random]) => ({ shard, text: makeWalletNumber(shard, random) }));

test('a wallet number has its form and carries its shard', () => {
  fc.assert(
    fc.property(number, ({ shard, text }) => {
      expect(text).toMatch(/^5707[0-9]{12}$/);
      expect(isWalletNumber(text)).toBe(true);
      expect(shardOfWallet(text)).toBe(shard);
    }),
  );
});

test('no wallet number is a valid card number', () => {
  fc.assert(
    fc.property(number, ({ text }) => {
      expect(cardValidator.number(text).isValid).toBe(false);
    }),
  );
});

test('one wrong digit is found', () => {
  fc.assert(
    fc.property(number, fc.integer({ min: 6, max: 15 }), fc.integer({ min: 1, max: 9 }), ({ text }, at, by) => {
      const wrong = `${text.slice(0, at)}${(Number(text[at]) + by) % 10}${text.slice(at + 1)}`;
      expect(isWalletNumber(wrong)).toBe(false);
    }),
  );
});

const wallet: Wallet = {
  shard: 1,
  id: makeWalletNumber(1, 1),
  version: 1,
  kind: 'wallet',
  currency: 'usd',
  phone: '+243810000042',
  pin_hash: '',
  pin_failures: 0,
  locked_until: null,
  created_at: 0,
};

test('the fifth wrong PIN locks for fifteen minutes', () => {
  expect(afterWrongPin({ ...wallet, pin_failures: 3 }, 1000)).toEqual({
    row: { pin_failures: 4, locked_until: null },
    left: 1,
  });
  expect(afterWrongPin({ ...wallet, pin_failures: 4 }, 1000)).toEqual({
    row: { pin_failures: 5, locked_until: 1000 + PIN_LOCK_MS },
    left: 0,
  });
});

test('a lock that has passed gives all tries back', () => {
  const locked = { ...wallet, pin_failures: 5, locked_until: 1000 };
  expect(lockedFor(locked, 999)).toBe(1);
  expect(lockedFor(locked, 1000)).toBeUndefined();
  expect(afterWrongPin(locked, 1000)).toEqual({ row: { pin_failures: 1, locked_until: null }, left: 4 });
});
