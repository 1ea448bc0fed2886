/**
 * Time as a value: the clock and the timer that everything in the sandbox uses.
 * Invariant: no other file of the sandbox reads the machine's clock or sets a timer that decides an outcome, so a test controls
 * time.
 */

export type World = {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Runs `task` once, `ms` milliseconds from now; the returned function cancels it. */
  readonly schedule: (ms: number, task: () => void) => () => void;
};

/** The machine's own clock and timers. A pending task never keeps the process alive. */
export function realWorld(): World {
  return {
    now: () => Date.now(),
    schedule: (ms, task) => {
      const timer = setTimeout(task, ms);
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}
