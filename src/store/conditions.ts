/**
 * The conditions of a list: only those that have a value go into the SQL, so that the index that fits is used.
 *
 * Invariant: which of a list's conditions are in use is part of the statement's name, because statements are prepared by name.
 */

/** SQL with a `?` wherever the value stands, and the value; undefined: the condition is left out. */
export type Condition = readonly [condition: string, value: string | undefined];

/** The conditions in use, each with a parameter of its own. */
export interface Asked {
  readonly conditions: readonly string[];
  readonly values: readonly string[];
  /** Tells these conditions from any others of the same list. */
  readonly name: string;
}

/** Keeps the conditions that have a value; their parameters are numbered after `before` others. */
export function asked(all: readonly Condition[], before = 0): Asked {
  const conditions: string[] = [];
  const values: string[] = [];
  // One bit for each condition, by its position in the list.
  let inUse = 0;
  for (const [position, [condition, value]] of all.entries()) {
    if (value === undefined) continue;
    const parameter = `$${before + values.push(value)}`;
    conditions.push(condition.replaceAll('?', () => parameter));
    inUse += 2 ** position;
  }
  return { conditions, values, name: String(inUse) };
}

/** The clause that demands all of the conditions; empty if there are none. */
export function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}
