/**
 * A world whose time stands still until a test moves it.
 * Invariant: tasks run in order of their due time, and those due at the same instant in the order in which they were set.
 */
import type { World } from '../world.ts';

export type ManualWorld = World & {
  /** Moves the clock by `ms` and runs every task that becomes due on the way, including those set by such tasks. */
  readonly advance: (ms: number) => void;
};

export function manualWorld(start = Date.UTC(2026, 10, 20, 14, 2, 0)): ManualWorld {
  let time = start;
  let tasks: { due: number; run: () => void }[] = [];
  const nextDue = (until: number) => tasks.filter((task) => task.due <= until).sort((a, b) => a.due - b.due)[0];

  return {
    now: () => time,
    schedule: (ms, run) => {
      const task = { due: time + ms, run };
      tasks.push(task);
      return () => {
        tasks = tasks.filter((other) => other !== task);
      };
    },
    advance: (ms) => {
      const until = time + ms;
      for (let task = nextDue(until); task !== undefined; task = nextDue(until)) {
        const done = task;
        tasks = tasks.filter((other) => other !== done);
        time = Math.max(time, done.due);
        done.run();
      }
      time = until;
    },
  };
}
