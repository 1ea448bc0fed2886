/**
 * Waits for work that goes on by itself: until nothing is under way, or within a round's patience.
 *
 * Invariant: a round never waits longer than its patience for somebody else's answer, and leaves nothing behind of a wait that
 * it has given up; what is under way goes on beside the next run.
 */

import type { Deps } from './deps.ts';

export interface Idle {
  /** Resolves when nothing is under way; earlier when `signal` aborts, for whoever does not want to know any more. */
  idle(signal?: AbortSignal): Promise<void>;
  /** To be called whenever something has ended. */
  tell(): void;
}

/** Lets others wait until `isIdle` holds. */
export function createIdle(isIdle: () => boolean): Idle {
  const waiting = new Set<() => void>();
  return {
    idle(signal) {
      if (isIdle()) return Promise.resolve();
      return new Promise((resolve) => {
        const end = (): void => {
          waiting.delete(end);
          resolve();
        };
        waiting.add(end);
        signal?.addEventListener('abort', end, { once: true });
      });
    },
    tell() {
      if (isIdle()) for (const end of waiting) end();
    },
  };
}

/** A run of a round waits this long for upstreams. */
const PATIENCE_MS = 1_000;

/** Returns false when patience was over before nothing was under way. */
export async function idleInTime({ clock }: Pick<Deps, 'clock'>, work: Pick<Idle, 'idle'>): Promise<boolean> {
  const patience = new AbortController();
  const cancel = clock.after(PATIENCE_MS, () => patience.abort());
  await work.idle(patience.signal);
  cancel();
  return !patience.signal.aborted;
}
