/** Every process that opens a data folder gets its one key, and no other user can read it. */
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseMasterKey } from './keyring.ts';
import { loadMasterKeys } from './master-key.ts';
import { systemRandom } from './random.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'mbongo-key-'));
});
afterEach(() => rm(root, { recursive: true }));

const load = (folder: string): Promise<readonly string[]> =>
  loadMasterKeys({ configured: [], dataDir: join(root, folder), mayCreate: true, random: systemRandom() });

test('the first start makes a key that only its owner can read, and later ones read it', async () => {
  const [key, ...more] = await load('new/folder');
  expect(more).toEqual([]);
  expect(parseMasterKey(key ?? '')).toHaveLength(32);
  expect(await load('new/folder')).toEqual([key]);
  expect(await load('another')).not.toEqual([key]);
  const file = await stat(join(root, 'new/folder/master.key'));
  expect(file.mode & 0o777).toBe(0o600);
  expect(await readdir(join(root, 'new/folder'))).toEqual(['master.key']);
});

test('of many that start at once one wins, and all have its key', async () => {
  const keys = await Promise.all(Array.from({ length: 20 }, () => load('raced')));
  expect(new Set(keys.flat()).size).toBe(1);
  expect(await readdir(join(root, 'raced'))).toEqual(['master.key']);
});

test('a damaged file prevents the start; it is named, not shown, not replaced', async () => {
  await writeFile(join(root, 'master.key'), 'c2VjcmV0');
  await expect(load('.')).rejects.toThrow(/master\.key does not hold a key/);
  await expect(load('.')).rejects.not.toThrow('c2VjcmV0');
});

test('configured keys take precedence, and where no key may be made there is none', async () => {
  const options = { dataDir: join(root, 'none'), mayCreate: false, random: systemRandom() };
  expect(await loadMasterKeys({ ...options, configured: ['a', 'b'] })).toEqual(['a', 'b']);
  await expect(loadMasterKeys({ ...options, configured: [] })).rejects.toThrow('MASTER_KEY is missing');
  expect(await readdir(root)).toEqual([]);
});
