/** Which of the waiting changes are sent together. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change } from '../domain/change.ts';
import { keysOf, makeBatch, writtenBy } from './batch.ts';
import { columnsOf } from './tables.ts';

const raising = (id: string, version: number) => {
  const change: Change = { updates: [{ table: 'session', shard: 3, id, version, row: { payments: version } }] };
  return { change, keys: keysOf(change) };
};

test('of two changes that guard the same row, the second is left out', () => {
  const [first, second, other] = [raising('ses_a', 1), raising('ses_a', 1), raising('ses_b', 1)];
  const { sent, conflicting } = makeBatch([first, second, other]);
  expect([sent, conflicting]).toEqual([[first, other], [second]]);
});

test('one row in common is enough, be it claimed or removed', () => {
  const row = { shard: 3, id: 'k', version: 1, request_hash: 'h', status: 201, body: 'sealed', created_at: 0 };
  const changes: Change[] = [
    { claims: [{ table: 'idempotency', row }], updates: raising('ses_a', 1).change.updates ?? [] },
    { removals: [{ table: 'idempotency', shard: 3, id: 'k' }], updates: raising('ses_b', 1).change.updates ?? [] },
    { claims: [{ table: 'idempotency', row: { ...row, id: 'l' } }], updates: raising('ses_a', 1).change.updates ?? [] },
    { claims: [{ table: 'idempotency', row: { ...row, shard: 4 } }] },
  ];
  const entries = changes.map((change) => ({ change, keys: keysOf(change) }));
  const [first, remover, updater, other] = entries;
  const { sent, conflicting } = makeBatch(entries);
  expect([sent, conflicting]).toEqual([
    [first, other],
    [remover, updater],
  ]);
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

test('an update writes the columns that it names and no others, by a statement of its own name', () => {
  const names = columnsOf('payment').map(({ name }) => name);
  const texts = new Map<string, string>();
  fc.assert(
    fc.property(fc.subarray(names.slice(3)), fc.subarray(names.slice(3)), (written, absent) => {
      const row = Object.fromEntries([
        ...absent.map((name) => [name, undefined] as const),
        ...written.map((name) => [name, null] as const).reverse(),
      ]);
      const change: Change = { updates: [{ table: 'payment', shard: 3, id: 'txn_a', version: 1, row }] };
      const [{ statement } = { statement: { name: '', text: '' } }] = makeBatch([
        { change, keys: keysOf(change) },
      ]).executions;
      const sets = written.map((name) => `, ${name} = v.${name}`).join('');
      expect(statement.text).toContain(`set version = t.version + 1${sets} from v`);
      expect(texts.get(statement.name) ?? statement.text).toBe(statement.text);
      texts.set(statement.name, statement.text);
    }),
    { numRuns: 300 },
  );
});

test('a column that the table lacks is an error', () => {
  const row: object = { payments: 1, nope: 2 };
  const change: Change = { updates: [{ table: 'session', shard: 3, id: 'ses_a', version: 1, row }] };
  expect(() => makeBatch([{ change, keys: keysOf(change) }])).toThrow('table session has no column nope');
});

test('whatever a statement writes, it locks in the order of shard and id, the shards by number', () => {
  const rows: [shard: number, id: string][] = [
    [10, 'ses_a'],
    [2, 'ses_b'],
    [2, 'ses_a'],
  ];
  const entries = rows.map(([shard, id]) => {
    const change: Change = {
      updates: [{ table: 'session', shard, id, version: 1, row: { payments: 1 } }],
      transfers: [
        {
          shard,
          id: `trf_${shard}${id}`,
          debit: { shard: 1, id: 'float', floored: false },
          credit: { shard, id: `of ${id}`, floored: true },
          amount_minor: 1n,
          currency: 'usd',
          cause: 'payment',
          cause_id: 'txn',
          at: 0,
        },
      ],
    };
    return { change, keys: keysOf(change) };
  });
  const ordered = makeBatch(entries).executions.map(({ statement, values }) => {
    const found = String(values()[0]).matchAll(/\(([0-9]+),([a-z_ ]+),/g);
    return [statement.name, [...found].map(([, shard, id]) => `${shard} ${id}`)] as const;
  });
  const written = new Map(ordered);
  expect(written.get(ordered[0]?.[0] ?? '')).toEqual(['2 ses_a', '2 ses_b', '10 ses_a']);
  expect(written.get('balance_account')).toEqual(['1 float', '2 of ses_a', '2 of ses_b', '10 of ses_a']);
});
