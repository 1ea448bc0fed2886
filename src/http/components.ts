/**
 * The named parts of the OpenAPI document. A part is named where it is written; wherever it stands, the document refers to it.
 *
 * Invariant: one name is one part, and a reference means exactly what stood in its place.
 */

import { isDeepStrictEqual } from 'node:util';
import { isJson, type Json } from './json-node.ts';

const KINDS = ['schemas', 'responses', 'parameters', 'headers'] as const;
type Kind = (typeof KINDS)[number];

/** What a named part has among its own fields. The description is the part's own: a place may describe a schema otherwise. */
interface Component {
  readonly kind: Kind;
  readonly name: string;
  readonly description?: string;
}

/** Options that give a schema a name, and a description; what a route checks is the same with and without them. */
export function named(name: string, description?: string) {
  return componentOf('schemas', name, description);
}

/** Options of a choice among named schemas: the value of `field` tells which of them applies. `schemas` are by that value. */
export function discriminatedBy(field: string, schemas: { readonly [value: string]: object }) {
  const nameOf = (schema: object): string => (Reflect.get(schema, 'component') as Component).name;
  const mapping = Object.entries(schemas).map(([value, schema]) => [value, `#/components/schemas/${nameOf(schema)}`]);
  return { discriminator: { propertyName: field, mapping: Object.fromEntries(mapping) as Json } };
}

/** Fields that give a part a name, and a description. */
export function componentOf(kind: Kind, name: string, description?: string) {
  const described = description === undefined ? {} : { description };
  return { component: { kind, name, ...described } satisfies Component, ...described };
}

/** The document with its named parts under `components`, in the order of their names. @throws Error if two have one name. */
export function withComponents(document: Json): Json {
  const found = new Map<Kind, Map<string, Json>>(KINDS.map((kind) => [kind, new Map()]));

  const lift = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(lift);
    if (!isJson(value)) return value;
    const lifted = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, lift(inner)]));
    const { component, ...part } = lifted;
    return isComponent(component) ? referTo(component, part) : lifted;
  };

  const referTo = ({ kind, name, description }: Component, { description: own, ...form }: Json): Json => {
    const part = { ...(description === undefined ? {} : { description }), ...form };
    const known = found.get(kind)?.get(name) ?? part;
    if (!isDeepStrictEqual(known, part)) throw new Error(`two different ${kind} are named ${name}`);
    found.get(kind)?.set(name, part);
    return { $ref: `#/components/${kind}/${name}`, ...(own === description ? {} : { description: own }) };
  };

  const { components, ...lifted } = lift(document) as Json;
  const named = [...found].map(([kind, parts]) => [
    kind,
    Object.fromEntries([...parts].sort(([a], [b]) => (a < b ? -1 : 1))),
  ]);
  return { ...lifted, components: { ...(components as Json), ...Object.fromEntries(named) } };
}

function isComponent(value: unknown): value is Component {
  return isJson(value) && KINDS.some((kind) => kind === value.kind) && typeof value.name === 'string';
}
