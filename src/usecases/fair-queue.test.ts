import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallOutcome } from './call-outcome.ts';
import { createFairQueue } from './fair-queue.ts';
import type { FairQueueLimits } from './fair-shares.ts';

const OUTCOMES: readonly CallOutcome[] = ['answered', 'silent', 'not_called'];

const LIMITS: FairQueueLimits = { atReceiver: 32, inAll: 256, waitingAtReceiver: 100, waitingInAll: 1_000 };

/** Lanes whose calls end when the test ends them. */
function openLanes(limits: FairQueueLimits = LIMITS) {
  const started: string[] = [];
  const ends = new Map<string, (outcome: CallOutcome) => void>();
  const clock = { at: 0 };
  let emptied = 0;
  const lanes = createFairQueue<string>(
    { now: () => clock.at },
    limits,
    (event) => {
      started.push(event);
      return new Promise((resolve) => ends.set(event, resolve));
    },
    () => {
      emptied += 1;
    },
  );
  const end = async (event: string, outcome: CallOutcome = 'answered'): Promise<void> => {
    ends.get(event)?.(outcome);
    ends.delete(event);
    await Promise.resolve();
    await Promise.resolve();
  };
  return { lanes, clock, started, running: () => [...ends.keys()], end, emptied: () => emptied };
}

function fill(
  lanes: { add(merchant: string, receiver: string, event: string): boolean },
  merchant: string,
  receiver: string,
  count: number,
): number {
  let taken = 0;
  for (let i = 0; i < count; i += 1) if (lanes.add(merchant, receiver, `${merchant}/${receiver}/${i}`)) taken += 1;
  return taken;
}

