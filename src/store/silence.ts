/**
 * How long the database has said nothing, as far as this process can know.
 *
 * Invariant: nobody is called silent before what has arrived has been read. After a pause of the process the timers of Node.js
 * come before its sockets; and a pause that ends long after the time was up gives a server that stood still too a moment to
 * answer. A process that is always late waits no longer for that.
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
