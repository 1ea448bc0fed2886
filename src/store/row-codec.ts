/**
 * Converts rows to text and back, by functions compiled from the catalogue: one per shape, with each column's name and type
 * written out.
 *
 * A loop over columns would look each property up by a name that it has just read, which costs the engine a search in a table of
 * shapes; here every access is its own place in the code, and a row is read as one object literal. Invariant: the code holds
 * nothing but names from our own catalogue, which are SQL identifiers.
 */

import type { ColumnList, ColumnType } from './columns.ts';
import {
  bigintText,
  booleanText,
  type Field,
  instantOf,
  instantText,
  integerText,
  jsonText,
  type Layout,
  ROW_START,
  textText,
} from './wire.ts';

export type RowWriter = (row: object) => string;
export type RowReader<Row> = (texts: readonly (string | null)[]) => Row;

const WRITERS = { textText, integerText, bigintText, booleanText, instantText, jsonText };
const WRITER_OF: { readonly [Type in ColumnType]: keyof typeof WRITERS } = {
  text: 'textText',
  int2: 'integerText',
  int4: 'integerText',
  int8: 'bigintText',
  numeric: 'bigintText',
  bool: 'booleanText',
  timestamptz: 'instantText',
  jsonb: 'jsonText',
};

/** Makes a writer for rows of this layout. @throws TypeError when a value is of another type than its column's */
export function rowWriter({ fields, end }: Layout): RowWriter {
  return compiledWriter(
    'row',
    fields.map((field) => fieldCode(field, 'row')),
    end,
  );
}

/** Makes a writer for updates: the guard's own fields, followed by those of the update's `row`. */
export function updateWriter(guard: readonly Field[], { fields, end }: Layout): RowWriter {
  const code = [...guard.map((field) => fieldCode(field, 'update')), ...fields.map((field) => fieldCode(field, 'row'))];
  return compiledWriter('update', code, end);
}

const readers = new WeakMap<ColumnList<unknown>, RowReader<unknown>>();

/** The reader for rows of these columns in PostgreSQL's text format; made once for each list of columns. */
export function rowReader<Row>(columns: ColumnList<Row>): RowReader<Row> {
  const known = readers.get(columns);
  // It was made below for this very list, and so for its rows.
  if (known !== undefined) return known as RowReader<Row>;
  const made = compiledReader(columns);
  readers.set(columns, made);
  return made;
}

/** Each column's type says what it is decoded into, and `columnList` (columns.ts) has checked that this fits the row. */
function compiledReader<Row>(columns: ColumnList<Row>): RowReader<Row> {
  const members = columns.map(({ name, type }, at) => `${identifier(name)}: ${readCode(type, `texts[${at}]`)}`);
  return compiled<RowReader<Row>>({ instantOf }, `(texts) => ({ ${members.join(', ')} })`);
}

function compiledWriter(parameter: 'row' | 'update', code: readonly string[], end: string): RowWriter {
  const text = [JSON.stringify(ROW_START), ...code, JSON.stringify(end)].join(' + ');
  const rows = parameter === 'update' ? 'const row = update.row;' : '';
  return compiled<RowWriter>(WRITERS, `(${parameter}) => { ${rows} return ${text}; }`);
}

/** Compiles an expression into a function, with these helpers in scope. The validator and the router do the same. */
function compiled<F>(helpers: { readonly [name: string]: unknown }, expression: string): F {
  // It holds only names from our own catalogue, see `identifier`.
  const make = new Function(...Object.keys(helpers), `"use strict"; return ${expression};`);
  return make(...Object.values(helpers)) as F;
}

function fieldCode({ name, type, lead }: Field, from: 'row' | 'update'): string {
  const value = `${WRITER_OF[type]}(${from}.${identifier(name)}, ${JSON.stringify(name)})`;
  return lead === '' ? value : `${JSON.stringify(lead)} + ${value}`;
}

function readCode(type: ColumnType, text: string): string {
  switch (type) {
    case 'text':
      return text;
    case 'int2':
    case 'int4':
      return `${text} === null ? null : Number(${text})`;
    case 'int8':
    case 'numeric':
      return `${text} === null ? null : BigInt(${text})`;
    case 'bool':
      return `${text} === null ? null : ${text} === 't'`;
    case 'timestamptz':
      return `${text} === null ? null : instantOf(${text})`;
    case 'jsonb':
      return `${text} === null ? null : JSON.parse(${text})`;
  }
}

function identifier(name: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`${name} is no name of a column`);
  return name;
}
