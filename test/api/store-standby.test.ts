/**
 * A synchronous standby that is gone: the server commits, and answers only when a standby has confirmed. It holds on to every such
 * commit, and to its rows, whatever its client does.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import type { EmbeddedDatabase } from '../../src/platform/embedded-database.ts';
import { type Connection, openConnection } from '../../src/store/connection.ts';
import { migrate } from '../../src/store/migrate.ts';
import { newStall, type Stall } from '../../src/store/stall.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { type DatabaseDesk, limit, makeFiles, openDatabaseDesk, query } from '../support/database-desk.ts';
import { anAnswer, aTransfer, MADE_AT, moving } from '../support/store-records.ts';
import { until } from '../support/waiting.ts';

let desk: DatabaseDesk;
let database: EmbeddedDatabase;
let url: string;
let store: Store;
const errors: string[] = [];

beforeAll(async () => {
  const files = await makeFiles();
  desk = openDatabaseDesk(files);
  desk.takeMade();
  files.remove();
  database = await desk.open();
  ({ url } = database);
  await migrate(url);
  store = await openStore({ url, onError: ({ message }) => errors.push(message) });
}, limit);
afterAll(async () => {
  await setStandby('');
  await store.close();
  await database.close();
  await desk.close();
}, limit);

const claim = (id: string): Change => ({ claims: [{ table: 'idempotency', row: anAnswer(id) }] });
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'no error');
const commit = (id: string) => store.commit(claim(id)).catch(nameOf);

/** Its own change of the settings needs no confirmation: the transaction writes nothing. */
async function setStandby(name: string): Promise<void> {
  await query(url, `alter system set synchronous_standby_names = '${name}'`);
  await query(url, 'select pg_reload_conf()');
  await until(async () => {
    const shown = await query(url, `select where current_setting('synchronous_standby_names') = '${name}'`);
    return shown.length > 0 ? true : undefined;
  });
}

/** To the store it is a change, and the server has nothing to confirm: it is answered even while no standby is there. */
const EMPTY_CHANGE = { name: 'empty_change', text: 'select', writes: true } as const;

/** A connection that has met silence before, and what it reports. */
function suspicious(): { line: Connection; stall: Stall; told: string[]; change: () => Promise<string> } {
  const told: string[] = [];
  const stall: Stall = { ...newStall(), suspected: true };
  const line = openConnection({ url, name: 'commit', onError: ({ message }) => told.push(message), stall });
  const change = () => line.run([{ statement: EMPTY_CHANGE, values: () => [] }]).then(() => 'sent', nameOf);
  return { line, stall, told, change };
}

const waiting = () => query(url, "select pid from pg_stat_activity where wait_event = 'SyncRep'");

test(
  'one commit waits for it; those that follow are turned away, and reads go on',
  async () => {
    await store.commit(claim('before'));
    await setStandby('gone');
    expect(await commit('doubtful')).toBe('CommitUnknown');
    const later: Change[] = [
      claim('a'),
      moving('b', aTransfer('b', 'float', 'wallet', 1n)),
      { updates: [{ table: 'idempotency', shard: 0, id: 'before', version: 1, row: { status: 200 } }] },
    ];
    for (const change of later) expect(await store.commit(change).catch(nameOf)).toBe('StoreUnavailable');
    expect(await waiting()).toHaveLength(1);
    expect((await store.idempotency.get(0, 'before'))?.id).toBe('before');
    expect(await store.ping().catch(nameOf)).toBe('StoreUnavailable');
    expect((await store.server()).stalled).toBe(1);
    const told = errors.filter((message) => message.includes('synchronous standby'));
    expect(told).toEqual(['the database waits for a synchronous standby to confirm commits']);

    // A round's claim of due work is such a commit, too, and holds up no read.
    const reap = () => store.idempotency.reap(MADE_AT + 1, 100).catch(nameOf);
    expect(await reap()).toBe('StoreUnavailable');
    const both = await Promise.all([reap(), store.idempotency.get(0, 'doubtful')]);
    expect(both).toEqual(['StoreUnavailable', undefined]);
    expect(await store.closeAccountDays(['2020-01-01']).catch(nameOf)).toBe('StoreUnavailable');
    expect(await waiting()).toHaveLength(1);

    const { line, stall, told: reported, change } = suspicious();
    expect([await change(), await change()]).toEqual(['StoreUnavailable', 'StoreUnavailable']);
    expect(reported).toHaveLength(1);

    await setStandby('');
    // Nothing is left of the outage: the next one is found and reported anew.
    await until(async () => ((await change()) === 'sent' ? true : undefined));
    expect(stall).toEqual(newStall());
    await line.close();
    await until(async () => ((await commit('after')) === 'won' ? true : undefined));
    expect(await commit('doubtful')).toBe('lost');
    expect(await waiting()).toEqual([]);
    await store.ping();
    expect((await store.server()).stalled).toBe(0);
  },
  limit,
);

test(
  'a commit that has only just begun to wait turns none away: with a standby that is well, each waits a little',
  async () => {
    await setStandby('slow');
    const { line, stall, change } = suspicious();
    let tries = 0;
    // A slow machine may take longer over one try than a commit may wait: a later try is as good.
    await until(async () => {
      tries += 1;
      stall.suspected = true;
      const commit = query(url, `create table waits_${tries} ()`);
      await until(async () => ((await waiting()).length > 0 ? true : undefined));
      const answer = await change();
      // The commit has been made, and its client learns so.
      await query(url, "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
      await commit;
      return answer === 'sent' ? true : undefined;
    });
    await line.close();
    await setStandby('');
  },
  limit,
);

test('what a replication slot without a reader holds back is seen', async () => {
  expect((await store.server()).slots).toEqual([]);
  await query(url, "select pg_create_physical_replication_slot('gone', true)");
  await store.commit(claim('kept for it'));
  const [slot] = (await store.server()).slots ?? [];
  expect(slot).toMatchObject({ name: 'gone', isActive: false });
  expect(slot?.held).toBeGreaterThan(0);
  await query(url, "select pg_drop_replication_slot('gone')");
});

test('a slot that the server has given up holds nothing back', async () => {
  await query(url, "alter system set idle_replication_slot_timeout = '1s'");
  await query(url, 'select pg_reload_conf()');
  await query(url, "select pg_create_physical_replication_slot('given_up', true)");
  const isGivenUp = "from pg_replication_slots where wal_status = 'lost' and restart_lsn is not null";
  await until(async () => {
    await query(url, 'checkpoint');
    return (await query(url, `select ${isGivenUp}`)).length > 0 ? true : undefined;
  });
  expect((await store.server()).slots).toEqual([]);
  await query(url, "select pg_drop_replication_slot('given_up')");
  await query(url, 'alter system reset idle_replication_slot_timeout');
  await query(url, 'select pg_reload_conf()');
});

test('a role that may not look there is told all the rest', async () => {
  await query(url, 'create role blind');
  await query(url, 'grant select on schema_migration to blind');
  await query(url, 'revoke select on pg_stat_activity, pg_replication_slots from public');
  const blind = await openStore({
    url: `${url}?options=-c%20role%3Dblind`,
    onError: ({ message }) => errors.push(message),
  });
  try {
    const { stalled, slots, version, migrations } = await blind.server();
    expect([stalled, slots]).toEqual([undefined, undefined]);
    expect([version, migrations.length > 0]).toEqual([expect.any(Number), true]);
  } finally {
    await blind.close();
    await query(url, 'grant select on pg_stat_activity, pg_replication_slots to public');
  }
});
