/**
 * The project's programs as built, for tests that run them as processes: they start in half the time of the sources.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/** The path of a built program, for example `src/main.js`. Throws if nothing has been built. */
export function builtProgram(path: string): string {
  const file = join(DIST, path);
  if (!existsSync(file)) throw new Error('these tests run what is built: npm run build');
  return file;
}
