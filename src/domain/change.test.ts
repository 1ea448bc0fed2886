import { expect, test } from 'vitest';
import { guardedUpdate, revise } from './change.ts';
import { attemptWith } from './testing/attempts.ts';

const read = Object.freeze(
  attemptWith({ shard: 7, id: 'att_1', version: 4, merchant_id: 'mch_1', payment_id: 'txn_1' }),
);
const columns = Object.freeze({ status: 'waiting', provider_reference: 'ref-9' } as const);

test('a guarded update names the row and the version that was read, and writes the given columns alone', () => {
  expect(guardedUpdate('attempt', read, columns)).toEqual({
    table: 'attempt',
    shard: 7,
    id: 'att_1',
    version: 4,
    row: { status: 'waiting', provider_reference: 'ref-9' },
  });
});

test('a revised row has the columns replaced and its version raised by one, under the guard of the version that was read', () => {
  const { update, after } = revise('attempt', read, columns);
  expect(update).toEqual(guardedUpdate('attempt', read, columns));
  expect(after).toEqual({ ...read, status: 'waiting', provider_reference: 'ref-9', version: 5 });
  expect(Object.keys(after)).toEqual(Object.keys(read));
});

test('the row that is revised stays as it was read', () => {
  const before = { ...read };
  const { after } = revise('attempt', read, columns);
  expect(read).toEqual(before);
  expect(after).not.toBe(read);
});

test('a row can be revised again before anything is written: each guard expects the version that the one before leaves', () => {
  const first = revise('attempt', read, columns);
  const second = revise('attempt', first.after, { status: 'approved', settled_at: 9 });
  expect([first.update.version, second.update.version, second.after.version]).toEqual([4, 5, 6]);
  expect(second.after).toMatchObject({ status: 'approved', settled_at: 9, provider_reference: 'ref-9' });
});

test('a revision without columns raises the version alone', () => {
  const { update, after } = revise('attempt', read, {});
  expect(update).toMatchObject({ version: 4, row: {} });
  expect(after).toEqual({ ...read, version: 5 });
});
