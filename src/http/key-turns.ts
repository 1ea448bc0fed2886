/**
 * A lock for each Idempotency-Key in this process: calls under one key run one after the other, in order of arrival.
 *
 * Invariant: of the calls under one key only one runs at a time, and every call that waits either gets its turn or is refused. Between
 * processes the database decides.
 */

import { Refusal } from '../domain/refusal.ts';
import type { Clock } from '../platform/platform.ts';

export interface KeyTurns {
  /**
   * Waits for the turn of a call under the key of that id, and returns the function that ends the turn.
   *
   * @throws Refusal 1203 `IN_PROGRESS` after ten seconds (contract §2).
   */
  take(id: string): Promise<() => void>;
}

const MAX_WAIT_MS = 10_000;
/** Seconds after which a call that was refused because another one is under way may be sent again. */
const RETRY_SECONDS = 5;

/** A call that ends hands its turn to the one that has waited longest: waking all that wait each time would take quadratic time. */
export function createKeyTurns(clock: Pick<Clock, 'after'>): KeyTurns {
  /** By the id of each key in use: the calls that wait for their turn, the longest waiting first. */
  const inUse = new Map<string, Set<() => void>>();

  function endOf(id: string, waiting: Set<() => void>): () => void {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const [next] = waiting;
      if (next === undefined) inUse.delete(id);
      else next();
    };
  }

  return {
    async take(id) {
      const others = inUse.get(id);
      const waiting = others ?? new Set();
      if (others === undefined) inUse.set(id, waiting);
      else await turnOf(clock, waiting);
      return endOf(id, waiting);
    },
  };
}

/** Resolves when the turn is handed over. @throws Refusal 1203 `IN_PROGRESS` when that takes too long. */
function turnOf(clock: Pick<Clock, 'after'>, waiting: Set<() => void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      waiting.delete(begin);
      cancel();
      resolve();
    };
    const cancel = clock.after(MAX_WAIT_MS, () => {
      waiting.delete(begin);
      reject(inProgress());
    });
    waiting.add(begin);
  });
}

function inProgress(): Refusal {
  const details = [{ field: 'Idempotency-Key', code: 'IN_PROGRESS' }] as const;
  return new Refusal(1203, { retryable: true, retryAfter: RETRY_SECONDS, details });
}
