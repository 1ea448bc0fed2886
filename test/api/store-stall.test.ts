/**
 * A database that falls silent: connections stay open, and nothing comes back. Every caller is answered soon, none waits
 * for ever, and the store recovers.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { NO_COLUMNS } from '../../src/store/columns.ts';
import { type Committer, openCommitter } from '../../src/store/commit.ts';
import { type Connection, openConnection } from '../../src/store/connection.ts';
import { openReaders, type Readers } from '../../src/store/read.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anAnswer } from '../support/store-records.ts';
import { until } from '../support/waiting.ts';
import { openWire, type Wire } from '../support/wire.ts';

/** 2 000 ms: long enough for a slow machine to connect, and short enough for a test to wait. */
const MAX_RUN_MS = 2_000;
const PING = { name: 'ping', text: 'select' };

let database: TestDatabase;
let wire: Wire;
let lines: Connection[];
let troubles: string[];
let committer: Committer;
let readers: Readers;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  wire = await openWire(database.url);
  troubles = [];
  const onError = ({ message }: Error) => troubles.push(message);
  const openOne = (name: string) => openConnection({ url: wire.url, name, onError, limitMs: MAX_RUN_MS });
  lines = ['commit', 'read', 'read'].map(openOne);
  const [first, ...others] = lines;
  if (first === undefined) throw new Error('no line');
  committer = openCommitter(first, () => undefined);
  readers = openReaders(others);
});

afterEach(async () => {
  await committer.close();
  await readers.close();
  await Promise.all(lines.map((line) => line.close()));
  await wire.close();
});

const claim = (id: string): Change => ({ claims: [{ table: 'idempotency', row: anAnswer(id) }] });
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'no error');
/** Connects all lines, so that no run spends time on that. */
const warm = () => Promise.all(lines.map((line) => line.run([{ statement: PING, values: () => [] }])));
const read = () =>
  readers.query(PING, NO_COLUMNS, []).then(
    () => 'read',
    (error: unknown) => nameOf(error),
  );

test('reads and commits fail, sent commits in doubt; then everything recovers', async () => {
  await warm();
  await committer.commit(claim('warm'));
  wire.frozen = true;
  const doubtful = committer.commit(claim('doubtful')).catch(nameOf);
  const reads = await Promise.all(Array.from({ length: 20 }, read));
  expect(new Set(reads)).toEqual(new Set(['StoreUnavailable']));
  expect(await doubtful).toBe('CommitUnknown');
  // The database is known to be unreachable: what was never sent is not in doubt.
  const more = await Promise.all(Array.from({ length: 600 }, (_, n) => committer.commit(claim(`n${n}`)).catch(nameOf)));
  expect(new Set(more)).toEqual(new Set(['StoreUnavailable']));
  // Each line lost one connection; that it could not reconnect after that is not reported again.
  expect(new Set(troubles)).toEqual(new Set(['the database connection was lost']));
  wire.frozen = false;
  wire.cut();
  let tries = 0;
  await until(async () => {
    tries += 1;
    return (await committer.commit(claim(`back ${tries}`)).catch(nameOf)) === 'won' ? true : undefined;
  });
  expect(await read()).toBe('read');
});

test('a statement that the server ends for taking too long is rolled back, and may be tried later', async () => {
  await warm();
  const slow = { name: 'slow', text: 'select pg_sleep(10)' };
  await expect(readers.query(slow, NO_COLUMNS, [])).rejects.toThrow('the database takes too long');
  expect(await read()).toBe('read');
});

test('a role that may not look for commits that wait is refused none after a silence', async () => {
  const role = `blind_${randomBytes(6).toString('hex')}`;
  const { pool } = database;
  await pool.query(`create role ${role}`);
  await pool.query(`grant all on all tables in schema public to ${role}`);
  await pool.query('revoke select on pg_stat_activity from public');
  const blind = openConnection({
    url: `${wire.url}?options=-c%20role%3D${role}`,
    name: 'commit',
    onError: () => undefined,
    limitMs: MAX_RUN_MS,
  });
  const commits = openCommitter(blind, () => undefined);
  try {
    expect(await commits.commit(claim('seen'))).toBe('won');
    wire.frozen = true;
    expect(await commits.commit(claim('unanswered')).catch(nameOf)).toBe('CommitUnknown');
    wire.frozen = false;
    wire.cut();
    expect(await commits.commit(claim('afterwards')).catch(String)).toBe('won');
  } finally {
    await commits.close();
    await blind.close();
    await pool.query('grant select on pg_stat_activity to public');
    await pool.query(`drop owned by ${role}`);
    await pool.query(`drop role ${role}`);
  }
});

test('a silence before anything was sent is no doubt, and ends no suspicion of commits that wait', async () => {
  const stall = { suspected: true, isReported: false };
  const line = openConnection({ url: wire.url, name: 'read', onError: () => undefined, limitMs: MAX_RUN_MS, stall });
  lines.push(line);
  await line.run([{ statement: PING, values: () => [] }]);
  wire.frozen = true;
  const unknown = { name: 'unknown', text: 'select 1' };
  const failed = await line.run([{ statement: unknown, values: () => [] }]).catch((error: unknown) => error);
  expect(failed).toMatchObject({ name: 'ConnectionLost', sent: false });
  expect(stall).toEqual({ suspected: true, isReported: false });
});

test('closing does not wait for a silent server', async () => {
  await Promise.all([committer.commit(claim('before')), read(), read()]);
  wire.frozen = true;
  await Promise.all(lines.map((line) => line.close()));
  expect(await read()).toBe('StoreUnavailable');
});
