/**
 * A running process follows the test clock: what keeps it from doing so is said in its log.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followClock } from '../../src/commands/clock.ts';
import { shiftableClock } from '../../src/platform/clock.ts';
import { type MemoryLog, memoryLog } from '../../src/platform/testing/memory-log.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const HOUR = 60 * 60_000;

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

const keep = (value: string) =>
  database.pool.query(
    `insert into setting values (0, 'clock_shift', 1, $1) on conflict (shard, id) do update set value = excluded.value`,
    [value],
  );

function saidBy({ lines }: MemoryLog): unknown[] {
  return lines.map((line) => {
    const { event, round } = JSON.parse(line);
    return [event, round];
  });
}

test('a process adopts the shift that the database holds, and logs one that it cannot read', async () => {
  const clock = shiftableClock();
  const log = memoryLog();
  const round = followClock(clock, { store, log });
  await keep(JSON.stringify({ shiftMs: HOUR, leaptAt: clock.wall(), by: 'a test' }));
  await round.runNow();
  expect([clock.shift(), saidBy(log)]).toEqual([HOUR, []]);
  await keep('damaged');
  await round.runNow();
  await round.stop();
  expect(clock.shift()).toBe(HOUR);
  expect(saidBy(log)).toContainEqual(['round_failed', 'clock']);
});
