/** What the limiter turns away, by what waits in the store and by how long the event loop takes for a turn. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLimiter, type Limiter, LOAD_CLASSES, type LoadClass } from './overload.ts';

interface Hand {
  readonly limiter: Limiter;
  /** Advances the time. */
  pass(milliseconds: number): void;
  /** Ends the event loop's turn. */
  endTurn(): void;
  /** Gives the store that many more changes. */
  give(changes: number): void;
  /** Ends that many of the oldest. */
  take(changes: number): Promise<void>;
}

function byHand(): Hand {
  let now = 1_000;
  let turns: (() => void)[] = [];
  const under: (() => void)[] = [];
  const limiter = createLimiter({
    now: () => now,
    afterTurn: (task) => void turns.push(task),
  });
  return {
    limiter,
    pass: (milliseconds) => {
      now += milliseconds;
    },
    endTurn() {
      const ended = turns;
      turns = [];
      for (const task of ended) task();
    },
    give(changes) {
      for (let count = 0; count < changes; count += 1) {
        void limiter.commits.follow(new Promise<void>((done) => void under.push(done)));
      }
    },
    async take(changes) {
      for (const done of under.splice(0, changes)) done();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Lets the store take a thousand changes a second, with hundreds waiting, until that is its measured rate. */
async function atOneAMillisecond(hand: Hand): Promise<void> {
  hand.give(300);
  for (let windows = 0; windows < 40; windows += 1) {
    hand.give(200);
    hand.pass(200);
    await hand.take(200);
  }
  hand.endTurn();
  await hand.take(300);
  hand.pass(10_000);
}

/** How many of a thousand requests of a class are admitted. */
function admitted({ limiter }: Hand, loadClass: LoadClass): number {
  let count = 0;
  for (let asked = 0; asked < 1_000; asked += 1) if (limiter.admits(loadClass)) count += 1;
  return count;
}

test.each([
  // Changes that wait, and how many of a thousand requests of each class are admitted.
  [0, [1_000, 1_000, 1_000, 1_000, 1_000]],
  [128 + 25, [1_000, 1_000, 1_000, 1_000, 1_000]],
  [128 + 34, [400, 1_000, 1_000, 1_000, 1_000]],
  [128 + 40, [0, 1_000, 1_000, 1_000, 1_000]],
  [128 + 60, [0, 500, 1_000, 1_000, 1_000]],
  [128 + 80, [0, 0, 1_000, 1_000, 1_000]],
  [128 + 400, [0, 0, 500, 1_000, 1_000]],
  [128 + 1_250, [0, 0, 0, 500, 1_000]],
  [128 + 2_500, [0, 0, 0, 0, 500]],
  [128 + 3_000, [0, 0, 0, 0, 0]],
])('with %i waiting changes, at a thousand a second', async (waiting, expected) => {
  const hand = byHand();
  await atOneAMillisecond(hand);
  hand.give(waiting);
  const found = LOAD_CLASSES.map((loadClass) => admitted(hand, loadClass));
  for (const [at, count] of found.entries()) expect(Math.abs(count - (expected[at] ?? 0))).toBeLessThan(80);
});

test('a faster store lets more wait', async () => {
  const hand = byHand();
  hand.give(300);
  for (let windows = 0; windows < 40; windows += 1) {
    hand.give(1_000);
    hand.pass(200);
    await hand.take(1_000);
  }
  hand.endTurn();
  hand.pass(10);
  // At five a millisecond: the last 128 that wait do not count.
  await hand.take(300);
  hand.give(128 + 120);
  expect(admitted(hand, 'read')).toBe(1_000);
  hand.give(85);
  expect(admitted(hand, 'read')).toBe(0);
  expect(admitted(hand, 'begin')).toBeGreaterThan(900);
});

test('what was turned away is not held against the requests that come once less waits', async () => {
  const hand = byHand();
  await atOneAMillisecond(hand);
  hand.give(128 + 3_000);
  expect(admitted(hand, 'read')).toBe(0);
  await hand.take(2_968);
  expect(Math.abs(admitted(hand, 'read') - 533)).toBeLessThan(80);
});

test('one fast moment does not count as the store’s speed', async () => {
  const hand = byHand();
  await atOneAMillisecond(hand);
  hand.give(1_228);
  await hand.take(1);
  hand.pass(100);
  await hand.take(1_000);
  hand.pass(100);
  await hand.take(1);
  // At five a millisecond, what comes now would wait for less than 25.
  expect(admitted(hand, 'read')).toBe(0);
  expect(admitted(hand, 'begin')).toBeGreaterThan(500);
});

test('where little waits, little is completed: a quiet hour does not lower the limits', async () => {
  const hand = byHand();
  await atOneAMillisecond(hand);
  for (let changes = 0; changes < 100; changes += 1) {
    hand.give(1);
    hand.pass(1_000);
    await hand.take(1);
  }
  hand.give(150);
  expect(admitted(hand, 'read')).toBe(1_000);
});

test('a store that finishes whatever it is given counts as a fast one, although nothing waits long', async () => {
  const hand = byHand();
  await atOneAMillisecond(hand);
  for (let windows = 0; windows < 40; windows += 1) {
    hand.give(1_000);
    hand.pass(100);
    await hand.take(999);
    hand.pass(100);
    await hand.take(1);
  }
  hand.give(128 + 100);
  expect(admitted(hand, 'read')).toBe(1_000);
});

test('a store that rests between its bursts does not count as a slow one', async () => {
  const hand = byHand();
  await atOneAMillisecond(hand);
  for (let windows = 0; windows < 40; windows += 1) {
    hand.give(50);
    hand.pass(100);
    await hand.take(50);
    hand.give(50);
    hand.pass(100);
    await hand.take(1);
    await hand.take(49);
  }
  hand.give(128 + 24);
  expect(admitted(hand, 'read')).toBe(1_000);
});

test.each([
  { more: 0, what: 'nothing else comes' },
  { more: 1, what: 'more changes come' },
])('a disk’s short pause is not overload; if $what, a stalled database sheds one class after the other', ({ more }) => {
  const hand = byHand();
  hand.pass(1_000);
  hand.give(16);
  const levels: number[] = [];
  for (let tenths = 0; tenths <= 40; tenths += 1) {
    if (tenths > 0) hand.give(more);
    levels.push(LOAD_CLASSES.filter((loadClass) => admitted(hand, loadClass) === 0).length);
    hand.endTurn();
    hand.pass(100);
  }
  expect(levels.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 0));
  expect(levels.at(-1)).toBe(5);
  expect([...levels].sort((a, b) => a - b)).toEqual(levels);
});

test('once a stall has ended, everything is admitted', async () => {
  const hand = byHand();
  hand.give(60);
  hand.pass(10_000);
  expect(hand.limiter.admits('callback')).toBe(false);
  expect(hand.limiter.level()).toBe(5);
  await hand.take(60);
  hand.endTurn();
  expect(LOAD_CLASSES.every((loadClass) => hand.limiter.admits(loadClass))).toBe(true);
  hand.pass(1_999);
  expect(hand.limiter.level()).toBe(5);
  hand.pass(1);
  expect(hand.limiter.level()).toBe(0);
});

test('a process that has just begun counts as turning nobody away', () => {
  expect(byHand().limiter.level()).toBe(0);
});

test('what has ended no longer counts as old, although there is more than before', async () => {
  const hand = byHand();
  hand.give(16);
  hand.pass(900);
  hand.give(20);
  expect(hand.limiter.admits('read')).toBe(false);
  await hand.take(16);
  hand.endTurn();
  expect(admitted(hand, 'read')).toBe(1_000);
});

test('a long turn of the event loop counts as a queue, during that turn and in the next', () => {
  const hand = byHand();
  expect(admitted(hand, 'read')).toBe(1_000);
  hand.pass(30);
  expect([admitted(hand, 'read'), admitted(hand, 'collect')]).toEqual([0, 1_000]);
  hand.endTurn();
  expect(admitted(hand, 'read')).toBe(0);
  hand.endTurn();
  expect(admitted(hand, 'read')).toBe(1_000);
});

test('however long a turn is, it sheds only reads and what begins, never a payment that has begun', () => {
  const hand = byHand();
  admitted(hand, 'read');
  hand.pass(60_000);
  const found = LOAD_CLASSES.map((loadClass) => admitted(hand, loadClass));
  expect(found).toEqual([0, 0, 1_000, 1_000, 1_000]);
});

test('callers that wait to be looked up count as changes do: reads that stall shed every class', () => {
  const hand = byHand();
  for (let callers = 0; callers < 16; callers += 1) void hand.limiter.reads.follow(new Promise(() => undefined));
  expect(admitted(hand, 'read')).toBe(1_000);
  hand.endTurn();
  hand.pass(10_000);
  expect(LOAD_CLASSES.map((loadClass) => admitted(hand, loadClass))).toEqual([0, 0, 0, 0, 0]);
});

test('a long turn with few requests in it sheds nothing; nor do a few changes that wait for long', () => {
  const hand = byHand();
  admitted(hand, 'read');
  hand.endTurn();
  hand.give(15);
  for (let requests = 0; requests < 10; requests += 1) {
    hand.pass(500);
    expect(hand.limiter.admits('read')).toBe(true);
  }
  hand.endTurn();
  expect(hand.limiter.admits('read')).toBe(true);
});

test('a long turn before an idle period is forgotten', () => {
  const hand = byHand();
  admitted(hand, 'read');
  hand.pass(500);
  hand.endTurn();
  hand.pass(6);
  expect(admitted(hand, 'read')).toBe(1_000);
});

test('whatever happens, a class loses nothing before all lower classes have lost everything', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('give' as const), by: fc.nat(400) }),
    fc.record({ kind: fc.constant('pass' as const), by: fc.nat(900) }),
    fc.record({ kind: fc.constant('turn' as const), by: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const hand = byHand();
      for (const { kind, by } of steps) {
        if (kind === 'give') hand.give(by);
        else if (kind === 'pass') hand.pass(by);
        else hand.endTurn();
        const shares = LOAD_CLASSES.map((loadClass) => admitted(hand, loadClass));
        const touched = shares.findLastIndex((count) => count < 1_000);
        expect(shares.slice(0, Math.max(0, touched)).every((count) => count <= 1)).toBe(true);
      }
    }),
    { numRuns: 60 },
  );
});

test('a failure ends its piece of work, and is passed to the caller', async () => {
  const { limiter } = byHand();
  const failed = limiter.reads.follow(Promise.reject(new Error('gone')));
  expect(limiter.reads.pending()).toBe(1);
  await expect(failed).rejects.toThrow('gone');
  expect(limiter.reads.pending()).toBe(0);
});
