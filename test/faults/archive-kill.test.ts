/**
 * kill -9 of `mbongo archive` at random moments: nothing is lost or duplicated, and the next run continues.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import { everything, SHARDS_USED, writePast } from '../support/archive-past.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openSeed } from '../support/moments.ts';
import { endAll, temporaryFolder } from '../support/processes.ts';

const GATEWAY = fileURLToPath(new URL('../../dist/src/main.js', import.meta.url));
const DAYS = 600;
/** At most 150 ms between the first moved row and the kill. */
const MAX_MS = 150;

const seed = openSeed();

let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});
afterEach(async () => {
  await client?.end();
  await database?.drop();
  await endAll();
});

async function writeOnePast(): Promise<void> {
  const store = await openStore({ url: database.url });
  await writePast(store, Date.now(), DAYS);
  await store.close();
}

test('kill -9 of the archive at random moments', async () => {
  seed.tellOnFailure();
  const env = { PATH: process.env.PATH ?? '', DATABASE_URL: database.url, DATA_DIR: temporaryFolder() };
  await writeOnePast();
  let pasts = 1;
  let { digests } = await everything(client);
  let kills = 0;
  for (;;) {
    const { left: before } = await everything(client);
    const child = spawn(process.execPath, [GATEWAY, 'archive', '--older-than', '13m'], { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    let isOver = false;
    void ended.then(() => (isOver = true));
    // It has begun to move rows, or there was nothing left.
    while (!isOver && (await everything(client)).left === before) await pause(5);
    await pause(seed.random.below(MAX_MS));
    child.kill('SIGKILL');
    const [code] = (await ended) as [number | null];
    const now = await everything(client);
    expect(now.digests).toEqual(digests);
    if (code !== 0) kills += 1;
    else if (kills > 0) break;
    else {
      // The first kill came too late, because this process stood still: there has to be more to archive.
      await writeOnePast();
      pasts += 1;
      ({ digests } = await everything(client));
    }
  }
  expect((await everything(client)).left).toBe(pasts * DAYS * SHARDS_USED);
});
