import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  type DatabaseDesk,
  limit,
  type MadeFiles,
  makeFiles,
  openDatabaseDesk,
  query,
} from '../../test/support/database-desk.ts';
import type { EmbeddedDatabase } from './embedded-database.ts';
import { findServer } from './embedded-database-server.ts';

const COUNTING = "hashtext('mbongo leaving')";

let files: MadeFiles;
let desk: DatabaseDesk;
beforeAll(async () => {
  files = await makeFiles();
}, limit);
afterAll(() => files.remove());
beforeEach(() => {
  desk = openDatabaseDesk(files);
});
afterEach(() => desk.close(), limit);

test(
  'of processes that open it at the same moment, one starts the server and all share it',
  async () => {
    const opened = await Promise.all([desk.opener(), desk.opener(), desk.opener()]);
    expect(opened.map(({ started }) => started).sort()).toEqual([false, false, true]);
    expect(new Set(opened.map(({ url }) => url)).size).toBe(1);
  },
  limit,
);

test(
  'a process that could not open it no longer counts among its users',
  async () => {
    desk.takeMade();
    const first = await desk.open();
    const urlOf = (name: string) => Object.assign(new URL(first.url), { pathname: name }).href;
    await query(urlOf('postgres'), 'drop database mbongo');
    // A template cannot be copied while a client is connected to it.
    const holder = new pg.Client({ connectionString: urlOf('template1') });
    await holder.connect();
    await expect(desk.open()).rejects.toThrow('template1');
    await holder.end();
    await first.close();
    expect(findServer(desk.cluster())).toBeUndefined();
  },
  limit,
);

test(
  'the last of several processes to leave stops the server, no earlier one does',
  async () => {
    desk.takeMade();
    const [first, second] = [await desk.open(), await desk.open()];
    expect([first.started, second.started]).toEqual([true, false]);
    await first.close();
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await second.close();
    expect(findServer(desk.cluster())).toBeUndefined();
  },
  limit,
);

test(
  'a process that comes while the last one is about to stop the server waits for that, and starts the server again',
  async () => {
    desk.takeMade();
    const first = await desk.open();
    // As the last process to leave does: no other was counted, and the server is told to stop.
    const leaver = await leaverWithLock(first);
    const coming = desk.opener();
    await waitingForLock(leaver, 1);
    process.kill(desk.serverPid(), 'SIGINT');
    const second = await coming;
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await first.close();
  },
  limit,
);

test(
  'the last process to leave lets none in before the server has cut all connections',
  async () => {
    desk.takeMade();
    const last = await desk.open();
    const other = await leaverWithLock(last);
    const closing = last.close();
    await waitingForLock(other, 1);
    // Suspended (SIGSTOP), the server receives the signal but does not act on it yet.
    process.kill(desk.serverPid(), 'SIGSTOP');
    await other.query(`select pg_advisory_unlock(${COUNTING})`);
    await other.query("set lock_timeout = '2s'");
    await expect(other.query(`select pg_advisory_lock_shared(${COUNTING})`)).rejects.toThrow('lock timeout');
    process.kill(desk.serverPid(), 'SIGCONT');
    await closing;
    expect(findServer(desk.cluster())).toBeUndefined();
  },
  limit,
);

test(
  'of processes that leave at the same moment, none finishes before the server has ended',
  async () => {
    desk.takeMade();
    const opened: [EmbeddedDatabase, EmbeddedDatabase] = [await desk.open(), await desk.open()];
    const other = await leaverWithLock(opened[0]);
    const closing = opened.map(async (database) => {
      await database.close();
      return findServer(desk.cluster());
    });
    await waitingForLock(other, 2);
    await other.end();
    expect(await Promise.all(closing)).toEqual([undefined, undefined]);
  },
  limit,
);

/** A process that has marked itself as leaving, and holds the lock of the one that counts. */
async function leaverWithLock(database: EmbeddedDatabase): Promise<pg.Client> {
  const connectionString = Object.assign(new URL(database.url), { pathname: 'postgres' }).href;
  const leaver = new pg.Client({ connectionString, application_name: 'mbongo leaving' });
  leaver.on('error', () => undefined);
  await leaver.connect();
  await leaver.query(`select pg_advisory_lock(${COUNTING})`);
  return leaver;
}

async function waitingForLock(leaver: pg.Client, count: number): Promise<void> {
  await vi.waitUntil(async () => {
    const { rows } = await leaver.query("select from pg_locks where locktype = 'advisory' and not granted");
    return rows.length === count;
  }, 60_000);
}
