import cardValidator from 'card-validator';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SHARDS } from './ids.ts';
import type { LimitCount, Wallet } from './records.ts';
import {
  afterRightCode,
  afterWrongCode,
  afterWrongPin,
  afterWrongPinOfSession,
  decidingCount,
  isWalletNumber,
  lockedFor,
  makeWalletNumber,
  PIN_LOCK_MS,
  PIN_MEMORY_MS,
  shardOfCounter,
  shardOfWallet,
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

test.each([
  [0, 0, '5707000000000000'],
  [7, 42, '5707070000000425'],
  [63, 999_999_999, '5707639999999993'],
])('the numbers that have been issued stay valid: %i and %i make %s', (shard, random, text) => {
  expect(makeWalletNumber(shard, random)).toBe(text);
  expect(isWalletNumber(text)).toBe(true);
});

test('no number is made for a shard that there is not, nor recognised', () => {
  for (const shard of [-1, SHARDS, 1.5, Number.NaN]) expect(() => makeWalletNumber(shard, 1)).toThrow(RangeError);
  // Its check digit is right.
  expect(isWalletNumber('5707640000000003')).toBe(false);
});

test.each([undefined, 5_707_070_000_000_425, '570707000000047', '57070700000000427', '5708070000000424'])(
  '%s is no wallet number: it has another form, and the right check digit',
  (given) => {
    expect(isWalletNumber(given)).toBe(false);
  },
);

test('no wallet number is a valid card number', () => {
  fc.assert(
    fc.property(number, ({ text }) => {
      expect(cardValidator.number(text).isValid).toBe(false);
    }),
  );
});

test('one wrong digit is detected', () => {
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
  changes: 0,
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

test('a lock that has expired gives all tries back', () => {
  const locked = { ...failed(5, 900), locked_until: 1000 };
  expect(lockedFor(locked, 999)).toBe(1);
  expect(lockedFor(locked, 1000)).toBeUndefined();
  expect(afterWrongPin(locked, 1000)).toMatchObject({ row: { pin_failures: 1, locked_until: null }, left: 4 });
});

test('a wrong PIN during the lock gives no tries back', () => {
  const locked = { ...failed(5, 900), locked_until: 1000 };
  expect(afterWrongPin(locked, 999)).toMatchObject({ row: { pin_failures: 6 }, left: 0 });
  expect(lockedFor(afterWrongPin(locked, 999).row, 1000)).toBe(PIN_LOCK_MS / 1000);
});

test('an hour without a wrong PIN gives all tries back, and no shorter time does', () => {
  expect(afterWrongPin(failed(4, 1000), 1000 + PIN_MEMORY_MS)).toMatchObject({ row: { pin_failures: 1 }, left: 4 });
  expect(afterWrongPin(failed(4, 1000), 999 + PIN_MEMORY_MS)).toMatchObject({ row: { pin_failures: 5 }, left: 0 });
  expect(PIN_MEMORY_MS).toBeGreaterThan(PIN_LOCK_MS);
});

test('twenty wrong PINs in a session, and twenty wrong codes of an account, lock for fifteen minutes', () => {
  for (const after of [afterWrongPinOfSession, afterWrongCode]) {
    expect(after(failed(18, 900), 1000)).toMatchObject({ row: { pin_failures: 19, locked_until: null }, left: 1 });
    expect(after(failed(19, 900), 1000)).toMatchObject({ row: { locked_until: 1000 + PIN_LOCK_MS }, left: 0 });
  }
});

test('a wrong PIN keeps the time that another clock wrote, but none that is further ahead than clocks may be apart', () => {
  const ahead = (milliseconds: number) => afterWrongPin(failed(1, 1000 + milliseconds), 1000).row.pin_failed_at;
  expect([ahead(-1), ahead(59_999), ahead(60_001)]).toEqual([1000, 60_999, 61_000]);
});

test('a right code leaves nothing that counts or locks, by any clock, and decides against what another key has counted', () => {
  const at = 100_000;
  const wrong = failed(19, at + 60_000);
  const right = afterRightCode(wrong, at);
  expect([decidingCount([wrong, right], at), decidingCount([right, wrong], at)]).toEqual([right, right]);
  for (const now of [at - 60_000, at, at + 60_000]) {
    expect([lockedFor(right, now), afterWrongCode(right, now).left]).toEqual([undefined, 19]);
  }
  expect(afterRightCode(failed(1, 900), at).pin_failed_at).toBe(at);
});

test('of several counts a locked one decides, otherwise the one written last, whatever the order', () => {
  const [lagging, complete] = [failed(3, 900), failed(4, 1000)];
  const locked = { ...failed(5, 1000), locked_until: 1000 + PIN_LOCK_MS };
  for (const counts of [
    [lagging, undefined, complete],
    [complete, lagging],
  ]) {
    expect(decidingCount(counts, 2000)).toBe(complete);
  }
  expect(decidingCount([lagging, locked], 2000)).toBe(locked);
  const newer = failed(1, 1500);
  const longer = { ...locked, locked_until: 1000 + PIN_LOCK_MS + 5_000 };
  expect([decidingCount([newer, locked], 2000), decidingCount([locked, newer], 2000)]).toEqual([locked, locked]);
  expect([decidingCount([longer, locked], 2000), decidingCount([locked, longer], 2000)]).toEqual([longer, longer]);
  const over = 1000 + PIN_LOCK_MS;
  // An expired lock also gives back the tries of counts that lack it, and so do the tries after it.
  expect(afterWrongPin(decidingCount([lagging, locked], over), over).left).toBe(4);
  expect(afterWrongPin(decidingCount([complete, failed(1, over)], over + 1), over + 1).left).toBe(3);
  expect(decidingCount([failed(2, 1000), failed(4, 1000)], 2000)).toMatchObject({ pin_failures: 4 });
  expect(decidingCount([undefined, undefined], 2000)).toBeUndefined();
});

test('no try is lost between a process that lacks one of two counts and one that has both, even if their clocks differ', () => {
  const tries = fc.array(fc.record({ hasBoth: fc.boolean(), passed: fc.nat(1_000) }), { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(tries, fc.integer({ min: -60_000, max: 60_000 }), (all, apart) => {
      let [old, renewed]: (LimitCount | undefined)[] = [];
      let at = 100_000;
      const left = all.map(({ hasBoth, passed }) => {
        at += passed;
        const now = hasBoth ? at : at + apart;
        const tried = afterWrongPin(hasBoth ? decidingCount([renewed, old], now) : old, now);
        old = tried.row;
        if (hasBoth) renewed = tried.row;
        return tried.left;
      });
      expect(left).toEqual([4, 3, 2, 1, 0]);
    }),
  );
});

test('each character of base64url is a shard of its own', () => {
  const letters = Array.from({ length: 64 }, (_, n) => Buffer.from([n << 2, 0, 0]).toString('base64url'));
  expect(letters.map(shardOfCounter)).toEqual(Array.from({ length: SHARDS }, (_, n) => n));
  for (const id of ['', '+a', 'é']) expect(() => shardOfCounter(id)).toThrow(RangeError);
});
