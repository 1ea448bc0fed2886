/**
 * The master key of a sandbox: made on the first start, kept under the data folder (contract §10).
 *
 * Invariant: every process that opens the same data folder, at the same moment or later, gets the same key, and only
 * its owner can read it. Production never comes here: its key comes from outside.
 */
import { constants } from 'node:fs';
import { link, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from './folder.ts';
import { parseMasterKey } from './keyring.ts';
import type { Random } from './platform.ts';
import { systemCodeOf } from './system-code.ts';

const FILE = 'master.key';

/**
 * The master keys to use: those configured, otherwise that of the data folder, which is made when there is none. With `mayCreate`
 * false (production) none is made.
 *
 * @throws Error that names the file, when it is damaged; never its content.
 */
export async function loadMasterKeys(options: {
  readonly configured: readonly string[];
  readonly dataDir: string;
  readonly mayCreate: boolean;
  readonly random: Random;
}): Promise<readonly string[]> {
  if (options.configured.length > 0) return options.configured;
  if (!options.mayCreate) throw new Error('MASTER_KEY is missing: production needs one');
  const path = join(options.dataDir, FILE);
  return [(await readKey(path)) ?? (await createKey(options.dataDir, path, options.random))];
}

async function readKey(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (parseMasterKey(text) !== undefined) return text;
  throw new Error(`${path} does not hold a key: restore it, or remove it together with the database it belongs to`);
}

/**
 * The key is written whole under a name of its own and then linked to its place. A link fails if the name exists, so that one of
 * two processes wins, and nobody can read half a key, even after a kill -9.
 */
async function createKey(dataDir: string, path: string, random: Random): Promise<string> {
  // The folder's own mode stays as usual: another user's database server may have to pass through it.
  makeFolder(dataDir);
  const draft = `${path}.${process.pid}.${Buffer.from(random.bytes(8)).toString('hex')}`;
  const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await file.writeFile(`${Buffer.from(random.bytes(32)).toString('base64')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
  } catch (error) {
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
  await syncFolder(dataDir);
  const key = await readKey(path);
  if (key === undefined) throw new Error(`${path} was removed while it was made`);
  return key;
}

/** Without this, a power failure could lose the file's name, and with the key everything sealed since. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
