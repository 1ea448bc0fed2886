/**
 * A batch: the changes of many callers, regrouped by shape into the statements of one pipeline.
 *
 * Invariant: no two changes of a batch touch the same guarded, claimed or removed row. The second one is left out and told that
 * it lost, so the SQL need not handle conflicts within a batch, and every batch is equivalent to some serial order of its
 * changes.
 */

import type { AccountRef, Change, TableName, Transfer } from '../domain/change.ts';
import type { LedgerTransfer } from '../domain/records.ts';
import type { Column } from './columns.ts';
import type { Execution } from './pipeline.ts';
import {
  BALANCE_SHAPE,
  claimShape,
  DEBIT_SHAPE,
  type Debit,
  insertShape,
  lockShape,
  removeShape,
  type Shape,
  TRANSFER_SHAPE,
  updateShape,
} from './statements.ts';
import { columnsOf } from './tables.ts';
import { asRow } from './wire.ts';

export interface Batch<E> {
  readonly executions: readonly Execution[];
  /** The changes that are sent, in order. */
  readonly sent: readonly E[];
  /** The changes that are not sent: another change of this batch touches the same row, or an earlier batch has changed it. */
  readonly conflicting: readonly E[];
  /** The changes that a LOST1 error names by its kind and keys. */
  losers(kind: string, keys: readonly string[]): E[];
}

/** Every shape this process has used; there are only as many as the rules have verbs, tables and sets of columns. */
const shapes = new Map<string, Shape>();

/** The rows of one shape; the key (shard and id) sorts them. */
interface Group {
  readonly shape: Shape;
  readonly rows: { readonly key: string; readonly row: object }[];
}

/** A waiting change, and the rows that no other change of its batch may touch (`keysOf`). */
export interface Batchable {
  readonly change: Change;
  readonly keys: readonly string[];
}

/** The row versions that a committed batch produced, by row key. */
export type Written = Map<string, number>;

/**
 * Makes the batch of these entries. A change whose guarded version is known to be outdated has already lost; sending it would
 * only roll the others back.
 *
 * @throws Error when an entry names a column that its table lacks.
 */
export function makeBatch<E extends Batchable>(entries: readonly E[], written: readonly Written[] = []): Batch<E> {
  const owners = new Map<string, E>();
  const sent: E[] = [];
  const conflicting: E[] = [];
  for (const entry of entries) {
    if (entry.keys.some((key) => owners.has(key)) || isOutdated(entry, written)) {
      conflicting.push(entry);
      continue;
    }
    for (const key of entry.keys) owners.set(key, entry);
    sent.push(entry);
  }
  return {
    executions: executionsOf(sent.map(({ change }) => change)),
    sent,
    conflicting,
    losers(kind, keys) {
      const found = keys.map((key) => (kind === 'floor' ? sent[Number(key)] : owners.get(`${kind} ${key}`)));
      return [...new Set(found.filter((entry) => entry !== undefined))];
    },
  };
}

/**
 * The rows that no other change of the batch may touch. A claim may follow the removal of an older row of the same key.
 *
 * @throws Error when it holds neither a guard nor a claim, or one row twice
 */
export function keysOf({ updates = [], claims = [], removals = [] }: Change): readonly string[] {
  const keys = new Set<string>();
  for (const { table, shard, id } of updates) keys.add(`${table} ${shard} ${id}`);
  for (const { table, row } of claims) keys.add(`${table} ${row.shard} ${row.id}`);
  if (keys.size === 0) throw new Error('a change needs a guard or a claim, so that it can be decided again');
  if (keys.size < updates.length + claims.length) throw new Error('a change names a row twice');
  for (const { table, shard, id } of removals) keys.add(`${table} ${shard} ${id}`);
  return [...keys];
}

/** Whether an earlier batch has made a guarded version stale. The keys of a change's updates come first (`keysOf`). */
function isOutdated({ change: { updates = [] }, keys }: Batchable, written: readonly Written[]): boolean {
  return updates.some(({ version }, at) => written.some((rows) => version < (rows.get(keys[at] ?? '') ?? 0)));
}

/** The versions that these rows have now that the changes have won. */
export function writtenBy({ change: { updates = [] }, keys }: Batchable): [key: string, version: number][] {
  return updates.map(({ version }, at) => [keys[at] ?? '', version + 1]);
}

function executionsOf(changes: readonly Change[]): Execution[] {
  const groups = new Map<Shape, Group>();
  for (const change of changes) {
    for (const removal of change.removals ?? []) {
      add(groups, shapeOf('remove', removal.table), removal.shard, removal.id, removal);
    }
    for (const update of change.updates ?? []) {
      add(groups, updateShapeOf(update.table, update.row), update.shard, update.id, update);
    }
    for (const { table, row } of change.claims ?? []) add(groups, shapeOf('claim', table), row.shard, row.id, row);
    for (const { table, row } of change.inserts ?? []) add(groups, shapeOf('insert', table), 0, '', row);
    for (const transfer of change.transfers ?? []) {
      add(groups, TRANSFER_SHAPE, 0, '', lineOf(transfer));
    }
  }
  addMovements(groups, changes);
  addLocks(groups);
  return [...groups.values()].sort((a, b) => compare(a.shape.order, b.shape.order)).map(executionOf);
}

