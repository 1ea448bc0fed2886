/**
 * How long the database has been silent, as far as this process can know.
 *
 * Invariant: the server is not called silent before everything that has arrived has been read. After a stall of this process,
 * Node.js runs timers before sockets; and if a timer fires long overdue, the server gets a grace period to answer, because it may
 * have stalled too. After `MAX_GRACES` of these, a process whose timers are always late waits no longer.
 */

/** A timer that fires later than this (ms) has been held up, with everything else in the process. */
const HELD_UP_MS = 100;
/** Enough for a healthy server to answer. */
const GRACE_MS = 1_000;
const MAX_GRACES = 2;

/** Calls `act` once after `ms` milliseconds of silence. Returns a function that cancels this. */
export function watchdog(ms: number, act: () => void): () => void {
  let timer: NodeJS.Timeout;
  let last: NodeJS.Immediate | undefined;
  const wait = (forMs: number, graces: number): void => {
    const due = performance.now() + forMs;
    timer = setTimeout(() => {
      if (graces > 0 && performance.now() - due > HELD_UP_MS) wait(GRACE_MS, graces - 1);
      else last = setImmediate(act);
    }, forMs);
  };
  wait(ms, MAX_GRACES);
  return () => {
    clearTimeout(timer);
    clearImmediate(last);
  };
}
