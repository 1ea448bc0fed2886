/**
 * What an error of another program says it is: its code, the same on every system and in every language.
 */

/** The code of an error of Node.js, of a driver or of PostgreSQL: `ENOENT`, `28P01`; undefined if it has none. */
export function systemCodeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
