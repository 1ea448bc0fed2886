/**
 * Reads JSON schemas into what a person has to know of each field: its name, its form, whether it must be there, and what
 * it means.
 *
 * Invariant: nothing is added to what the schema says.
 */

import { at, entriesAt, listAt, numberAt, textAt } from './json.ts';

/** What a person has to know of one field. `limits`, `meaning` and the lists are empty where the schema says nothing. */
export interface Field {
  readonly name: string;
  readonly required: boolean;
  /** For example `string`, `array of objects`, `string or null`. */
  readonly form: string;
  /** The permitted values, if the field takes only a few words. */
  readonly options: readonly string[];
  /** Lengths and ranges, for example `1 to 255 characters`. */
  readonly limits: string;
  readonly meaning: string;
  readonly fields: readonly Field[];
}

/** One form of a body: most have a single one, which then has no name. */
export interface Shape {
  readonly name: string;
  readonly fields: readonly Field[];
}

/**
 * The forms that a schema allows, in its order, each named by its description. Alternatives without fields, such as null, are
 * left out.
 */
export function shapesOf(schema: unknown): Shape[] {
  const kinds = kindsOf(schema).filter((kind) => entriesAt(kind, 'properties').length > 0);
  return kinds.map((kind) => ({ name: textAt(kind, 'description'), fields: fieldsOf(kind) }));
}

/** A field by itself: a parameter. */
export function fieldOf(name: string, schema: unknown, required: boolean): Field {
  const kinds = kindsOf(schema);
  const inner = kinds.map((kind) => fieldsOf(itemOf(kind))).filter((fields) => fields.length > 0);
  return {
    name,
    required,
    form: formOf(schema),
    options: kinds.flatMap(optionsOf),
    limits: kinds.map(limitsOf).find((limits) => limits !== '') ?? '',
    meaning: meaningOf(schema),
    // Fields of several kinds in one list would look as if they stood together.
    fields: inner.length === 1 ? inner.flat() : [],
  };
}

function fieldsOf(schema: unknown): Field[] {
  const required = listAt(schema, 'required');
  return entriesAt(schema, 'properties').map(([name, field]) => fieldOf(name, field, required.includes(name)));
}

/** An object itself, or an array's items. */
function itemOf(schema: unknown): unknown {
  return at(schema, 'items') ?? schema;
}

/** The words of a choice, as the document writes it. */
function optionsOf(kind: unknown): string[] {
  return listAt(kind, 'enum').filter((option) => typeof option === 'string');
}

/** The alternatives of a schema, without null and without those that allow anything. */
function kindsOf(schema: unknown): unknown[] {
  const kinds = listAt(schema, 'anyOf');
  if (kinds.length === 0) return [schema];
  return kinds.flatMap(kindsOf).filter((kind) => textAt(kind, 'type') !== 'null' && typeOf(kind) !== '');
}

function isNullable(schema: unknown): boolean {
  const types = [...listAt(schema, 'type'), ...listAt(schema, 'anyOf').map((kind) => textAt(kind, 'type'))];
  return types.includes('null');
}

function formOf(schema: unknown): string {
  const kinds = [...new Set(kindsOf(schema).map(wordOf))].filter((word) => word !== '');
  const words = kinds.length === 0 ? ['any'] : kinds;
  return [...words, ...(isNullable(schema) ? ['null'] : [])].join(' or ');
}

function wordOf(kind: unknown): string {
  if (textAt(kind, 'contentMediaType') !== '') return 'file';
  const type = typeOf(kind);
  if (type === 'string') return [textAt(kind, 'format'), type].join(' ').trim();
  if (type !== 'array') return type;
  const item = wordOf(at(kind, 'items'));
  return item === '' ? 'array' : `array of ${item}s`;
}

function typeOf(kind: unknown): string {
  const [listed] = listAt(kind, 'type').filter((type) => type !== 'null');
  if (typeof listed === 'string') return listed;
  const literal = at(kind, 'const');
  return textAt(kind, 'type') || (literal === undefined ? '' : typeof literal);
}

function meaningOf(schema: unknown): string {
  const own = textAt(schema, 'description');
  if (own !== '') return own;
  return (
    kindsOf(schema)
      .map((kind) => textAt(kind, 'description'))
      .find((text) => text !== '') ?? ''
  );
}

function limitsOf(kind: unknown): string {
  return (
    spanOf(numberAt(kind, 'minLength'), numberAt(kind, 'maxLength'), 'characters') ||
    spanOf(numberAt(kind, 'minItems'), numberAt(kind, 'maxItems'), 'entries') ||
    spanOf(numberAt(kind, 'minimum'), numberAt(kind, 'maximum'), '')
  );
}

function spanOf(least: number | undefined, most: number | undefined, of: string): string {
  const unit = of === '' ? '' : ` ${of}`;
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (most !== undefined) return `at most ${most}${unit}`;
  return least === undefined ? '' : `at least ${least}${unit}`;
}
