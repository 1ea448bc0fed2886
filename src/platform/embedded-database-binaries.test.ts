import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOBODY, prepareBinaries, reachableBy } from './embedded-database-binaries.ts';

/** Only root can act as another user. */
const isRoot = process.getuid?.() === 0;
let closed: string;
beforeEach(() => {
  closed = realpathSync(mkdtempSync(join(tmpdir(), 'mbongo-binaries-')));
});
afterEach(() => rmSync(closed, { recursive: true, force: true }));

test('links that a blocked install script has not made are made, and the programs run', () => {
  const native = installWithoutLinks('test');
  expect(prepareBinaries(undefined, closed, native)).toBe(native);
  for (const target of links(native)) expect(lstatSync(join(native, '..', target)).isSymbolicLink()).toBe(true);
  expect(runVersion(native)).toContain('PostgreSQL');
});

test.runIf(isRoot)('programs in a folder closed to others are copied to where the server’s user can run them', () => {
  const native = installWithoutLinks(`test-${process.pid}`);
  const nobody = { uid: NOBODY, gid: NOBODY };
  expect(reachableBy(join(native, 'bin', 'postgres'), nobody)).toBe(false);
  const copy = prepareBinaries(nobody, closed, native);
  try {
    expect(copy.startsWith(closed)).toBe(false);
    for (const target of links(native))
      expect(existsSync(join(copy, '..', target.replace('native', copy.split('/').at(-1) ?? '')))).toBe(true);
    expect(runVersion(copy, nobody)).toContain('PostgreSQL');
    expect(prepareBinaries(nobody, closed, native)).toBe(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

/** A copy of the installed package as npm leaves it when install scripts are blocked, in a folder closed to others. */
function installWithoutLinks(version: string): string {
  const installed = prepareBinaries(undefined, closed);
  const native = join(closed, 'package', 'native');
  cpSync(installed, native, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() });
  writeFileSync(join(closed, 'package', 'package.json'), JSON.stringify({ version }));
  return native;
}

function links(native: string): string[] {
  const found: { target: string }[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  return found.map(({ target }) => target);
}

function runVersion(native: string, user?: { uid: number; gid: number }): string {
  return execFileSync(join(native, 'bin', 'postgres'), ['--version'], { encoding: 'utf8', cwd: '/', ...user });
}
