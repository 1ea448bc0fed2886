/**
 * How long the database has been silent, as far as this process can know.
 *
 * Invariant: nobody is called silent before whatever has arrived has been read. After a stall of this process, Node.js runs
 * timers before sockets; and if a timer fires long overdue, the server gets a grace period to answer, because it may have
 * stalled too. After a few such graces a process that is always late waits no longer.
 */

/** A timer that comes later than that has been held up, with everything else in the process. */
const HELD_UP_MS = 100;
/** Enough for a healthy server to answer. */
const GRACE_MS = 1_000;
const MOST_GRACES = 2;

/** Calls `act` once after so many milliseconds of silence. Returns what calls it off. */
export function afterSilence(ms: number, act: () => void): () => void {
  let timer: NodeJS.Timeout;
  let last: NodeJS.Immediate | undefined;
  const wait = (forMs: number, graces: number): void => {
    const due = performance.now() + forMs;
    timer = setTimeout(() => {
      if (graces > 0 && performance.now() - due > HELD_UP_MS) wait(GRACE_MS, graces - 1);
      else last = setImmediate(act);
    }, forMs);
  };
  wait(ms, MOST_GRACES);
  return () => {
    clearTimeout(timer);
    clearImmediate(last);
  };
}
