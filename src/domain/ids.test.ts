import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesOfId, firstIdAt, idOfBytes, isId, makeId, SHARDS, shardOf, timeOfId } from './ids.ts';

const random = fc.uint8Array({ minLength: 16, maxLength: 16 });
const time = fc.integer({ min: 0, max: 2 ** 47 });
const shard = fc.integer({ min: 0, max: SHARDS - 1 });

test('an identifier carries its time, its shard, its prefix and its bytes', () => {
  fc.assert(
    fc.property(time, random, shard, (now, bytes, where) => {
      const id = makeId('txn', now, bytes, where);
      expect(isId('txn', id)).toBe(true);
      expect(timeOfId(id)).toBe(now);
      expect(shardOf(id)).toBe(where);
      expect(idOfBytes('txn', bytesOfId(id))).toBe(id);
    }),
  );
});

test('identifiers sort by the time at which they were made', () => {
  fc.assert(
    fc.property(time, time, random, shard, (a, b, bytes, where) => {
      fc.pre(a !== b);
      expect(makeId('txn', a, bytes, where) < makeId('txn', b, bytes, where)).toBe(a < b);
    }),
  );
});

test('an instant’s first identifier sorts before all made then or later, and after all made earlier', () => {
  fc.assert(
    fc.property(time, time, random, shard, (bound, at, bytes, where) => {
      expect(makeId('evt', at, bytes, where) >= firstIdAt('evt', bound)).toBe(at >= bound);
    }),
  );
});

test('an instant outside the range of identifiers is replaced by the nearest one inside', () => {
  expect(firstIdAt('evt', -1)).toBe(firstIdAt('evt', 0));
  expect(firstIdAt('evt', 2 ** 48)).toBe(firstIdAt('evt', 2 ** 48 - 1));
});

test.each(['txn_', 'txn_unknown', 'mch_01h455vb4pex5vsknk084sn02q', 'txn_81h455vb4pex5vsknk084sn02q', '', 7, null])(
  '%j is not a transaction id',
  (text) => {
    expect(isId('txn', text)).toBe(false);
  },
);

test('a shard outside 0 to 63 is a bug', () => {
  expect(() => makeId('txn', 0, new Uint8Array(16), 64)).toThrow(RangeError);
});

test('identifiers of one instant sort by their sequence numbers, whatever the random source gives', () => {
  fc.assert(
    fc.property(time, fc.nat(4_095), fc.nat(4_095), random, random, (at, one, other, bytes, others) => {
      fc.pre(one !== other);
      const id = makeId('trf', at, bytes, 3, one);
      expect(id < makeId('trf', at, others, 63, other)).toBe(one < other);
      expect([isId('trf', id), timeOfId(id), shardOf(id)]).toEqual([true, at, 3]);
    }),
  );
  expect(isId('trf', makeId('trf', 1, new Uint8Array(16), 3, 70_000))).toBe(true);
});
