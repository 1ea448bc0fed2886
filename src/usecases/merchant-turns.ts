/**
 * Work that is done in turns: a queue for each turn, which is a merchant's, or a part of what a merchant has.
 *
 * Invariant: however much waits for one turn, the next piece of another comes after one of its own at most.
 */

export interface MerchantTurns<W> {
  /** Puts work behind what waits for that turn. */
  add(turn: string, work: W): void;
  /** The next piece of the turn that is first, which is the last from now on; undefined: nothing waits. */
  take(): W | undefined;
  /** Forgets what waits for a turn. */
  drop(turn: string): void;
}

export function createMerchantTurns<W>(): MerchantTurns<W> {
  /** In the order of their turns; none is in it for which nothing waits. */
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
