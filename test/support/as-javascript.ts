/**
 * Bundles a source and its imports into one JavaScript file, for processes that a test starts often: compiling TypeScript
 * takes each of them several times as long as its actual work.
 *
 * Invariant: the file is below `node_modules`, where Node.js finds the libraries that the file leaves out.
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
