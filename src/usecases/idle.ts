/**
 * Waits for work that runs in the background: until nothing is in flight, or until a round's patience is over.
 *
 * Invariant: a round never waits longer than its patience for an upstream's answer, and an abandoned wait leaves nothing
 * behind; work in flight continues beside the next run.
 */

import type { Deps } from './deps.ts';

export interface Idle {
  /** Resolves when nothing is in flight; earlier when `signal` aborts, because the caller has given up waiting. */
  idle(signal?: AbortSignal): Promise<void>;
  /** To be called whenever a piece of work has ended. */
  notify(): void;
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
    notify() {
      if (isIdle()) for (const end of waiting) end();
    },
  };
}

/** 1 s that a run of a round waits for upstreams; what is still in flight then continues beside the next run. */
export const PATIENCE_MS = 1_000;

/** Waits until `work` is idle. Returns false if `PATIENCE_MS` passed first. */
export async function idleInTime({ clock }: Pick<Deps, 'clock'>, work: Pick<Idle, 'idle'>): Promise<boolean> {
  const patience = new AbortController();
  const cancel = clock.after(PATIENCE_MS, () => patience.abort());
  await work.idle(patience.signal);
  cancel();
  return !patience.signal.aborted;
}
