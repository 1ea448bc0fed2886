/**
 * The store on a connection that breaks: acknowledged changes stay, doubts are reported as such, nothing happens twice.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Change, Outcome } from '../../src/domain/change.ts';
import { openConnection } from '../../src/store/connection.ts';
import type { Execution } from '../../src/store/pipeline.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anAnswer, aTransfer, MADE_AT, moving } from '../support/store-records.ts';
import { until } from '../support/waiting.ts';
import { openWire, type Wire } from '../support/wire.ts';

let database: TestDatabase;
let client: pg.Client;
let wire: Wire;
const stores: Store[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

beforeEach(async () => {
  await client.query('truncate account, ledger_transfer, idempotency');
  wire = await openWire(database.url);
});

afterEach(async () => {
  wire.swallow = false;
  wire.refuse = false;
  wire.cut();
  for (const store of stores.splice(0)) await store.close();
  await wire.close();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

async function open(url: string): Promise<Store> {
  const store = await openStore({ url });
  stores.push(store);
  return store;
}

const claim = (id: string): Change => ({ claims: [{ table: 'idempotency', row: anAnswer(id) }] });
/** Reads until it is answered: the store does not repeat a read whose connection broke once a second has passed. */
async function readAgain<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (nameOf(error) !== 'StoreUnavailable') throw error;
    }
  }
}
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'no error');

test('connections killed under load: no acknowledged change is lost, and none is applied twice', async () => {
  const store = await open(database.url);
  const CHANGES = 3_000;
  const KILL_EVERY = 400;
  let acknowledged = 0;
  let unknown = 0;
  const kills: Promise<unknown>[] = [];
  const once = async (n: number): Promise<Outcome> => {
    for (;;) {
      try {
        return await store.commit(moving(`c${n}`, aTransfer(`t${n}`, 'float', 'wallet', 1n)));
      } catch (error) {
        if (nameOf(error) === 'CommitUnknown') unknown += 1;
        // Nothing was written: the process stood still for as long as the store tries.
        else if (nameOf(error) !== 'StoreUnavailable') throw error;
      }
    }
  };
  let next = 0;
  const outcomes: Outcome[] = [];
  const caller = async (): Promise<void> => {
    while (next < CHANGES) {
      const n = next;
      next += 1;
      outcomes.push(await once(n));
      acknowledged += 1;
      if (acknowledged % KILL_EVERY === 0) {
        kills.push(
          client.query(`select pg_terminate_backend(pid) from pg_stat_activity
            where application_name in ('mbongo commit', 'mbongo read') and datname = current_database()`),
        );
      }
      expect((await readAgain(() => store.idempotency.get(0, `c${n}`)))?.id).toBe(`c${n}`);
    }
  };
  await Promise.all(Array.from({ length: 48 }, caller));
  await Promise.all(kills);
  expect(kills.length).toBe(Math.floor(CHANGES / KILL_EVERY));
  // A change under a key of its own can only lose against itself: then its doubtful commit had taken effect.
  expect(outcomes.filter((outcome) => outcome === 'lost').length).toBeLessThanOrEqual(unknown);
  expect((await store.account.get(0, 'wallet'))?.balance).toBe(BigInt(CHANGES));
  const lines = await client.query<{ n: string }>('select count(*) as n from ledger_transfer');
  expect(lines.rows[0]?.n).toBe(String(CHANGES));
  expect((await store.auditAll()).findings).toEqual([]);
});

test('a commit whose answer is lost is unknown; decided again, it is found to have taken effect', async () => {
  const store = await open(wire.url);
  await store.commit(claim('warm'));
  wire.swallow = true;
  const answered = wire.answered();
  const doubtful = store.commit(claim('doubtful')).catch(nameOf);
  await answered;
  wire.cut();
  expect(await doubtful).toBe('CommitUnknown');
  wire.swallow = false;
  expect(await store.commit(claim('doubtful'))).toBe('lost');
  expect((await store.idempotency.get(0, 'doubtful'))?.id).toBe('doubtful');
});

