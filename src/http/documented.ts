/**
 * How the OpenAPI document writes a schema where it can say more than the schema checks, and in the words that generators of
 * clients understand best.
 *
 * Invariant: a documented form takes every value that the route takes, in its usual spelling. Whether the value itself can be
 * used, for example a currency by this merchant, only the route knows.
 */

import { isJson, type Json } from './json-node.ts';

/** A schema as the document has it. `documentedAs` within it replaces the form that is checked; description and name stay. */
export function asDocumented(schema: object): Json {
  const { documentedAs: form, anyOf, ...rest } = schema as Json;
  if (isJson(form)) return { ...asDocumented(form), ...only(rest, 'description'), ...only(rest, 'component') };
  const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, deeper(value)]));
  return { ...formOf(anyOf), ...own };
}

/** The form of a choice among words, of a plain value or null, or of other alternatives. */
function formOf(anyOf: unknown): Json {
  if (!Array.isArray(anyOf)) return {};
  const words = wordsOf(anyOf);
  if (words !== undefined) return { type: 'string', enum: words };
  const kinds = anyOf.map(deeper) as readonly Json[];
  const [kind, none] = kinds;
  const isNullable = kinds.length === 2 && none?.type === 'null';
  return isNullable && kind !== undefined && isPlain(kind) ? { ...kind, type: [kind.type, 'null'] } : { anyOf: kinds };
}

/** Whether null can be added to the type: the schema has no name, and lists no words that null is not among. */
function isPlain({ type, enum: words, component }: Json): boolean {
  return typeof type === 'string' && type !== 'object' && words === undefined && component === undefined;
}

/** The words of a choice among words, which is one type to a generator only if it is written as an `enum`. */
function wordsOf(kinds: readonly unknown[]): readonly string[] | undefined {
  const words = kinds.map((kind) => (isJson(kind) ? kind.const : undefined));
  return words.every((word): word is string => typeof word === 'string') ? words : undefined;
}

function only(schema: Json, key: string): Json {
  return schema[key] === undefined ? {} : { [key]: schema[key] };
}

function deeper(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeper);
  return isJson(value) ? asDocumented(value) : value;
}
