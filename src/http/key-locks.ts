/**
 * A lock for each Idempotency-Key in this process: calls under one key run one after the other, in order of arrival.
 *
 * Invariant: of the calls under one key only one runs at a time, and every call that waits either gets the lock or is refused. Between
 * processes the database decides.
 */

import { Refusal } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';

/** Locks of Idempotency-Keys: calls of this process that bring the same key take turns. */
export interface KeyLocks {
  /**
   * Waits for the lock of the key of that id, and returns the function that releases it.
   *
   * @throws Refusal 1203 `IN_PROGRESS` after ten seconds (contract §2).
   */
  acquire(id: string): Promise<() => void>;
}

const MAX_WAIT_MS = 10_000;
/** Seconds after which a call that was refused because another one is under way may be sent again. */
const RETRY_SECONDS = 5;

/** A call that ends hands the lock to the one that has waited longest: waking all that wait each time would take quadratic time. */
export function createKeyLocks(clock: Pick<Clock, 'after'>): KeyLocks {
  /** By the id of each key that is locked: the calls that wait for it, the longest waiting first. */
  const locked = new Map<string, Set<() => void>>();

  function releaseOf(id: string, waiting: Set<() => void>): () => void {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      const [next] = waiting;
      if (next === undefined) locked.delete(id);
      else next();
    };
  }

  return {
    async acquire(id) {
      const others = locked.get(id);
      const waiting = others ?? new Set();
      if (others === undefined) locked.set(id, waiting);
      else await handedOver(clock, waiting);
      return releaseOf(id, waiting);
    },
  };
}

/** Resolves when the lock is handed over. @throws Refusal 1203 `IN_PROGRESS` when that takes too long. */
function handedOver(clock: Pick<Clock, 'after'>, waiting: Set<() => void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const take = (): void => {
      waiting.delete(take);
      cancel();
      resolve();
    };
    const cancel = clock.after(MAX_WAIT_MS, () => {
      waiting.delete(take);
      reject(inProgress());
    });
    waiting.add(take);
  });
}

function inProgress(): Refusal {
  const details = [{ field: 'Idempotency-Key', code: 'IN_PROGRESS' }] as const;
  return new Refusal(1203, { retryable: true, retryAfter: RETRY_SECONDS, details });
}
