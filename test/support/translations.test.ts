/** What files were translated to is kept where the user can write, and nowhere else. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { translationsFolder } from './translations.ts';

function checkout(): string {
  const dir = mkdtempSync(join(tmpdir(), 'mbongo-translations-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, 'node_modules'));
  return dir;
}

test('each user has a folder, which is made', () => {
  const dir = checkout();
  const folder = translationsFolder(dir);
  expect(folder).toContain(`${process.getuid?.()}`);
  expect(existsSync(folder ?? '')).toBe(true);
  expect(translationsFolder(dir)).toBe(folder);
});

test('where none can be made, nothing is kept', () => {
  const dir = checkout();
  writeFileSync(join(dir, 'node_modules/.cache'), '');
  expect(translationsFolder(dir)).toBeUndefined();
});
