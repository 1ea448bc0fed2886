/**
 * Work of many merchants, each in turn: a queue for every merchant.
 *
 * Invariant: however much one merchant has, another's next piece comes after one of its own at most.
 */

export interface MerchantTurns<W> {
  /** Puts work behind what its merchant has waiting. */
  add(merchantId: string, work: W): void;
  /** The next piece of the merchant whose turn it is, who is last from now on; undefined: nothing waits. */
  take(): W | undefined;
  /** Forgets what waits of a merchant. */
  drop(merchantId: string): void;
}

export function createMerchantTurns<W>(): MerchantTurns<W> {
  /** In the order of their turns; nobody is in it of whom nothing waits. */
  const queues = new Map<string, W[]>();
  return {
    add(merchantId, work) {
      const queue = queues.get(merchantId);
      if (queue === undefined) queues.set(merchantId, [work]);
      else queue.push(work);
    },
    take() {
      for (const [merchantId, queue] of queues) {
        const work = queue.shift();
        queues.delete(merchantId);
        if (queue.length > 0) queues.set(merchantId, queue);
        return work;
      }
      return undefined;
    },
    drop: (merchantId) => void queues.delete(merchantId),
  };
}
