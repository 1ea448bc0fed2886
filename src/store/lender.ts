/**
 * Lends lines for great questions, such as an audit's: a line to each, opened when none is at hand.
 *
 * Invariant: whoever borrows never waits for somebody else's question. What is given back is at hand for a few seconds, because
 * such questions come in rows, and is closed then: no connection stays open for an instant's use.
 */
import type { Line } from './line.ts';

/** Far less than a minute, after which there is an audit. */
const KEPT_MS = 2_000;

export interface Lender {
  /** Does work on a line that is nobody else's meanwhile. */
  lend<A>(work: (line: Line) => Promise<A>): Promise<A>;
  /** Closes what is at hand; what is lent is closed when it is given back. */
  close(): Promise<void>;
}

/** Lends what `open` makes. */
export function openLender(open: () => Line): Lender {
  /** What closes each line that is at hand. */
  const atHand = new Map<Line, NodeJS.Timeout>();
  let closed = false;

  const take = (): Line | undefined => {
    const [line] = atHand.keys();
    if (line === undefined) return undefined;
    clearTimeout(atHand.get(line));
    atHand.delete(line);
    return line;
  };

  const giveBack = async (line: Line): Promise<void> => {
    if (closed) return line.close();
    const overdue = setTimeout(() => {
      atHand.delete(line);
      void line.close();
    }, KEPT_MS);
    atHand.set(line, overdue.unref());
  };

  return {
    async lend(work) {
      const line = take() ?? open();
      try {
        return await work(line);
      } finally {
        await giveBack(line);
      }
    },
    async close() {
      closed = true;
      for (let line = take(); line !== undefined; line = take()) await line.close();
    },
  };
}