test('a commit that certainly did not reach the database is sent again, unnoticed', async () => {
  const store = await open(wire.url);
  await store.commit(claim('before'));
  wire.cut();
  // The store knows the connection to be lost when its end has arrived, which comes before the answer to this ping.
  await store.ping();
  await store.ping();
  expect(await Promise.all([1, 2, 3].map((n) => store.commit(claim(`after ${n}`))))).toEqual(['won', 'won', 'won']);
});

/** 1 000 ms, for which a read whose connection broke is asked again. */
const ASKED_AGAIN_MS = 1_000;

test('a read whose answer is lost is asked again, unnoticed', async () => {
  const store = await open(wire.url);
  await store.commit(claim('there'));
  const read = async (): Promise<string | undefined> => (await store.idempotency.get(0, 'there'))?.id;
  let found: string | undefined;
  while (found === undefined) {
    // Both connections for reads are open before one of them breaks under a read.
    for (let reads = 0; reads < 2; reads += 1) await readAgain(read);
    const begun = performance.now();
    wire.hold('read');
    const asked = read();
    await wire.kept();
    wire.cut();
    wire.release();
    found = await asked.catch((error: unknown) => {
      // This process or the server may have stood still.
      if (performance.now() - begun < ASKED_AGAIN_MS) throw error;
      return undefined;
    });
  }
  expect(found).toBe('there');
});

test('a database that is unreachable: reads and commits fail soon, and the store recovers when it is back', async () => {
  const errors: Error[] = [];
  const store = await openStore({ url: wire.url, onError: (error) => errors.push(error) });
  stores.push(store);
  wire.refuse = true;
  wire.cut();
  const failed = await Promise.all([
    store.idempotency.get(0, 'x').catch(nameOf),
    store.ping().catch(nameOf),
    ...Array.from({ length: 600 }, (_, n) => store.commit(claim(`k${n}`)).catch(nameOf)),
  ]);
  for (const name of failed) expect(['StoreUnavailable', 'CommitUnknown']).toContain(name);
  wire.refuse = false;
  // Once it is known to be unreachable, connecting is tried only briefly, which may be too short.
  let tries = 0;
  const back = await until(async () => {
    tries += 1;
    return (await store.commit(claim(`back ${tries}`)).catch(nameOf)) === 'won' ? `back ${tries}` : undefined;
  });
  const found = await until(() => store.idempotency.get(0, back).catch(() => undefined));
  expect(found.id).toBe(back);
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) expect(error.message).not.toContain(new URL(wire.url).host);
});

/** 4 000 ms: twice what a run may take, which is enough for a slow machine to connect. */
const STILL_MS = 4_000;

test('a process that stood still does not mistake that for the database’s silence', async () => {
  const errors: Error[] = [];
  const line = openConnection({
    url: database.url,
    name: 'frozen',
    limitMs: STILL_MS / 2,
    onError: (error) => errors.push(error),
  });
  const rows: unknown[] = [];
  const ask: Execution = {
    statement: { name: 'one', text: 'select 1' },
    values: () => [],
    onRow: (texts) => rows.push(texts),
  };
  await line.run([ask]);
  const asked = line.run([ask]);
  // Sent, and answered while this process cannot read it.
  await new Promise((resolve) => setImmediate(resolve));
  const until = performance.now() + STILL_MS;
  while (performance.now() < until);
  await asked;
  expect([rows, errors]).toEqual([[['1'], ['1']], []]);
  await line.close();
});

test('the waiting changes are bounded; every caller is answered', async () => {
  const store = await open(wire.url);
  await store.commit(claim('warm'));
  wire.swallow = true;
  const answered = wire.answered();
  const first = store.commit(claim('first')).catch(nameOf);
  await answered;
  const rest = Promise.all(Array.from({ length: 20_005 }, (_, n) => store.commit(claim(`n${n}`)).catch(nameOf)));
  wire.swallow = false;
  wire.cut();
  expect(await first).toBe('CommitUnknown');
  const outcomes = await rest;
  expect(outcomes.filter((outcome) => outcome === 'StoreBusy').length).toBe(5);
  expect(outcomes.filter((outcome) => outcome === 'won').length).toBe(20_000);
});

