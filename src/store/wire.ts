/**
 * Rows on the wire: written as elements of an array of a row type, read from PostgreSQL's text format.
 *
 * Invariant: a row that is written and read again is the same row. Money never becomes a `number`: a bigint is
 * written as its digits and read with BigInt. Instants are milliseconds in UTC; the connection pins TimeZone and
 * DateStyle, on which their text depends.
 */

import type { Column, ColumnType } from './columns.ts';

/** A record as the store's generic code sees it. */
export type Row = { readonly [column: string]: unknown };

/** Hides a record's type from generic code; its columns come from the catalogue, which knows them. */
export function asRow(record: object): Row {
  return record as Row;
}

/** A column that is written, with the commas between it and the column written before it. */
export interface Field {
  readonly name: string;
  readonly type: ColumnType;
  readonly lead: string;
}

/** How to write rows of a type of which only some columns are given: an empty position is null. */
export interface Layout {
  readonly fields: readonly Field[];
  /** The commas after the last field, and what closes the row. */
  readonly end: string;
}

/**
 * The layout for the `written` columns of a type's `columns`, in their order. `from` is the first position that this layout
 * may write: the positions before it belong to another layout.
 */
export function layoutOf(columns: readonly Column[], written: ReadonlySet<string>, from = 0): Layout {
  let position = Math.max(0, from - 1);
  const fields: Field[] = [];
  for (const [at, { name, type }] of columns.entries()) {
    if (at < from || !written.has(name)) continue;
    fields.push({ name, type, lead: ','.repeat(at - position) });
    position = at;
  }
  return { fields, end: `${','.repeat(columns.length - 1 - position)})"` };
}

/** What opens a row. */
export const ROW_START = '"(';

/** The text of an integer (int2, int4); nothing for a null. @throws TypeError for a value of another type. */
export function integerText(value: unknown, name: string): string {
  if (typeof value === 'number') return String(value);
  return nothing(value, name, 'an integer');
}

/** The text of an int8; nothing for a null. @throws TypeError for a value of another type. */
export function bigintText(value: unknown, name: string): string {
  if (typeof value === 'bigint') return String(value);
  return nothing(value, name, 'int8');
}

/** The text of a boolean; nothing for a null. @throws TypeError for a value of another type. */
export function booleanText(value: unknown, name: string): string {
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return nothing(value, name, 'bool');
}

/** The text of a text, encoded; nothing for a null. @throws TypeError for another type, or a text that cannot be written. */
export function textText(value: unknown, name: string): string {
  if (typeof value === 'string') return encodeText(value);
  return nothing(value, name, 'text');
}

/** The JSON of a value, encoded; nothing for a null. @throws TypeError for JSON that cannot be written. */
export function jsonText(value: unknown): string {
  return value === null || value === undefined ? '' : encodeText(JSON.stringify(value));
}

function nothing(value: unknown, name: string, type: string): string {
  if (value === null || value === undefined) return '';
  throw new TypeError(`column ${name} is ${type} and cannot hold a ${typeof value}`);
}

/** Characters that mean something in the row's own syntax, and those that are not valid text. */
const SPECIAL = /[",()\\\0\ud800-\udfff]/;
const HALF_PAIR = /\p{Surrogate}/u;

/**
 * Encodes a text within a row within an array: the row doubles quotes and backslashes, and the array puts a backslash before each
 * of these.
 */
function encodeText(text: string): string {
  if (text !== '' && !SPECIAL.test(text)) return text;
  // UTF-8 cannot encode half a surrogate pair, and PostgreSQL's text holds no NUL.
  if (!isStorable(text) || HALF_PAIR.test(text)) throw new TypeError('a text cannot be written');
  return `\\"${text.replace(/["\\]/g, (sign) => (sign === '"' ? '\\"\\"' : '\\\\\\\\'))}\\"`;
}

/** The latest instants and their texts, each at the position given by its lowest bits. */
const INSTANTS = 64;
const instants = new Float64Array(INSTANTS).fill(Number.NaN);
const instantTexts = Array.from({ length: INSTANTS }, () => '');

/**
 * The text of an instant (ms); nothing for a null. The rows of a batch share few instants, so the texts of the latest ones are
 * cached: a new one takes 0.8 µs. @throws TypeError for a value of another type.
 */
export function instantText(value: unknown, name: string): string {
  if (typeof value !== 'number') return nothing(value, name, 'timestamptz');
  const position = value & (INSTANTS - 1);
  const known = instantTexts[position];
  if (known !== undefined && value === instants[position]) return known;
  const text = new Date(value).toISOString();
  instants[position] = value;
  instantTexts[position] = text;
  return text;
}

/** An instant as a parameter. */
export function instantParameter(instant: number): string {
  return new Date(instant).toISOString();
}

/** The text of an array parameter (`text[]`, `int2[]`). */
export function encodeArray(values: readonly (string | number)[]): string {
  let text = '';
  for (const value of values) {
    const element = typeof value === 'number' ? String(value) : `"${value.replace(/[\\"]/g, '\\$&')}"`;
    text += text === '' ? element : `,${element}`;
  }
  return `{${text}}`;
}

/** Whether a text can be a parameter at all: PostgreSQL's text holds no NUL. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000');
}

/** Reads `2026-11-20 14:32:44.123+00`. A text finer than milliseconds, or of another form, was not written by us. */
export function instantOf(text: string): number {
  const plain = text.length >= 22 && text.endsWith('+00') && text.charCodeAt(4) === 45;
  if (!plain) throw new RangeError('an instant is not written as expected');
  let millis = 0;
  for (let i = 20; i < 23; i += 1) millis = millis * 10 + (i < text.length - 3 ? digitAt(text, i) : 0);
  return Date.UTC(
    twoDigits(text, 0) * 100 + twoDigits(text, 2),
    twoDigits(text, 5) - 1,
    twoDigits(text, 8),
    twoDigits(text, 11),
    twoDigits(text, 14),
    twoDigits(text, 17),
    millis,
  );
}

function twoDigits(text: string, at: number): number {
  return digitAt(text, at) * 10 + digitAt(text, at + 1);
}

function digitAt(text: string, at: number): number {
  return text.charCodeAt(at) - 48;
}
