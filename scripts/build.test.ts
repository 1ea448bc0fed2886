import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';

const BUILD = new URL('build.ts', import.meta.url).href;
const BUILDS = 500;

/** Builds that are nothing but a swap, as fast as they can. */
const SWAPS = `
  import { mkdirSync, writeFileSync } from 'node:fs';
  import { swapIn } from '${BUILD}';
  const [folder, name] = process.argv.slice(-2);
  for (let count = 0; count < ${BUILDS}; count += 1) {
    const draft = folder + '/' + name;
    mkdirSync(draft);
    writeFileSync(draft + '/built-by', name);
    swapIn(draft, folder + '/dist', draft + '-old');
  }`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mbongo-build-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function swapAll(name: string): Promise<string> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', SWAPS, '--', folder, name], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return said;
}

it('builds that end at the same moment each succeed, and one of them stays, whole and alone', async () => {
  expect(await Promise.all([swapAll('one'), swapAll('two')])).toEqual(['', '']);
  expect(readdirSync(folder)).toEqual(['dist']);
  expect(readdirSync(join(folder, 'dist'))).toEqual(['built-by']);
});
