/**
 * Lends database connections for long queries, such as an audit's: each query gets its own, opened when none is idle.
 *
 * Invariant: a borrower never waits for another's query, nor on a connection that has died meanwhile. A returned connection
 * stays open for a few seconds, because such queries come in series, and is then closed: none stays open for a single use.
 */
import { before, type Line, ping } from './line.ts';

/** How long a returned connection stays open, ms: far less than a minute, the interval of audits. */
const KEPT_MS = 2_000;
/** How long a ping may take, ms: a server that is up needs less than one of them. */
const ALIVE_MS = 500;

export interface Lender {
  /** Runs work on a line that nobody else uses meanwhile. */
  lend<A>(work: (line: Line) => Promise<A>): Promise<A>;
  /** Closes idle lines now, and lent ones when they are given back. */
  close(): Promise<void>;
}

interface AtHand {
  readonly line: Line;
  readonly overdue: NodeJS.Timeout;
}

/** Makes a lender of the lines that `open` opens. */
export function openLender(open: () => Line): Lender {
  /** Idle lines, newest last. The newest is taken first, so that the others expire. */
  let atHand: AtHand[] = [];
  let closed = false;

  /** An idle line that answers a ping, or a new one. */
  const take = async (): Promise<Line> => {
    const found = atHand.pop();
    if (found === undefined) return open();
    clearTimeout(found.overdue);
    if (await isAlive(found.line)) return found.line;
    void found.line.close();
    return open();
  };

  const giveBack = async (line: Line): Promise<void> => {
    if (closed) return line.close();
    const overdue = setTimeout(() => {
      atHand = atHand.filter((one) => one.line !== line);
      void line.close();
    }, KEPT_MS);
    atHand.push({ line, overdue: overdue.unref() });
  };

  return {
    async lend(work) {
      const line = await take();
      try {
        return await work(line);
      } finally {
        await giveBack(line);
      }
    },
    async close() {
      closed = true;
      const all = atHand;
      atHand = [];
      for (const { overdue } of all) clearTimeout(overdue);
      await Promise.all(all.map(({ line }) => line.close()));
    },
  };
}

async function isAlive(line: Line): Promise<boolean> {
  try {
    await before(performance.now() + ALIVE_MS, ping(line));
    return true;
  } catch {
    return false;
  }
}
