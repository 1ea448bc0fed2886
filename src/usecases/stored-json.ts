/**
 * JSON that we have written ourselves, read back: from a setting, or from a text that was sealed.
 *
 * Invariant: it is used only if it has the shape that its reader expects. A damaged text does not count, nor does one that another
 * version has written in another shape.
 */

/** The value that a text holds; undefined unless `is` accepts it. */
export function readStored<T>(text: string, is: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return is(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a value has fields. */
export function hasFields(value: unknown): value is { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a list of what `is` accepts. */
export function isListOf<T>(value: unknown, is: (one: unknown) => one is T): value is readonly T[] {
  return Array.isArray(value) && value.every(is);
}

/** Whether a value is a text. */
export function isText(value: unknown): value is string {
  return typeof value === 'string';
}