/** Rows of a table that several statements write are locked before the first of these statements. */
function addLocks(groups: Map<Shape, Group>): void {
  const byTable = new Map<TableName, Group[]>();
  for (const group of groups.values()) {
    const table = group.shape.updates;
    if (table !== undefined) byTable.set(table, [...(byTable.get(table) ?? []), group]);
  }
  for (const [table, written] of byTable) {
    if (written.length === 1) continue;
    groupOf(groups, shapeOf('lock', table)).rows.push(...written.flatMap(({ rows }) => rows));
  }
}

function executionOf({ shape: { statement, write }, rows }: Group): Execution {
  return {
    statement,
    values() {
      rows.sort((a, b) => compare(a.key, b.key));
      let text = '';
      for (const { row } of rows) text += text === '' ? write(row) : `,${write(row)}`;
      return [`{${text}}`];
    },
  };
}

function add(groups: Map<Shape, Group>, shape: Shape, shard: number, id: string, row: object): void {
  groupOf(groups, shape).rows.push({ key: sortKey(shard, id), row });
}

/** The ledger line of a transfer: a flat record, like any other, where the transfer names its accounts as objects. */
function lineOf({ shard, id, debit, credit, amount_minor, currency, cause, cause_id, at }: Transfer): LedgerTransfer {
  return {
    shard,
    id,
    debit_shard: debit.shard,
    debit_account: debit.id,
    credit_shard: credit.shard,
    credit_account: credit.id,
    amount_minor,
    currency,
    cause,
    cause_id,
    at,
  };
}

/** The number of a debit that belongs to no change and only locks. */
const LOCKS_ONLY = -1;

interface Movement {
  readonly shard: number;
  readonly id: string;
  readonly currency: string;
  readonly floored: boolean;
  balance: bigint;
}

/**
 * Adds what the transfers do to the balances. A change's net debit of a floored account is a row of its own, to be checked change
 * by change; everything else is summed over the batch, so that an account that all changes share is written once.
 */
function addMovements(groups: Map<Shape, Group>, changes: readonly Change[]): void {
  const sums = new Map<string, Movement>();
  for (const [n, { transfers }] of changes.entries()) {
    if (transfers === undefined) continue;
    const own = new Map<string, Movement>();
    for (const { debit, credit, amount_minor: amount, currency } of transfers) {
      move(own, debit, currency, -amount);
      move(own, credit, currency, amount);
    }
    for (const movement of own.values()) {
      if (movement.floored && movement.balance < 0n) {
        const { shard, id, currency, balance } = movement;
        const debit: Debit = { n, shard, id, currency, amount: -balance };
        add(groups, DEBIT_SHAPE, shard, id, debit);
      } else move(sums, movement, movement.currency, movement.balance);
    }
  }
  const debits = groups.has(DEBIT_SHAPE);
  for (const movement of sums.values()) {
    const { shard, id, currency } = movement;
    add(groups, BALANCE_SHAPE, shard, id, movement);
    const locked: Debit = { n: LOCKS_ONLY, shard, id, currency, amount: 0n };
    if (debits) add(groups, DEBIT_SHAPE, shard, id, locked);
  }
}

function move(
  movements: Map<string, Movement>,
  { shard, id, floored }: AccountRef,
  currency: string,
  balance: bigint,
): void {
  const key = `${shard} ${id} ${currency}`;
  const known = movements.get(key);
  if (known === undefined) movements.set(key, { shard, id, currency, floored, balance });
  else known.balance += balance;
}

function groupOf(groups: Map<Shape, Group>, shape: Shape): Group {
  const known = groups.get(shape);
  if (known !== undefined) return known;
  const group: Group = { shape, rows: [] };
  groups.set(shape, group);
  return group;
}

function shapeOf(verb: 'remove' | 'lock' | 'claim' | 'insert', table: TableName): Shape {
  const key = `${verb} ${table}`;
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const make = { remove: removeShape, lock: lockShape, claim: claimShape, insert: insertShape }[verb];
  const shape = make(table);
  shapes.set(key, shape);
  return shape;
}

/** Columns are told apart by their position in the catalogue, so that the same set is the same shape in whatever order it is given. */
function updateShapeOf(table: TableName, record: object): Shape {
  const row = asRow(record);
  const columns = weightsOf(table);
  let number = 0;
  for (const name in row) {
    if (row[name] === undefined) continue;
    const weight = columns.get(name);
    if (weight === undefined) throw new Error(`table ${table} has no column ${name}`);
    number += weight;
  }
  const key = `update ${table} ${number}`;
  const known = shapes.get(key);
  if (known !== undefined) return known;
  const written: readonly Column[] = columnsOf(table).filter(({ name }) => row[name] !== undefined);
  const shape = updateShape(table, written, number);
  shapes.set(key, shape);
  return shape;
}

const weights = new Map<TableName, ReadonlyMap<string, number>>();

/** A power of two for each column of a table. */
function weightsOf(table: TableName): ReadonlyMap<string, number> {
  const known = weights.get(table);
  if (known !== undefined) return known;
  const made = new Map(columnsOf(table).map(({ name }, position) => [name, 2 ** position]));
  weights.set(table, made);
  return made;
}

/** Sorts by shard, then id, as the keys of the tables do. Shards have two digits. */
function sortKey(shard: number, id: string): string {
  return shard < 10 ? `0${shard} ${id}` : `${shard} ${id}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
