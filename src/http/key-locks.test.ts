import { promiseHooks } from 'node:v8';
import { expect, it } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { createKeyLocks } from './key-locks.ts';

it('a lock wakes one call at a time, in the order in which they came', async () => {
  const locks = createKeyLocks(manualClock(0));
  const calls = 200;
  const served: number[] = [];
  let made = 0;
  const uncount = promiseHooks.onInit(() => {
    made += 1;
  });
  await Promise.all(
    Array.from({ length: calls }, async (_, at) => {
      const end = await locks.acquire('a');
      served.push(at);
      end();
    }),
  );
  uncount();
  expect(served).toEqual(Array.from({ length: calls }, (_, at) => at));
  expect(made / calls).toBeLessThan(20);
});

it('a lock is waited for, ten seconds at most; other keys do not wait', async () => {
  const clock = manualClock(0);
  const locks = createKeyLocks(clock);
  const end = await locks.acquire('a');
  const second = locks.acquire('a');
  const tired = locks.acquire('a').catch((error: unknown) => error);
  (await locks.acquire('b'))();
  end();
  const endSecond = await second;
  // One call waits; the other's timer went when it got the lock.
  expect(clock.pending()).toBe(1);
  await clock.advance(9_999);
  const fresh = locks.acquire('a');
  await clock.advance(1);
  expect(await tired).toMatchObject({
    code: 1203,
    retryable: true,
    more: { retryAfter: 5, details: [{ field: 'Idempotency-Key', code: 'IN_PROGRESS' }] },
  });
  endSecond();
  (await fresh)();
  (await locks.acquire('a'))();
});
