/**
 * Time that tests move by hand.
 *
 * Invariant: a task given to `after` runs at most once, never before its time, and never after it was cancelled.
 */
import type { Clock } from '../platform.ts';

/** A clock for tests and simulations: it stands still until it is moved. */
export interface ManualClock extends Clock {
  /**
   * Moves time forward, running each task that falls due at its own time and in order (those of one time in the
   * order they were given), including tasks that other tasks add. Promises settle before, between and after them.
   */
  advance(milliseconds: number): Promise<void>;
  /**
   * Moves time forward at once, as for a machine that was asleep: what has fallen due runs afterwards, in order, and nothing that it
   * begins sees time pass.
   */
  jump(milliseconds: number): Promise<void>;
  /** Sets time back, as when a machine's wrong clock is corrected; tasks do not have to wait longer for it. */
  setBack(milliseconds: number): void;
  /** How many tasks wait: a test can prove that nothing is left behind. */
  pending(): number;
}

interface Waiting {
  due: number;
  readonly order: number;
  readonly task: () => void;
}

/** How many tasks one `advance` runs before it assumes that a task re-arms itself without delay. */
const MAX_TASKS = 1_000_000;

/** Makes a clock that shows `start` (milliseconds since 1970) until `advance` moves it. */
export function manualClock(start: number): ManualClock {
  let time = start;
  let order = 0;
  let last: Promise<void> = Promise.resolve();
  const waiting = new Set<Waiting>();

  const run = async (milliseconds: number): Promise<void> => {
    const target = time + milliseconds;
    await settle();
    for (let count = 0; ; count += 1) {
      const next = earliest(waiting);
      if (next === undefined || next.due > target) break;
      if (count === MAX_TASKS) throw new Error('a task re-arms itself without delay: the clock cannot move on');
      waiting.delete(next);
      time = Math.max(time, next.due);
      next.task();
      await settle();
    }
    time = target;
    await settle();
  };

  /** One after the other: two test helpers that move the same clock concurrently must not run a task twice. */
  const inTurn = (milliseconds: number, move: () => Promise<void>): Promise<void> => {
    if (!(milliseconds >= 0)) return Promise.reject(new RangeError('time moves forward only'));
    const moved = last.then(move);
    last = moved.catch(() => undefined);
    return moved;
  };

  return {
    now: () => time,
    wall: () => time,
    leaptAt: () => undefined,
    after(milliseconds, task) {
      order += 1;
      const entry = { due: time + Math.max(0, milliseconds), order, task };
      waiting.add(entry);
      return () => {
        waiting.delete(entry);
      };
    },
    advance: (milliseconds) => inTurn(milliseconds, () => run(milliseconds)),
    jump: (milliseconds) =>
      inTurn(milliseconds, async () => {
        await settle();
        time += milliseconds;
        await run(0);
      }),
    setBack(milliseconds) {
      time -= milliseconds;
      for (const entry of waiting) entry.due -= milliseconds;
    },
    pending: () => waiting.size,
  };
}

function earliest(waiting: ReadonlySet<Waiting>): Waiting | undefined {
  let first: Waiting | undefined;
  for (const entry of waiting) {
    if (first === undefined || entry.due < first.due || (entry.due === first.due && entry.order < first.order)) {
      first = entry;
    }
  }
  return first;
}

/** Two turns of the event loop: by then every promise chain that waits for no socket has finished. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
}
