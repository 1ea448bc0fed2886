/**
 * The OpenAPI document with every reference replaced by what it refers to, for tests that hold values against its schemas.
 */

/** @throws Error for a reference that leads nowhere. */
export function dereferenced<T>(document: T): T {
  const place = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(place);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...own } = value as { readonly [name: string]: unknown };
    const placed = Object.fromEntries(Object.entries(own).map(([key, inner]) => [key, place(inner)]));
    return typeof $ref === 'string' ? { ...(place(targetOf($ref)) as object), ...placed } : placed;
  };
  const targetOf = (reference: string): unknown =>
    reference
      .split('/')
      .slice(1)
      .reduce((found: unknown, name) => {
        if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) throw new Error(reference);
        return Reflect.get(found, name) as unknown;
      }, document);
  return place(document) as T;
}
