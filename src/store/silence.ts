/**
 * How long the database has said nothing, as far as this process can know.
 *
 * Invariant: time in which the process itself stood still does not count. After a pause of its machine the timers of Node.js
 * come before the sockets: they would call a server silent whose answer has long arrived.
 */

/** A timer that comes later than that has been held up, with everything else in the process. */
const HELD_UP_MS = 100;
/** Enough to read what has arrived, and for a server that stood still with us to answer. */
const GRACE_MS = 1_000;

/** Calls `act` once after so many milliseconds of silence. Returns what calls it off. */
export function afterSilence(ms: number, act: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (forMs: number): void => {
    const due = performance.now() + forMs;
    timer = setTimeout(() => {
      if (performance.now() - due > HELD_UP_MS) wait(GRACE_MS);
      else act();
    }, forMs);
  };
  wait(ms);
  return () => clearTimeout(timer);
}
