/**
 * Round robin: one queue of work for each key, served in rotation.
 *
 * Invariant: however much is queued under one key, at most one piece of it is taken before the next piece of any other key.
 */

/** Queues that are served in rotation. */
export interface RoundRobin<W> {
  /** Appends work to the queue of that key. */
  add(key: string, work: W): void;
  /** Takes the next piece of the first queue, and moves that queue to the end; undefined: nothing is queued. */
  take(): W | undefined;
  /** Drops the queue of a key. */
  drop(key: string): void;
}

/** Makes queues in rotation, with nothing queued. */
export function createRoundRobin<W>(): RoundRobin<W> {
  /** Queues in the order in which they are served; empty ones are removed. */
  const queues = new Map<string, W[]>();
  return {
    add(key, work) {
      const queue = queues.get(key);
      if (queue === undefined) queues.set(key, [work]);
      else queue.push(work);
    },
    take() {
      for (const [key, queue] of queues) {
        const work = queue.shift();
        queues.delete(key);
        if (queue.length > 0) queues.set(key, queue);
        return work;
      }
      return undefined;
    },
    drop: (key) => void queues.delete(key),
  };
}
