/**
 * A source and what it imports as one file of JavaScript, for processes of a test that start often: reading TypeScript anew takes
 * each of them several times as long as what it is started for.
 *
 * Invariant: the file lies below `node_modules`, where the libraries are found that it leaves out.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const LIBRARIES = fileURLToPath(new URL('../../node_modules', import.meta.url));

export interface AsJavaScript {
  readonly file: string;
  remove(): void;
}

export function asJavaScript(source: string): AsJavaScript {
  const folder = mkdtempSync(join(LIBRARIES, '.program-'));
  const file = join(folder, 'program.mjs');
  buildSync({
    entryPoints: [source],
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    outfile: file,
  });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