describe('lanes', () => {
  it('start one merchant’s events for one receiver in order, and most of its width at once', async () => {
    const world = openLanes();
    fill(world.lanes, 'm', 'r', 60);
    expect(world.started).toHaveLength(26);
    for (let i = 0; i < 60; i += 1) await world.end(`m/r/${i}`);
    expect(world.started).toEqual(Array.from({ length: 60 }, (_, i) => `m/r/${i}`));
    expect([world.lanes.isEmpty(), world.emptied()]).toEqual([true, 1]);
  });

  it('leave room at a receiver that one merchant’s hanging posts fill', () => {
    const world = openLanes();
    fill(world.lanes, 'busy', 'shared', 100);
    fill(world.lanes, 'other', 'shared', 1);
    expect(world.started.at(-1)).toBe('other/shared/0');
  });

  it('leave one post each to some more merchants when other merchants’ posts fill a receiver', async () => {
    const world = openLanes({ ...LIMITS, newcomersAtReceiver: 3 });
    for (const merchant of ['a', 'b', 'c']) fill(world.lanes, merchant, 'shared', 100);
    const before = world.running().length;
    expect(before).toBeGreaterThanOrEqual(LIMITS.atReceiver);
    fill(world.lanes, 'new', 'shared', 2);
    expect(world.running()).toHaveLength(before + 1);
    await world.end('new/shared/0');
    expect(world.started.at(-1)).toBe('new/shared/1');
    for (const merchant of ['x', 'y', 'z']) fill(world.lanes, merchant, 'shared', 1);
    expect(world.running()).toHaveLength(LIMITS.atReceiver + 3);
    fill(world.lanes, 'elsewhere', 'other', 1);
    expect(world.started.at(-1)).toBe('elsewhere/other/0');
  });

  it('leave room in total, however many receivers a merchant hangs', () => {
    const world = openLanes();
    for (let i = 0; i < 500; i += 1) fill(world.lanes, 'hostile', `dead${i}`, 1);
    expect(world.running().length).toBeLessThan(LIMITS.inAll / 4);
    fill(world.lanes, 'newcomer', 'alive', 1);
    expect(world.started.at(-1)).toBe('newcomer/alive/0');
  });

  it('leave room for a newcomer when a hundred merchants’ receivers do not answer', async () => {
    const world = openLanes({ ...LIMITS, waitingInAll: 100_000 });
    for (let i = 0; i < 100; i += 1) fill(world.lanes, `m${i}`, `dead${i}`, 50);
    for (let wave = 0; wave < 6; wave += 1) for (const event of world.running()) await world.end(event, 'silent');
    expect(world.running()).toHaveLength(100);
    fill(world.lanes, 'newcomer', 'alive', 1);
    expect(world.started.at(-1)).toBe('newcomer/alive/0');
  });

  it('leave room in the queues for a newcomer, and say so when there is none', () => {
    const world = openLanes();
    let taken = 0;
    for (let i = 0; i < 40; i += 1) taken += fill(world.lanes, 'hostile', `dead${i}`, 100);
    expect(taken).toBeLessThan(4_000);
    expect(fill(world.lanes, 'newcomer', 'alive', 60)).toBe(60);
  });

  it('post to a silent receiver less and less, and more again when it answers', async () => {
    const world = openLanes();
    fill(world.lanes, 'm', 'r', 100);
    const widths = [];
    for (let wave = 0; wave < 3; wave += 1) {
      for (const event of world.running()) await world.end(event, 'silent');
      widths.push(world.running().length);
    }
    for (let wave = 0; wave < 4; wave += 1) {
      for (const event of world.running()) await world.end(event);
      widths.push(world.running().length);
    }
    expect(widths).toEqual([1, 1, 1, 2, 8, 26, 26]);
  });

  it('widen again for work that was not tried because it had waited too long', async () => {
    const world = openLanes();
    fill(world.lanes, 'm', 'r', 100);
    for (const event of world.running()) await world.end(event, 'silent');
    expect(world.running()).toHaveLength(1);
    for (const event of world.running()) await world.end(event, 'not_called');
    expect(world.running()).toHaveLength(2);
  });

  it('turn work away for as long as the receiver, at its pace, needs for half of what was turned away before it', async () => {
    const world = openLanes({ ...LIMITS, atReceiver: 1, waitingAtReceiver: 10 });
    const told = (most = 300_000) => world.lanes.sendAway('m', 'r', most);
    const answerAfter = async (pause: number) => {
      world.clock.at += pause;
      for (const event of world.running()) await world.end(event);
    };
    expect(told()).toBe(0);
    fill(world.lanes, 'm', 'r', 1);
    // Time while nothing was queued does not count towards the receiver's pace.
    await answerAfter(60_000);
    fill(world.lanes, 'm', 'r', 11);
    expect(told()).toBe(0);
    for (let answers = 0; answers < 4; answers += 1) await answerAfter(200);
    expect([told(), told(), told()]).toEqual([100, 200, 300]);
    expect(world.lanes.sendAway('other', 'r', 300_000)).toBe(0);
    // As time passes, the first of those turned away have come again.
    world.clock.at += 150;
    expect([told(), told()]).toEqual([250, 350]);
    // Beyond the longest pause, slots are handed out from the start.
    expect([told(400), told(400), told(400)]).toEqual([400, 100, 200]);
    // Few answers are averaged with equal weight; and an answer counts for ten seconds at most.
    await answerAfter(3_400);
    expect(told()).toBe((3 * 200 + 150 + 3_400) / 4 / 2);
    await answerAfter(3_600_000);
    expect(told()).toBe((3 * 200 + 150 + 3_400 + 10_000) / 5 / 2);
  });

  it('take a receiver that no work waits for to be faster than it was', async () => {
    const world = openLanes({ ...LIMITS, atReceiver: 2, waitingAtReceiver: 10 });
    const told = () => world.lanes.sendAway('m', 'r', 300_000);
    const answerOne = async () => {
      world.clock.at += 1_000;
      await world.end(world.running()[0] ?? '');
    };
    fill(world.lanes, 'm', 'r', 6);
    while (world.started.length < 6) await answerOne();
    expect(told()).toBeGreaterThan(400);
    for (let more = 0; more < 200; more += 1) {
      await answerOne();
      world.lanes.add('m', 'r', `more/${more}`);
    }
    world.clock.at += 600_000;
    expect(told()).toBeLessThan(2);
  });

  it('tell for how long a merchant’s receiver has been silent, from the first call to the last, until it answers', async () => {
    const world = openLanes();
    const told = () => world.lanes.silence('m', 'r');
    const callAt = async (at: number, answer: CallOutcome) => {
      world.clock.at = at;
      fill(world.lanes, 'm', 'r', 1);
      await world.end('m/r/0', answer);
      return told();
    };
    expect(told()).toBe(0);
    expect(await callAt(1_000, 'answered')).toBe(0);
    expect(await callAt(5_000, 'silent')).toBe(0);
    expect(await callAt(65_000, 'silent')).toBe(60_000);
    world.clock.at = 9_000_000;
    expect(told()).toBe(60_000);
    expect(await callAt(9_000_001, 'not_called')).toBe(60_000);
    expect(world.lanes.silence('other', 'r')).toBe(0);
    expect(world.lanes.silence('m', 'another')).toBe(0);
    expect(await callAt(9_000_002, 'answered')).toBe(0);
    expect(await callAt(9_000_003, 'silent')).toBe(0);
    // If the clock is set back, the silence begins anew.
    expect(await callAt(1_000, 'silent')).toBe(0);
    expect(await callAt(6_000, 'silent')).toBe(5_000);
  });

  it('let one merchant’s unanswered calls at a receiver restrict no other merchant’s', async () => {
    const world = openLanes();
    fill(world.lanes, 'silenced', 'shared', 100);
    for (const event of world.running()) await world.end(event, 'silent');
    expect(world.running()).toHaveLength(1);
    fill(world.lanes, 'other', 'shared', 20);
    expect(world.running().filter((event) => event.startsWith('other/'))).toHaveLength(20);
    for (const event of world.running()) await world.end(event, event.startsWith('other/') ? 'answered' : 'silent');
    expect(world.running()).toEqual([expect.stringContaining('silenced/')]);
  });

  it('hold a receiver to its width over all merchants, most of which a few may have', () => {
    const world = openLanes();
    for (let i = 0; i < 40; i += 1) fill(world.lanes, `m${i}`, 'shared', 100);
    expect(world.running()).toHaveLength(32);
    expect(new Set(world.running().map((event) => event.split('/')[0])).size).toBeGreaterThan(2);
  });

  it('give a freed place to the work that has waited longest, not to the merchant whose call has ended', async () => {
    const world = openLanes();
    for (let i = 0; i < 8; i += 1) fill(world.lanes, `m${i}`, 'shared', 100);
    for (let wave = 0; wave < 6; wave += 1) for (const event of world.running()) await world.end(event);
    fill(world.lanes, 'late', 'shared', 1);
    for (let ended = 0; ended < 8; ended += 1) await world.end(world.running()[0] ?? '');
    expect(world.started).toContain('late/shared/0');
  });

  it('give the last place in total to the work that has waited longest too', async () => {
    const world = openLanes({ ...LIMITS, atReceiver: 4, inAll: 8 });
    for (let i = 0; i < 8; i += 1) fill(world.lanes, `m${i}`, `r${i}`, 100);
    expect(world.running()).toHaveLength(8);
    fill(world.lanes, 'late', 'r8', 1);
    for (let ended = 0; ended < 8; ended += 1) await world.end(world.running()[0] ?? '');
    expect(world.started).toContain('late/r8/0');
  });

  it('give a receiver’s places in turn to all who wait for it', async () => {
    const world = openLanes({ ...LIMITS, waitingInAll: 10_000 });
    for (let i = 0; i < 40; i += 1) fill(world.lanes, `m${i}`, 'shared', 100);
    const before = world.started.length;
    for (let ended = 0; ended < 400; ended += 1) await world.end(world.running()[0] ?? '');
    const begun = world.started.slice(before);
    const counts = Array.from({ length: 40 }, (_, i) => begun.filter((event) => event.startsWith(`m${i}/`)).length);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(9);
    expect(Math.max(...counts)).toBeLessThanOrEqual(11);
  });

  it('drop what waits when they are cleared, and finish what runs', async () => {
    const world = openLanes();
    fill(world.lanes, 'm', 'r', 40);
    world.lanes.clear();
    for (const event of world.running()) await world.end(event);
    expect(world.started).toHaveLength(26);
    expect(world.lanes.isEmpty()).toBe(true);
  });

  it('start everything that they accepted exactly once, within every limit, whatever ends when', async () => {
    const limits: FairQueueLimits = { atReceiver: 4, inAll: 12, waitingAtReceiver: 6, waitingInAll: 30 };
    const step = fc.record({ merchant: fc.nat(5), receiver: fc.nat(4), ends: fc.nat(100), adds: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 200, size: 'max' }), async (steps) => {
        const world = openLanes(limits);
        const taken: string[] = [];
        for (const [i, { merchant, receiver, ends, adds }] of steps.entries()) {
          const running = world.running();
          if (adds || running.length === 0) {
            const event = `m${merchant} r${receiver} ${i}`;
            if (world.lanes.add(`m${merchant}`, `r${receiver}`, event)) taken.push(event);
          } else await world.end(running[ends % running.length] ?? '', OUTCOMES[ends % 3]);
          const now = world.running();
          expect(now.length).toBeLessThanOrEqual(limits.inAll);
          for (let r = 0; r <= 4; r += 1) {
            expect(now.filter((event) => event.includes(` r${r} `)).length).toBeLessThanOrEqual(limits.atReceiver);
          }
        }
        while (world.running().length > 0) for (const event of world.running()) await world.end(event);
        expect(world.started.toSorted()).toEqual(taken.toSorted());
        expect(world.lanes.isEmpty()).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
