/**
 * Readers by key: callers of the same key share one result, and the keys of different callers one statement.
 *
 * Invariant: a caller joins only those who still wait, never a statement that has already been sent.
 */

import { SHARDS } from '../domain/ids.ts';
import type { ColumnList } from './columns.ts';
import { StoreBusy } from './errors.ts';
import type { Execution, Statement } from './pipeline.ts';
import type { Job, Source } from './read-jobs.ts';
import { type RowReader, rowReader } from './row-codec.ts';
import { encodeArray, isStorable } from './wire.ts';

/** How many keys may wait. */
const MAX_WAITING = 50_000;
/** Most keys in one statement, first come, first served: more would only make the first callers wait for the last. */
const MAX_KEYS = 512;

export type KeyedReader<Row> = (shard: number, key: string) => Promise<readonly Row[]>;

/** Reads the first row of a key, its only one if the key is unique. */
export function one<Row>(read: KeyedReader<Row>): (shard: number, key: string) => Promise<Row | undefined> {
  return async (shard, key) => (await read(shard, key))[0];
}

/** Reads all rows of a key, into an array that the caller shares with nobody. */
export function many<Row>(read: KeyedReader<Row>): (shard: number, key: string) => Promise<Row[]> {
  return async (shard, key) => [...(await read(shard, key))];
}

/** A statement over `$1::int2[]` (shards) and `$2::text[]` (keys). It returns these columns, the shard first. */
export interface ReadShape<Row> {
  readonly statement: Statement;
  readonly columns: ColumnList<Row>;
  /** Position of the key in a returned row; after the columns if it is not part of the record. */
  readonly keyAt: number;
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

/** A reader by key. `enlist` is called with its source whenever a caller begins to wait. */
export function keyedReader<Row>(shape: ReadShape<Row>, enlist: (source: Source) => void): KeyedReader<Row> {
  const read = rowReader(shape.columns);
  let waiting = new Map<string, Asked<Row>>();
  const source: Source = {
    take() {
      const taken = waiting;
      waiting = new Map();
      if (taken.size > MAX_KEYS) {
        for (const [id, asked] of [...taken].slice(MAX_KEYS)) {
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
    if (waiting.size >= MAX_WAITING) throw new StoreBusy();
    enlist(source);
    const asked = askFor<Row>(shard, key);
    waiting.set(id, asked);
    return asked.promise;
  };
}

/** The execution that a reader's statement is planned by: it asks for nothing. */
export function emptyJob(shape: ReadShape<unknown>): Execution {
  return jobOf(shape, rowReader(shape.columns), new Map());
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
