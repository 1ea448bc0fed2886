import { expect, test } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { StoreRefused, StoreUnavailable } from '../store/errors.ts';
import { eachOf } from './each-of.ts';

const FAILING = { event: 'row_failed', about: (row: number) => ({ row: String(row) }) };

/** Does the work for four rows; `fail` says what becomes of a row before the others have ended. */
function work(fail: (row: number) => void) {
  const log = memoryLog(manualClock(0));
  const ended: number[] = [];
  const one = async (row: number): Promise<void> => {
    fail(row);
    await new Promise((resolve) => setImmediate(resolve));
    ended.push(row);
  };
  return { log, ended, done: eachOf(log, [1, 2, 3, 4], one, FAILING) };
}

test('a row whose work fails is logged by its id, and keeps no other from its own', async () => {
  const { log, ended, done } = work((row) => {
    if (row === 2) throw new StoreRefused('23514', 'payment_amount_check');
  });
  expect(await done).toBe(1);
  expect(ended).toEqual([1, 3, 4]);
  expect(log.lines.map((line) => JSON.parse(line))).toMatchObject([{ event: 'row_failed', row: '2' }]);
});

test('a transient failure ends the run once all the other work has ended, and is not logged for any row', async () => {
  const { log, ended, done } = work((row) => {
    if (row === 1) throw new StoreUnavailable();
  });
  await expect(done).rejects.toThrow(StoreUnavailable);
  expect(ended).toEqual([2, 3, 4]);
  expect(log.lines).toEqual([]);
});
