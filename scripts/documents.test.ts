/** The generated documents are up to date with the code's tables. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REFUSALS } from '../src/domain/refusal.ts';
import { generatedDocuments } from './documents.ts';

const documents = [...generatedDocuments()];

test.each(documents)('%s is up to date (else run scripts/generate-docs.ts)', (path, text) => {
  expect(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')).toBe(text);
});

test('every row of every table has as many cells as its header', () => {
  for (const [path, text] of documents) {
    let columns = 0;
    for (const line of text.split('\n')) {
      const cells = line.startsWith('|') ? line.split('|').length : 0;
      if (cells > 0 && columns > 0) expect(cells, `${path}: ${line}`).toBe(columns);
      columns = cells;
    }
  }
});

test('every error has its row', () => {
  const errors = documents.find(([path]) => path === 'docs/errors.md')?.[1] ?? '';
  for (const [code, { name }] of Object.entries(REFUSALS)) expect(errors).toContain(`| ${code} | ${name} |`);
});
