/**
 * Coalesced reads: the keys of concurrent callers are sent together, as one prepared statement per reader and in one round trip,
 * and callers of the same key share one result.
 *
 * Invariant: a read never joins a statement that has already been sent, so a read that begins after a commit was acknowledged
 * sees that commit.
 */

import { SHARDS } from '../domain/ids.ts';
import type { ColumnList } from './columns.ts';
import type { Connection } from './connection.ts';
import {
  answerFor,
  CommitsStalled,
  ConnectionLost,
  isCollision,
  Refused,
  StoreBusy,
  StoreUnavailable,
  TOO_SLOW,
} from './errors.ts';
import type { Lender } from './lender.ts';
import type { Execution, Statement } from './pipeline.ts';
import { type RowReader, rowReader } from './row-codec.ts';
import type { ReadStats } from './stats.ts';
import { encodeArray, isStorable } from './wire.ts';

/** How many keys or statements may wait. */
const MOST_WAITING = 50_000;
/** How many statements of single callers may wait: fewer than keys, because their lists are long. */
const MOST_STATEMENTS = 2_000;
/** Most keys in one statement, first come, first served: more would only make the first callers wait for the last. */
const MOST_KEYS = 512;
/**
 * Most times that a job is sent. Everything sent here may be sent again when its connection breaks or it collides with another
 * transaction: a read does no harm, and when the answer of a claim or removal is lost, the claimed rows are free again once the
 * lease expires, and the removed ones are simply gone.
 */
const MOST_TRIES = 3;
/** No retry after this time: a connection that took longer to break had fallen silent, and its callers have waited enough. */
const TRY_AGAIN_WITHIN_MS = 1_000;

/** Something to execute, and how to answer the callers that wait for it. */
interface Job extends Execution {
  settle(error: Error | undefined): void;
}

/** A reader with callers that wait. */
interface Source {
  /** Takes callers' keys into a job that is sent now. */
  take(): Job;
  /** How many are left for another job. */
  waiting(): number;
}

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

export type KeyedReader<Row> = (shard: number, key: string) => Promise<readonly Row[]>;

/** A statement over `$1::int2[]` (shards) and `$2::text[]` (keys). It returns these columns, the shard first. */
export interface ReadShape<Row> {
  readonly statement: Statement;
  readonly columns: ColumnList<Row>;
  /** Position of the key in a returned row; after the columns if it is not part of the record. */
  readonly keyAt: number;
}

/**
 * 8 statements are planned in one run: each takes a round trip of its own, and all of them together would take a run's whole time
 * where a database is 100 ms away.
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
    if (jobs.length === 0) return;
    stats.statements += jobs.length;
    idle.delete(connection);
    const run = answer(connection, jobs).then(() => {
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
      return keyedReader(shape, rowReader(shape.columns), enlist);
    },
    async plan() {
      const jobs = shapes.map((shape) => jobOf(shape, rowReader(shape.columns), new Map()));
      const planOn = async (connection: Connection): Promise<void> => {
        for (let first = 0; first < jobs.length; first += PLANNED_AT_ONCE) {
          await connection.run(jobs.slice(first, first + PLANNED_AT_ONCE));
        }
      };
      await Promise.all(connections.map(planOn));
    },
    query: <Row>(statement: Statement, columns: ColumnList<Row>, values: readonly (string | null)[]) =>
      new Promise<Row[]>((resolve, reject) => {
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
        if (sources.size >= MOST_STATEMENTS) throw new StoreBusy();
        let left = 1;
        enlist({
          take() {
            left = 0;
            return job;
          },
          waiting: () => left,
        });
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

/** Sends the jobs and answers them; never rejects. */
async function answer(connection: Connection, jobs: readonly Job[]): Promise<void> {
  const enough = performance.now() + TRY_AGAIN_WITHIN_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      await connection.run(jobs);
      for (const job of jobs) job.settle(undefined);
      return;
    } catch (failure) {
      if (failure instanceof ConnectionLost && tries < MOST_TRIES && performance.now() < enough) continue;
      // One reader's statement that fails must not fail the others'.
      if (!isForAll(failure) && jobs.length > 1) {
        for (const job of jobs) await answer(connection, [job]);
        return;
      }
      // The server takes a second to detect a deadlock, so the time that the tries took does not count here.
      if (hasCollided(failure) && tries < MOST_TRIES) continue;
      for (const job of jobs) job.settle(answerFor(failure, 'read'));
      return;
    }
  }
}

/** Whether the database failed rather than one of the statements: run one by one, they would only wait longer. */
function isForAll(failure: unknown): boolean {
  if (failure instanceof CommitsStalled) return false;
  return failure instanceof ConnectionLost || failure instanceof StoreUnavailable || isTooSlow(failure);
}

function isTooSlow(failure: unknown): boolean {
  return failure instanceof Refused && failure.server.code === TOO_SLOW;
}

function hasCollided(failure: unknown): boolean {
  return failure instanceof Refused && isCollision(failure.server.code);
}

/** A key that callers have asked for. */
interface Asked<Row> {
  readonly shard: number;
  readonly key: string;
  readonly promise: Promise<readonly Row[]>;
  readonly resolve: (rows: readonly Row[]) => void;
  readonly reject: (error: Error) => void;
  rows: Row[];
}

function keyedReader<Row>(
  shape: ReadShape<Row>,
  read: RowReader<Row>,
  enlist: (source: Source) => void,
): KeyedReader<Row> {
  let waiting = new Map<string, Asked<Row>>();
  const source: Source = {
    take() {
      const taken = waiting;
      waiting = new Map();
      if (taken.size > MOST_KEYS) {
        for (const [id, asked] of [...taken].slice(MOST_KEYS)) {
          taken.delete(id);
          waiting.set(id, asked);
        }
      }
      return jobOf(shape, read, taken);
    },
    waiting: () => waiting.size,
  };
  return async (shard, key) => {
    // No row can have such a key, and sending it would make the statement fail for all its callers.
    if (!(Number.isInteger(shard) && shard >= 0 && shard < SHARDS) || !isStorable(key)) return [];
    const id = `${shard} ${key}`;
    const known = waiting.get(id);
    if (known !== undefined) return known.promise;
    if (waiting.size >= MOST_WAITING) throw new StoreBusy();
    enlist(source);
    const asked = askFor<Row>(shard, key);
    waiting.set(id, asked);
    return asked.promise;
  };
}

function askFor<Row>(shard: number, key: string): Asked<Row> {
  let resolve: Asked<Row>['resolve'] = () => undefined;
  let reject: Asked<Row>['reject'] = () => undefined;
  const promise = new Promise<readonly Row[]>((onRows, onError) => {
    resolve = onRows;
    reject = onError;
  });
  return { shard, key, promise, resolve, reject, rows: [] };
}

function jobOf<Row>(
  { statement, keyAt }: ReadShape<Row>,
  read: RowReader<Row>,
  taken: ReadonlyMap<string, Asked<Row>>,
): Job {
  const all = [...taken.values()];
  return {
    statement,
    values() {
      for (const asked of all) asked.rows = [];
      return [encodeArray(all.map(({ shard }) => shard)), encodeArray(all.map(({ key }) => key))];
    },
    onRow(texts) {
      taken.get(`${texts[0]} ${texts[keyAt]}`)?.rows.push(read(texts));
    },
    settle(error) {
      for (const asked of all) {
        if (error === undefined) asked.resolve(asked.rows);
        else asked.reject(error);
      }
    },
  };
}
