/** The memory of written rows: it keeps the last committed version of a row while the row is open. */
import { expect, test } from 'vitest';
import type { Update } from '../domain/change.ts';
import type { Attempt } from '../domain/records.ts';
import { attemptWith } from '../domain/testing/attempts.ts';
import { openRecent } from './recent.ts';

const attempt = (id: string): Attempt => attemptWith({ shard: 3, id, merchant_id: 'mch_1', payment_id: 'txn_1' });

const moved = (version: number, row: Partial<Attempt>): Update => ({
  table: 'attempt',
  shard: 3,
  id: 'att_1',
  version,
  row,
});

function withOne() {
  const recent = openRecent();
  recent.note({ inserts: [{ table: 'attempt', row: attempt('att_1') }] });
  return recent;
}

test('a row is remembered as it was inserted, in its own shard only', () => {
  const recent = withOne();
  expect(recent.attempt(3, 'att_1')).toEqual(attempt('att_1'));
  expect(recent.attempt(4, 'att_1')).toBeUndefined();
  expect(recent.payment(3, 'att_1')).toBeUndefined();
});

test('an update makes the next version of it', () => {
  const recent = withOne();
  recent.note({ updates: [moved(1, { status: 'waiting' })] });
  expect(recent.attempt(3, 'att_1')).toEqual({ ...attempt('att_1'), status: 'waiting', version: 2 });
});

test('an update of a version that is not the one in memory forgets the row: another process has moved it', () => {
  const recent = withOne();
  recent.note({ updates: [moved(2, { status: 'waiting' })] });
  expect(recent.attempt(3, 'att_1')).toBeUndefined();
});

test('a final row is forgotten', () => {
  const recent = withOne();
  recent.note({ updates: [moved(1, { status: 'approved', settled_at: 5 })] });
  expect(recent.attempt(3, 'att_1')).toBeUndefined();
});

test('the oldest rows make room', () => {
  const recent = withOne();
  for (let n = 2; n <= 2_001; n += 1) recent.note({ inserts: [{ table: 'attempt', row: attempt(`att_${n}`) }] });
  expect(recent.attempt(3, 'att_1')).toBeUndefined();
  expect(recent.attempt(3, 'att_2')?.id).toBe('att_2');
});
