/**
 * The conditions of a list: only those that have a value go into the SQL, so that the index that fits is used.
 *
 * Invariant: the letters of the conditions in use are part of the statement's name, because statements are prepared by name.
 */

/**
 * SQL, with a `?` wherever the value stands, if it takes one; the value (undefined: the condition is left out); and letters for the
 * statement's name.
 */
export type Condition = readonly [condition: string, value: string | undefined, letters: string];

/** The conditions in use, each with a parameter of its own. */
export interface Asked {
  readonly conditions: readonly string[];
  readonly values: readonly string[];
  readonly name: string;
}

/** Keeps the conditions that have a value; their parameters are numbered after `before` others. */
export function asked(all: readonly Condition[], before = 0): Asked {
  const conditions: string[] = [];
  const values: string[] = [];
  let name = '';
  for (const [condition, value, letters] of all) {
    if (value === undefined) continue;
    const parameter = condition.includes('?') ? `$${before + values.push(value)}` : '';
    conditions.push(condition.replaceAll('?', () => parameter));
    name += letters;
  }
  return { conditions, values, name };
}

/** The clause that demands all of the conditions; empty if there are none. */
export function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
}
