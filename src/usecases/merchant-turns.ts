/**
 * Round robin: one queue for each turn, where a turn belongs to a merchant, or to a part of a merchant's work.
 *
 * Invariant: however much is queued for one turn, at most one piece of it is taken before the next piece of any other turn.
 */

export interface MerchantTurns<W> {
  /** Appends work to the queue of that turn. */
  add(turn: string, work: W): void;
  /** Takes the next piece of the first turn, and moves that turn to the end; undefined: nothing is queued. */
  take(): W | undefined;
  /** Drops the queue of a turn. */
  drop(turn: string): void;
}

export function createMerchantTurns<W>(): MerchantTurns<W> {
  /** Queues in the order of their turns; empty ones are removed. */
  const queues = new Map<string, W[]>();
  return {
    add(turn, work) {
      const queue = queues.get(turn);
      if (queue === undefined) queues.set(turn, [work]);
      else queue.push(work);
    },
    take() {
      for (const [turn, queue] of queues) {
        const work = queue.shift();
        queues.delete(turn);
        if (queue.length > 0) queues.set(turn, queue);
        return work;
      }
      return undefined;
    },
    drop: (turn) => void queues.delete(turn),
  };
}
