import { expect, it } from 'vitest';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { createIdle, idleInTime } from './idle.ts';

/** Work whose amount in flight the test sets. */
function openWork() {
  const work = { underWay: 1 };
  return { work, ...createIdle(() => work.underWay === 0) };
}

it('resolves when nothing is in flight, for all who wait, and at once from then on', async () => {
  const { work, idle, notify } = openWork();
  const told: string[] = [];
  const both = ['one', 'two'].map((name) => idle().then(() => told.push(name)));
  notify();
  await Promise.resolve();
  expect(told).toEqual([]);
  work.underWay = 0;
  notify();
  await Promise.all(both);
  await idle();
  expect(told).toEqual(['one', 'two']);
});

it('is waited for as long as a round has patience', async () => {
  const clock = manualClock(0);
  const { work, idle, notify } = openWork();
  const first = idleInTime({ clock }, { idle });
  await clock.advance(1_000);
  expect(await first).toBe(false);
  const second = idleInTime({ clock }, { idle });
  await clock.advance(999);
  work.underWay = 0;
  notify();
  expect(await second).toBe(true);
  expect(clock.pending()).toBe(0);
});
