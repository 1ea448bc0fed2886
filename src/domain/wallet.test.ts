import cardValidator from 'card-validator';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SHARDS } from './ids.ts';
import type { Wallet } from './records.ts';
import {
  afterWrongPin,
  isWalletNumber,
  lockedFor,
  makeWalletNumber,
  PIN_LOCK_MS,
  PIN_MEMORY_MS,
  shardOfGuard,
  shardOfWallet,
  strictestCount,
} from './wallet.ts';

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
  pin_failed_at: null,
  locked_until: null,
  created_at: 0,
};

const failed = (pin_failures: number, pin_failed_at: number) => ({ ...wallet, pin_failures, pin_failed_at });

test('the fifth wrong PIN locks for fifteen minutes', () => {
  expect(afterWrongPin(undefined, 1000)).toEqual({
    row: { pin_failures: 1, pin_failed_at: 1000, locked_until: null },
    left: 4,
  });
  expect(afterWrongPin(failed(3, 900), 1000)).toEqual({
    row: { pin_failures: 4, pin_failed_at: 1000, locked_until: null },
    left: 1,
  });
  expect(afterWrongPin(failed(4, 900), 1000)).toEqual({
    row: { pin_failures: 5, pin_failed_at: 1000, locked_until: 1000 + PIN_LOCK_MS },
    left: 0,
  });
});

test('a lock that has passed gives all tries back', () => {
  const locked = { ...failed(5, 900), locked_until: 1000 };
  expect(lockedFor(locked, 999)).toBe(1);
  expect(lockedFor(locked, 1000)).toBeUndefined();
  expect(afterWrongPin(locked, 1000)).toMatchObject({ row: { pin_failures: 1, locked_until: null }, left: 4 });
});

test('so does an hour without a wrong PIN, and nothing shorter', () => {
  expect(afterWrongPin(failed(4, 1000), 1000 + PIN_MEMORY_MS)).toMatchObject({ row: { pin_failures: 1 }, left: 4 });
  expect(afterWrongPin(failed(4, 1000), 999 + PIN_MEMORY_MS)).toMatchObject({ row: { pin_failures: 5 }, left: 0 });
  expect(PIN_MEMORY_MS).toBeGreaterThan(PIN_LOCK_MS);
});

test('of several counts the one decides in which most tries still count, whatever the order', () => {
  const [behind, ahead] = [failed(2, 2000), failed(4, 1000)];
  const over = { ...failed(5, 900), locked_until: 1500 };
  for (const counts of [
    [behind, undefined, ahead, over],
    [over, ahead, behind],
  ]) {
    expect(strictestCount(counts, 2000)).toBe(ahead);
    // The lock of the third has passed, and so has the hour of the second.
    expect(strictestCount(counts, 1000 + PIN_MEMORY_MS)).toBe(behind);
    expect(strictestCount(counts, 1400)).toBe(over);
  }
  expect(strictestCount([undefined, undefined], 2000)).toBeUndefined();
});

test('a lock that has passed gives the tries of counts that lack it back too, and no later ones', () => {
  const locked = { ...failed(5, 1000), locked_until: 1000 + PIN_LOCK_MS };
  const [lagging, later] = [failed(4, 900), failed(1, 1001)];
  const over = locked.locked_until;
  expect(strictestCount([lagging, locked], over - 1)).toBe(locked);
  expect(strictestCount([lagging, locked], over)).toBe(locked);
  expect(afterWrongPin(strictestCount([lagging, locked], over), over).left).toBe(4);
  expect(strictestCount([later, locked], over)).toBe(later);
});

test('each letter of base64url is a shard of its own', () => {
  const letters = Array.from({ length: 64 }, (_, n) => Buffer.from([n << 2, 0, 0]).toString('base64url'));
  expect(letters.map(shardOfGuard)).toEqual(Array.from({ length: SHARDS }, (_, n) => n));
  for (const id of ['', '+a', 'é']) expect(() => shardOfGuard(id)).toThrow(RangeError);
});
