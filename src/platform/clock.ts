/**
 * Time: the machine's clock for the service, and one that can be shifted for sandboxes.
 *
 * Invariant: a task given to `after` runs at most once, never before its time, and never after it was cancelled.
 */
import type { Clock } from './platform.ts';

/** Milliseconds; Node.js fires a longer timer at once, so longer waits are made of several timers. */
const MAX_TIMER_MS = 2_147_483_647;
/**
 * Milliseconds; Node.js timers use another clock than `Date` and round, so they fire up to a millisecond early. More than this
 * means that the clock was set back.
 */
const MAX_EARLY_MS = 5;

/** The machine's clock. A task that throws ends the process, as any uncaught error does. */
export function systemClock(): Clock {
  return {
    now: Date.now,
    wall: Date.now,
    leaptAt: () => undefined,
    after(milliseconds, task) {
      let rest = Math.max(0, milliseconds);
      const due = Date.now() + rest;
      let timer: NodeJS.Timeout;
      const arm = (): void => {
        const part = Math.min(rest, MAX_TIMER_MS);
        rest -= part;
        timer = setTimeout(rest > 0 ? arm : run, part);
      };
      const run = (): void => {
        rest = due - Date.now();
        if (rest > 0 && rest <= MAX_EARLY_MS) arm();
        else task();
      };
      arm();
      return () => clearTimeout(timer);
    },
  };
}

/** A clock that runs with another one, and can be set forward. */
export interface ShiftableClock extends Clock {
  /** How far it is ahead, in milliseconds. */
  shift(): number;
  /**
   * Sets how far it is ahead. Tasks that thereby become due run at once, in order of their times; the others run that much
   * sooner. `at` is when that was decided, by `wall`. @throws RangeError when that would set it back.
   */
  shiftTo(milliseconds: number, at?: number): void;
}

interface Timer {
  /** In this clock's time. */
  readonly due: number;
  readonly run: () => void;
  disarm(): void;
}

/** A clock that can be ahead of `base`; at first it is not. Its `wall` stays that of the base. */
export function shiftableClock(base: Clock = systemClock()): ShiftableClock {
  let ahead = 0;
  let leapt: number | undefined;
  // In insertion order: a stable sort by time keeps it for tasks due at the same time.
  const timers = new Set<Timer>();
  const now = (): number => base.now() + ahead;

  function arm(timer: Timer, milliseconds: number): void {
    timer.disarm = base.after(milliseconds, timer.run);
  }

  return {
    now,
    wall: base.wall,
    leaptAt: () => leapt,
    after(milliseconds, task) {
      const wait = Math.max(0, milliseconds);
      const timer: Timer = {
        due: now() + wait,
        run: () => {
          timers.delete(timer);
          task();
        },
        disarm: () => undefined,
      };
      timers.add(timer);
      arm(timer, wait);
      return () => {
        timers.delete(timer);
        timer.disarm();
      };
    },
    shift: () => ahead,
    shiftTo(milliseconds, at = base.wall()) {
      if (!(milliseconds >= ahead)) throw new RangeError('time moves forward only');
      if (milliseconds === ahead) return;
      ahead = milliseconds;
      leapt = at;
      const time = now();
      // All timers are armed anew: those that are due wait no longer, and keep their order.
      for (const timer of [...timers].toSorted((one, other) => one.due - other.due)) {
        timer.disarm();
        arm(timer, Math.max(0, timer.due - time));
      }
    },
  };
}
