/**
 * What one process knows of holds: how long an answer counts, and what happens when it comes late or not at all.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SENDERS } from '../../src/connectors/registry.ts';
import type { Setting } from '../../src/domain/records.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { memoryLog } from '../../src/platform/testing/memory-log.ts';
import { StoreUnavailable } from '../../src/store/errors.ts';
import { holdConnector, resumeConnector } from '../../src/usecases/connector-hold.ts';
import { openHolds } from '../../src/usecases/holds.ts';
import { openWorld, type World } from '../support/world.ts';

const MOMO = 'mtn-momo-disbursement';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** A store that answers questions about holds by `answer`. */
const storeWith = (answer: (found: Setting | undefined) => Promise<Setting | undefined>) => {
  const { setting } = world.gateway.deps.store;
  return { setting: { get: async (shard: number, id: string) => answer(await setting.get(shard, id)) } };
};

test('an answer that took five seconds to come is not relied on', async () => {
  const clock = manualClock(0);
  const log = memoryLog(clock);
  const store = storeWith(async (found) => {
    await clock.advance(5_000);
    return found;
  });
  const holds = openHolds({ store, clock, log }, SENDERS.slice(0, 1));
  await expect(holds.isHeld(MOMO)).rejects.toThrow(StoreUnavailable);
  await holds.look();
  expect(holds.waiting()).toHaveLength(1);
  // Slow is not broken.
  expect(log.lines.map((line) => /"level":"(.*?)".*"event":"(.*?)"/.exec(line)?.slice(1).join())).toEqual(
    Array(2).fill('warn,hold_late'),
  );
});

test('one that took a second and a half is: a slow database stops no payout', async () => {
  const { deps } = world.gateway;
  const clock = manualClock(0);
  const store = storeWith(async (found) => {
    await clock.advance(1_500);
    return found;
  });
  const holds = openHolds({ store, clock, log: deps.log }, SENDERS);
  expect(await holds.isHeld(MOMO)).toBe(false);
  await holds.look();
  expect(holds.waiting()).toEqual([]);
});

test('an answer is used for a second, a change is logged once, and what could not be read is asked again at once', async () => {
  const { deps } = world.gateway;
  const clock = manualClock(0);
  const logged: unknown[] = [];
  const log = { ...deps.log, warn: (event: string, fields?: object) => void logged.push([event, fields]) };
  let reads = 0;
  let isAway = false;
  const store = storeWith(async (found) => {
    reads += 1;
    if (isAway) throw new Error('the shard of settings is away');
    return found;
  });
  const holds = openHolds({ store, clock, log }, SENDERS);
  const isHeld = async (milliseconds = 0): Promise<readonly [boolean, number]> => {
    await clock.advance(milliseconds);
    return [await holds.isHeld(MOMO), reads];
  };
  expect(await isHeld()).toEqual([false, 1]);
  await holdConnector(deps, MOMO, { by: 'amina', why: 'it pays twice' });
  expect(await isHeld(999)).toEqual([false, 1]);
  expect(await isHeld(1)).toEqual([true, 2]);
  expect(await isHeld(1_000)).toEqual([true, 3]);
  isAway = true;
  await expect(isHeld(1_000)).rejects.toThrow('away');
  isAway = false;
  expect(await isHeld()).toEqual([true, 5]);
  await resumeConnector(deps, MOMO);
  expect(await isHeld(1_000)).toEqual([false, 6]);
  expect(await isHeld(1_000)).toEqual([false, 7]);
  expect(logged).toEqual(['connector_held', 'connector_resumed'].map((event) => [event, { connector: MOMO }]));
});

test.each<[Error, number]>([
  [new StoreUnavailable(), 0],
  [new TypeError('a fault of ours'), SENDERS.length],
])(
  'what cannot be read (%s) keeps no other work from being claimed, and a fault of ours is told once',
  async (error, times) => {
    const { clock } = world.gateway.deps;
    const log = memoryLog(clock);
    let isAway = true;
    const store = storeWith(async (found) => {
      if (isAway) throw error;
      return found;
    });
    const holds = openHolds({ store, clock, log }, SENDERS);
    await holds.look();
    await holds.look();
    expect([holds.held(), holds.waiting()]).toEqual([[], SENDERS]);
    expect(log.lines.filter((line) => line.includes('"event":"hold_unread"'))).toHaveLength(times);
    await expect(holds.isHeld(MOMO)).rejects.toThrow(error.message);
    // And its own work no longer than that.
    isAway = false;
    await holds.look();
    expect([holds.held(), holds.waiting()]).toEqual([[], []]);
  },
);