test('closing answers what was requested, and accepts no more', async () => {
  const store = await openStore({ url: database.url });
  const commits = Promise.all(Array.from({ length: 600 }, (_, n) => store.commit(claim(`c${n}`))));
  const read = store.idempotency.get(0, 'c0');
  await store.close();
  expect(new Set(await commits)).toEqual(new Set(['won']));
  await read;
  expect(await store.commit(claim('late')).catch(nameOf)).toBe('StoreUnavailable');
  expect(await store.idempotency.get(0, 'late').catch(nameOf)).toBe('StoreUnavailable');
});

test('a database that cannot be reached is reported at once', async () => {
  await wire.close();
  expect(await openStore({ url: wire.url }).catch(nameOf)).toBe('StoreUnavailable');
  wire = await openWire(database.url);
});

test('a commit that the database ends for its own reasons may be tried again, and then passes', async () => {
  const store = await open(database.url);
  // Connected before, because a commit is sent again for a second only.
  await store.commit(claim('warm'));
  await withEndings('insert', async (endings) => {
    await endings(1, '40P01');
    expect(await committed(store, 'deadlocked')).toBe('won');
    await endings(100, '40P01');
    expect(await committed(store, 'always')).toBe('StoreUnavailable');
    await endings(1, '25006');
    expect(await committed(store, 'standby')).toBe('StoreUnavailable');
    expect(await committed(store, 'standby')).toBe('won');
  });
});

test('a read that the database ends for its own reasons is tried again, and is never treated as our bug', async () => {
  const store = await open(database.url);
  const reaped = (): Promise<number | string> => store.idempotency.reap(MADE_AT + 1, 10).catch(nameOf);
  await withEndings('delete', async (endings) => {
    for (const code of ['40P01', '26000']) {
      await committed(store, code);
      await endings(1, code);
      expect(await reaped()).toBe(1);
    }
    await committed(store, 'left');
    for (const code of ['40P01', '53100']) {
      await endings(100, code);
      expect(await reaped()).toBe('StoreUnavailable');
    }
    await endings(0, '40P01');
    expect(await reaped()).toBe(1);
  });
});

test('a column that the next version widens can still be read, on connections that were open before', async () => {
  const store = await open(database.url);
  await store.commit(moving('fund', aTransfer('fund', 'float', 'wallet', 10n)));
  const held = async () => (await store.account.get(0, 'wallet'))?.balance;
  for (let reads = 0; reads < 10; reads += 1) expect(await held()).toBe(10n);
  await client.query('alter table account alter column balance type numeric(40, 0)');
  try {
    expect(await held()).toBe(10n);
  } finally {
    await client.query('alter table account alter column balance type numeric(38, 0)');
  }
});

/** Makes the database end that many of these writes with that SQLSTATE, on fresh connections. */
async function withEndings(
  kind: 'insert' | 'delete',
  run: (endings: (count: number, code: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  await client.query(`create sequence ended;
    create function end_it() returns trigger language plpgsql as $$
    begin
      if nextval('ended') <= current_setting('mbongo.endings')::int then
        raise exception 'ended' using errcode = current_setting('mbongo.ending');
      end if;
      return coalesce(new, old);
    end $$;
    create trigger ending before ${kind} on idempotency for each row execute function end_it()`);
  try {
    await run(async (count, code) => {
      await client.query(`alter database ${client.database} set mbongo.endings = '${count}'`);
      await client.query(`alter database ${client.database} set mbongo.ending = '${code}'`);
      await client.query(`alter sequence ended restart`);
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name in ('mbongo commit', 'mbongo read') and datname = current_database()`);
    });
  } finally {
    await client.query('drop trigger ending on idempotency; drop function end_it; drop sequence ended');
  }
}

/** The outcome; the connection may just have been cut, from which the store recovers by itself. */
async function committed(store: Store, id: string): Promise<string> {
  for (;;) {
    const ended = await store.commit(claim(id)).catch(nameOf);
    if (ended !== 'CommitUnknown') return ended;
  }
}
