/**
 * How the OpenAPI document writes a schema where it can say more than the schema checks, and in the words that generators of
 * clients understand best.
 *
 * Invariant: a documented form takes every value that the route takes, in its usual spelling. Whether the value itself can be
 * used, for example a currency by this merchant, only the route knows.
 */

type Json = { readonly [name: string]: unknown };

/** A schema as the document has it. `documentedAs` within it replaces the form that is checked; its description stays. */
export function asDocumented(schema: object): Json {
  const form: unknown = Reflect.get(schema, 'documentedAs');
  if (isObject(form)) return { ...asDocumented(form), ...descriptionOf(schema) };
  const words = wordsOf(schema);
  const own = Object.entries(schema).filter(([key]) => words === undefined || key !== 'anyOf');
  return {
    ...(words === undefined ? {} : { type: 'string', enum: words }),
    ...Object.fromEntries(own.map(([key, value]) => [key, deeper(value)])),
  };
}

/** The words of a choice among words, which is one type to a generator only if it is written as an `enum`. */
function wordsOf(schema: object): readonly string[] | undefined {
  const kinds: unknown = Reflect.get(schema, 'anyOf');
  if (!Array.isArray(kinds)) return undefined;
  const words = kinds.map((kind: unknown) => (isObject(kind) ? kind.const : undefined));
  return words.every((word): word is string => typeof word === 'string') ? words : undefined;
}

function descriptionOf(schema: object): Json {
  const description: unknown = Reflect.get(schema, 'description');
  return description === undefined ? {} : { description };
}

function deeper(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeper);
  return isObject(value) ? asDocumented(value) : value;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
