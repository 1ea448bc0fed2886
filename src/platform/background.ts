/**
 * Work that no caller awaits: it is kept track of, so that the process ends only after it.
 *
 * Invariant: nothing that was begun is forgotten, and its failure is logged.
 */
import type { Log } from './platform.ts';

export interface Background {
  /** Keeps track of work that has begun. */
  begun(work: Promise<unknown>): void;
  /** Resolves once nothing is under way any more, including what such work has begun in turn. */
  idle(): Promise<void>;
}

/** Makes a keeper of work that nobody waits for. Its failures go to `log`, and to no one else. */
export function createBackground(log: Pick<Log, 'error'>): Background {
  const underWay = new Set<Promise<unknown>>();
  return {
    begun(work) {
      const tracked = work
        .catch((error: unknown) => log.error('background_failed', {}, error))
        .finally(() => underWay.delete(tracked));
      underWay.add(tracked);
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
