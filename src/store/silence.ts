/**
 * How long the database has said nothing, as far as this process can know.
 *
 * Invariant: a pause in which the process itself stood still does not count. After one the timers of Node.js come before the
 * sockets: they would call a server silent whose answer has long arrived. A process that is always late waits no longer for that.
 */

/** A timer that comes later than that has been held up, with everything else in the process. */
const HELD_UP_MS = 100;
/** Enough to read what has arrived, and for a server that stood still with us to answer. */
const GRACE_MS = 1_000;
const MOST_GRACES = 2;

/** Calls `act` once after so many milliseconds of silence. Returns what calls it off. */
export function afterSilence(ms: number, act: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (forMs: number, graces: number): void => {
    const due = performance.now() + forMs;
    timer = setTimeout(() => {
      if (graces > 0 && performance.now() - due > HELD_UP_MS) wait(GRACE_MS, graces - 1);
      else act();
    }, forMs);
  };
  wait(ms, MOST_GRACES);
  return () => clearTimeout(timer);
}
