/**
 * Coalesced reads: the keys of concurrent callers are sent together, as one prepared statement per reader and in one round trip,
 * and callers of the same key share one result.
 *
 * Invariant: a read never joins a statement that has already been sent, so a read that begins after a commit was acknowledged
 * sees that commit.
 */

import type { ColumnList } from './columns.ts';
import type { Connection } from './connection.ts';
import { errorForCaller, isTransient, StoreBusy, StoreUnavailable } from './errors.ts';
import type { Lender } from './lender.ts';
import type { Statement } from './pipeline.ts';
import { type Job, runJobs, type Source } from './read-jobs.ts';
import { emptyJob, type KeyedReader, keyedReader, type ReadShape } from './read-keyed.ts';
import { rowReader } from './row-codec.ts';
import type { ReadStats } from './stats.ts';

/** How many statements of single callers may wait: fewer than keys, because their lists are long. */
const MAX_STATEMENTS = 2_000;

export interface Readers {
  readonly stats: ReadStats;
  /** How many keys and statements wait for a connection. */
  waiting(): number;
  /** A reader by (shard, key): all rows of the key, in the statement's order. */
  keyed<Row>(shape: ReadShape<Row>): KeyedReader<Row>;
  /**
   * Runs a statement for one caller, in one transaction with everything sent at that moment; if one statement makes that
   * transaction fail, each is run by itself.
   */
  query<Row>(statement: Statement, columns: ColumnList<Row>, values: readonly (string | null)[]): Promise<Row[]>;
  /**
   * Plans every keyed reader on every connection, by running it without keys. A plan is kept for a while from its first use on
   * (connected.ts): one made while a young table fills up may take an index that does not fit, and read all of it each time.
   */
  plan(): Promise<void>;
  /** Takes no more reads, and resolves when those that wait are answered. */
  close(): Promise<void>;
}

/**
 * 8 statements are planned in one run, which takes two round trips. All of them in one would hold locks on most tables and indexes
 * at once, and on a slow server take a run's whole time.
 */
const PLANNED_AT_ONCE = 8;

/** A read, and its parameters. */
export interface Question {
  readonly statement: Statement;
  readonly values: readonly string[];
}

/** Asks one question on a connection of its own: it takes its time, or needs another plan than the rest. */
export function askApart<Row>(
  lender: Lender,
  { statement, values }: Question,
  columns: ColumnList<Row>,
): Promise<Row[]> {
  return lender.lend((connection) => openReaders([connection]).query(statement, columns, values));
}

/** Opens readers over these connections: whenever a connection is free, it takes everything that waits. */
export function openReaders(connections: readonly Connection[]): Readers {
  const sources = new Set<Source>();
  const shapes: ReadShape<unknown>[] = [];
  const idle = new Set(connections);
  const busy = new Set<Promise<void>>();
  const stats: ReadStats = { keys: 0, statements: 0 };
  let scheduled = false;
  let closed = false;

  const enlist = (source: Source): void => {
    if (closed) throw new StoreUnavailable('the store is closed');
    stats.keys += 1;
    sources.add(source);
    wake();
  };

  const wake = (): void => {
    if (scheduled || idle.size === 0 || sources.size === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      send();
    });
  };

  const send = (): void => {
    const [connection] = idle;
    if (connection === undefined) return;
    const jobs: Job[] = [];
    for (const source of sources) {
      jobs.push(source.take());
      if (source.waiting() === 0) sources.delete(source);
    }
    stats.statements += jobs.length;
    idle.delete(connection);
    const run = runJobs(connection, jobs).then(() => {
      busy.delete(run);
      idle.add(connection);
      wake();
    });
    busy.add(run);
    wake();
  };

  return {
    stats,
    waiting() {
      let count = 0;
      for (const source of sources) count += source.waiting();
      return count;
    },
    keyed(shape) {
      shapes.push(shape);
      return keyedReader(shape, enlist);
    },
    async plan() {
      await Promise.all(connections.map((connection) => planOn(connection, shapes)));
    },
    query: <Row>(statement: Statement, columns: ColumnList<Row>, values: readonly (string | null)[]) =>
      new Promise<Row[]>((resolve, reject) => {
        if (sources.size >= MAX_STATEMENTS) throw new StoreBusy();
        const read = rowReader(columns);
        let rows: Row[] = [];
        const job: Job = {
          statement,
          values() {
            rows = [];
            return values;
          },
          onRow: (texts) => rows.push(read(texts)),
          settle: (error) => (error === undefined ? resolve(rows) : reject(error)),
        };
        enlist(sourceOf(job));
      }),
    async close() {
      closed = true;
      while (busy.size > 0 || sources.size > 0) {
        await Promise.all(busy);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

/** What cannot be planned now, because a table is locked or the server slow, is planned when it is first asked for. */
async function planOn(connection: Connection, shapes: readonly ReadShape<unknown>[]): Promise<void> {
  for (let first = 0; first < shapes.length; first += PLANNED_AT_ONCE) {
    try {
      await connection.run(shapes.slice(first, first + PLANNED_AT_ONCE).map(emptyJob));
    } catch (failure) {
      if (!isTransient(errorForCaller(failure, 'read'))) throw failure;
    }
  }
}

/** A source of one job. */
function sourceOf(job: Job): Source {
  let left = 1;
  return {
    take() {
      left = 0;
      return job;
    },
    waiting: () => left,
  };
}
