/** Whose due work is leased when there is more than can be leased at once: no merchant's backlog keeps another one waiting. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Attempt } from '../../src/domain/records.ts';
import { attemptWith } from '../../src/domain/testing/attempts.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anAnswer, MADE_AT, numbered } from '../support/store-records.ts';

let database: TestDatabase | undefined;
let store: Store;

async function close(): Promise<void> {
  await store?.close();
  await database?.drop();
}

beforeEach(async () => {
  await close();
  database = await createTestDatabase();
  store = await openStore({ url: database.url });
});

afterAll(close);

/** `count` open attempts of that merchant, due one after the other until `last`. */
async function due(shard: number, merchant: number, count: number, last: number): Promise<readonly Attempt[]> {
  const attempts = Array.from({ length: count }, (_, n) =>
    attemptWith({
      shard,
      id: numbered('att', merchant * 1_000 + n),
      merchant_id: numbered('mch', merchant),
      payment_id: numbered('txn', merchant * 1_000 + n),
      reference: numbered('ref', merchant * 1_000 + n),
      next_inquiry_at: last - (count - 1 - n),
      created_at: MADE_AT - 3_600_000,
    }),
  );
  const inserts = attempts.map((row) => ({ table: 'attempt' as const, row }));
  await store.commit({ claims: [{ table: 'idempotency', row: anAnswer(`due ${shard} ${merchant}`) }], inserts });
  return attempts;
}

test('of one shard by turns what has been due longest and what became due last', async () => {
  const stuck = await due(5, 1, 40, MADE_AT - 60_000);
  const [news] = await due(5, 2, 1, MADE_AT);
  const taken: string[][] = [];
  for (let times = 0; times < 4; times += 1) {
    taken.push((await store.attempt.leaseDue(MADE_AT, MADE_AT + 30_000, 3)).map(({ id }) => id).toSorted());
  }
  const ids = stuck.map(({ id }) => id);
  expect(taken).toEqual([ids.slice(0, 3), [...ids.slice(38), news?.id], ids.slice(3, 6), ids.slice(35, 38)]);
});

test('of all shards, however the round’s other reads lie between', async () => {
  await due(3, 1, 40, MADE_AT - 60_000);
  const [news] = await due(4, 2, 1, MADE_AT);
  const taken = new Set<string>();
  for (let times = 0; times < 128; times += 1) {
    // Still due: as if there were no end to them.
    for (const { id } of await store.attempt.leaseDue(MADE_AT, MADE_AT - 30_000, 1)) taken.add(id);
    await store.payment.toExpire(MADE_AT, 1);
  }
  expect(taken).toContain(news?.id);
});
