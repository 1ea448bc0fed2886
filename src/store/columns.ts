/**
 * Columns: names and PostgreSQL types, with the type of the rows that they make up.
 *
 * Invariant: a list of columns and the type of its rows fit each other, because the compiler has compared them.
 */

export type ColumnType = 'int2' | 'int4' | 'int8' | 'numeric' | 'text' | 'bool' | 'timestamptz' | 'jsonb';

/** The PostgreSQL types that may hold a field: money is `bigint`, a sum of it `numeric`; an instant or a count is `number`. */
type TypeFor<Value> = [Value] extends [bigint]
  ? 'int8' | 'numeric'
  : [Value] extends [boolean]
    ? 'bool'
    : [Value] extends [number]
      ? 'int2' | 'int4' | 'timestamptz'
      : [Value] extends [string]
        ? 'text'
        : 'jsonb';

/** The columns that hold a record: one per field, whether or not the field may be absent or null. */
export type ColumnsOf<Record> = { readonly [Field in keyof Record]-?: TypeFor<NonNullable<Record[Field]>> };

/** A column, as SQL and wire code need it. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** A key that no object has: under it, a list of columns names the type of its rows to the compiler. */
declare const decoded: unique symbol;

/** Columns in a statement's order, with the type of the rows that the codec (row-codec.ts) decodes by them. */
export type ColumnList<Row> = readonly Column[] & { readonly [decoded]: Row };

/**
 * The columns of a statement's rows. The caller names the type of a row, and the compiler demands a column of a fitting type for
 * each of its fields, and no other column. Which fields may be null, only the statement knows: the caller's type has to say so.
 */
export function columnList<Row>(columns: ColumnsOf<Row>): ColumnList<Row> {
  return decoding(listed(columns));
}

/** For statements whose rows are only counted. */
export const NO_COLUMNS = columnList<object>({});

/** The columns of two lists, one after the other. */
export function bothLists<First, Second>(
  first: ColumnList<First>,
  second: ColumnList<Second>,
): ColumnList<First & Second> {
  return decoding([...first, ...second]);
}

/**
 * At run time a list carries no type. Only where the compiler has compared columns and row may this be called: here, and for whole
 * tables.
 */
export function decoding<Row>(columns: readonly Column[]): ColumnList<Row> {
  return columns as ColumnList<Row>;
}

/** Columns in the order of the catalogue's object, which is the order in which rows are read and written. */
export function listed(columns: { readonly [name: string]: ColumnType }): readonly Column[] {
  return Object.entries(columns).map(([name, type]) => ({ name, type }));
}

/** The columns' names for a select, each behind an alias if there is one. */
export function listOf(columns: readonly Column[], alias?: string): string {
  return columns.map(({ name }) => (alias === undefined ? name : `${alias}.${name}`)).join(', ');
}
