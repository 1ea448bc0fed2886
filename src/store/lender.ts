/**
 * Lends database connections for long queries, such as an audit's: each query gets its own, opened when none is idle.
 *
 * Invariant: a borrower never waits for another's query, nor on a connection that has died meanwhile. A returned connection
 * stays open for a few seconds, because such queries come in series, and is then closed: none stays open for a single use.
 */
import { type Connection, ping } from './connection.ts';
import { withDeadline } from './deadline.ts';

/** How long a returned connection stays open, ms: far less than a minute, the interval of audits. */
const KEPT_MS = 2_000;
/** How long a ping may take, ms: a server that is up answers within one millisecond. */
const ALIVE_MS = 500;

export interface Lender {
  /** Runs work on a connection that nobody else uses meanwhile. */
  lend<A>(work: (connection: Connection) => Promise<A>): Promise<A>;
  /** Closes idle connections now, and lent ones when they are given back. */
  close(): Promise<void>;
}

interface AtHand {
  readonly connection: Connection;
  readonly overdue: NodeJS.Timeout;
}

/** Makes a lender of the connections that `open` opens. */
export function openLender(open: () => Connection): Lender {
  /** Idle connections, newest last. The newest is taken first, so that the others expire. */
  let atHand: AtHand[] = [];
  let closed = false;

  /** An idle connection that answers a ping, or a new one. */
  const take = async (): Promise<Connection> => {
    const found = atHand.pop();
    if (found === undefined) return open();
    clearTimeout(found.overdue);
    if (await isAlive(found.connection)) return found.connection;
    void found.connection.close();
    return open();
  };

  const giveBack = async (connection: Connection): Promise<void> => {
    if (closed) return connection.close();
    const overdue = setTimeout(() => {
      atHand = atHand.filter((one) => one.connection !== connection);
      void connection.close();
    }, KEPT_MS);
    atHand.push({ connection, overdue: overdue.unref() });
  };

  return {
    async lend(work) {
      const connection = await take();
      try {
        return await work(connection);
      } finally {
        await giveBack(connection);
      }
    },
    async close() {
      closed = true;
      const all = atHand;
      atHand = [];
      for (const { overdue } of all) clearTimeout(overdue);
      await Promise.all(all.map(({ connection }) => connection.close()));
    },
  };
}

async function isAlive(connection: Connection): Promise<boolean> {
  try {
    await withDeadline(performance.now() + ALIVE_MS, ping(connection));
    return true;
  } catch {
    return false;
  }
}
