/**
 * Looks into the OpenAPI document, whose type says only that it is JSON.
 *
 * Invariant: a value that is missing, or of another type, reads as empty, and is never an error.
 */

/** The value at a path of names; undefined where it leads nowhere. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
}

/** The text at a path; empty if none is there. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** The number of that name; undefined if there is none. */
export function numberAt(value: unknown, name: string): number | undefined {
  const found = at(value, name);
  return typeof found === 'number' ? found : undefined;
}

/** The list at a path; empty if none is there. */
export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Names and values, in the order of the document. */
export function entriesAt(value: unknown, ...path: readonly string[]): [name: string, value: unknown][] {
  const found = at(value, ...path);
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? Object.entries(found) : [];
}
