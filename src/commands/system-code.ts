/** The code of an error of the system's, of a driver's or of PostgreSQL's: `ENOENT`, `28P01`; undefined if it has none. */
export function systemCodeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
