/**
 * The composite types in which the commit path takes its rows: one per table, made from the catalogue.
 *
 * A row travels as the text of such a type, which PostgreSQL reads in less than half of the time that it takes for JSON.
 * Invariant: a type's name is derived from its columns, so that versions of this code with different columns can work on one
 * database during a deployment, each with its own types. Types no longer used are left in place: they hold nothing.
 */

import type { TableName } from '../domain/change.ts';
import type { Column } from './columns.ts';
import { columnsOf, TABLES } from './tables.ts';

export interface RowType {
  readonly name: string;
  readonly columns: readonly Column[];
}

const KEY_COLUMNS: readonly Column[] = [
  { name: 'shard', type: 'int2' },
  { name: 'id', type: 'text' },
];

/** One change's debit of one floored account (see `Debit`). */
export const DEBIT_TYPE = rowType('debit', [
  { name: 'n', type: 'int4' },
  ...KEY_COLUMNS,
  { name: 'currency', type: 'text' },
  // A change's transfers are each an int8; what they debit together may be more.
  { name: 'amount', type: 'numeric' },
]);

const OF_TABLES = new Map(Object.keys(TABLES).map((table) => [table, rowType(table, columnsOf(table as TableName))]));

/** The row type of a table: its columns, in the order of the catalogue. */
export function rowTypeOf(table: TableName): RowType {
  const type = OF_TABLES.get(table);
  if (type === undefined) throw new Error(`no table is called ${table}`);
  return type;
}

/** Every type that the commit path needs. */
export const ROW_TYPES: readonly RowType[] = [DEBIT_TYPE, ...OF_TABLES.values()];

/** The statement that makes a type. */
export function createRowType({ name, columns }: RowType): string {
  return `create type ${name} as (${definition(columns)})`;
}

function rowType(what: string, columns: readonly Column[]): RowType {
  return { name: `row_${what}_${digestOf(definition(columns))}`, columns };
}

/** FNV-1a, 64 bits: nobody gains by making two lists of columns collide. */
function digestOf(text: string): string {
  let state = 0xcbf29ce484222325n;
  for (const char of text) state = BigInt.asUintN(64, (state ^ BigInt(char.charCodeAt(0))) * 0x100000001b3n);
  return state.toString(16).padStart(16, '0');
}

function definition(columns: readonly Column[]): string {
  return columns.map(({ name, type }) => `${name} ${type}`).join(', ');
}
