/** Which of the waiting changes are sent together. */
import { expect, test } from 'vitest';
import type { Change } from '../domain/change.ts';
import { keysOf, makeBatch, writtenBy } from './batch.ts';

const raising = (id: string, version: number) => {
  const change: Change = { updates: [{ table: 'session', shard: 3, id, version, row: { payments: version } }] };
  return { change, keys: keysOf(change) };
};

test('of two changes that guard the same row, the second is left out', () => {
  const [first, second, other] = [raising('ses_a', 1), raising('ses_a', 1), raising('ses_b', 1)];
  const { sent, conflicting } = makeBatch([first, second, other]);
  expect([sent, conflicting]).toEqual([[first, other], [second]]);
});

test('a change that guards a version that an earlier batch has moved is left out, and delays no other', () => {
  const written = [new Map(writtenBy(raising('ses_b', 7))), new Map(writtenBy(raising('ses_a', 1)))];
  const [stale, fresh, other] = [raising('ses_a', 1), raising('ses_b', 8), raising('ses_c', 1)];
  const { sent, conflicting } = makeBatch([stale, fresh, other], written);
  expect([sent, conflicting]).toEqual([[fresh, other], [stale]]);
});

test('a session is locked before its payments, whatever columns are written', () => {
  const change: Change = {
    updates: [
      { table: 'payment', shard: 3, id: 'txn_b', version: 1, row: { status: 'cancelled' } },
      { table: 'payment', shard: 3, id: 'txn_a', version: 1, row: { carrier: 'MTN' } },
      { table: 'attempt', shard: 3, id: 'att_a', version: 1, row: { status: 'waiting' } },
      { table: 'session', shard: 3, id: 'ses_a', version: 1, row: { status: 'CONSUMED' } },
    ],
  };
  const [first] = makeBatch([{ change, keys: keysOf(change) }]).executions;
  expect(first?.statement.name).toMatch(/^update_session_/);
});
