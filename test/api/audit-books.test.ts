/**
 * Comparing large books with a carrier's: what was found once stays found until it is repaired.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Books } from '../../src/connectors/connector.ts';
import { makeId } from '../../src/domain/ids.ts';
import { attemptWith } from '../../src/domain/testing/attempts.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { compareBooks } from '../../src/usecases/audit-books.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anAnswer, MADE_AT, numbered } from '../support/store-records.ts';

let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  store = await openStore({ url: database.url });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** 1 000: the most references that one query to the book may name. */
const PAGE = 1_000;

const idOf = (n: number): string => {
  const random = new Uint8Array(16);
  new DataView(random.buffer).setUint32(9, n);
  return makeId('att', MADE_AT, random, 0);
};

/** A carrier that has recorded these debits, each once, and whose book is queried like the real one. */
function bookOf(debits: readonly string[]): Books & { readonly asked: number[] } {
  const asked: number[] = [];
  const lineOf = (attemptId: string) =>
    ({ attemptId, kind: 'debit', amountMinor: 1025n, currency: 'usd', times: 1 }) as const;
  return {
    asked,
    connectors: ['mtn-momo'],
    page: () => Promise.resolve({ startedAt: 'then', size: debits.length, lines: [], repeated: [] }),
    ofAttempts(ids) {
      asked.push(ids.length);
      return Promise.resolve(debits.filter((id) => ids.includes(id)).map(lineOf));
    },
  };
}

test('a page full of payments does not make it forget what it has to look at again', async () => {
  const paid = Array.from({ length: PAGE + 1 }, (_, n) =>
    attemptWith({
      shard: 0,
      id: idOf(n),
      merchant_id: numbered('mch', 1),
      payment_id: numbered('txn', n),
      status: 'approved',
      next_inquiry_at: null,
      created_at: MADE_AT,
      settled_at: MADE_AT + 1,
    }),
  );
  const claims = [{ table: 'idempotency' as const, row: anAnswer('all of them') }];
  expect(await store.commit({ claims, inserts: paid.map((row) => ({ table: 'attempt', row })) })).toBe('won');
  // A customer was debited whom nobody here has asked for money.
  const nobody = idOf(9_999);
  const books = bookOf([...paid.map(({ id }) => id), nobody]);
  const since = { startedAt: 'then', after: PAGE + 2, since: 0, settledFrom: MADE_AT };
  const clock = manualClock(MADE_AT + 120_000);
  let together = 0;
  const watched: Store = {
    ...store,
    attempt: {
      ...store.attempt,
      get(shard, id) {
        const found = store.attempt.get(shard, id);
        together = Math.max(together, store.stats().read.waiting);
        return found;
      },
    },
  };
  const first = await compareBooks({ store: watched, clock }, books, { ...since, again: [nobody] });
  expect(first?.findings).toEqual([{ kind: 'book_unknown', attemptId: nobody }]);
  expect(first?.mark.again).toEqual([nobody]);
  const second = await compareBooks({ store, clock }, books, first?.mark);
  expect(second?.findings).toEqual([{ kind: 'book_unknown', attemptId: nobody }]);
  expect(Math.max(...books.asked)).toBeLessThanOrEqual(PAGE);
  // Callers' reads wait behind those of the audit.
  expect(together).toBeLessThanOrEqual(100);
});
