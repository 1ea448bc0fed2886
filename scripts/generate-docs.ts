/**
 * `node --import tsx scripts/generate-docs.ts`: writes the documents that are generated from the code.
 * With `--check` it writes nothing, and exits 1 if a file is stale.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedDocuments } from './documents.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const checkOnly = process.argv.includes('--check');

for (const [path, text] of generatedDocuments()) {
  const file = join(root, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  if (checkOnly) {
    process.stderr.write(`${path} is stale: run node --import tsx scripts/generate-docs.ts\n`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`wrote ${path}\n`);
  }
}
