/**
 * A role that cannot change the journal, as docs/deploying.md describes it: tried with the statements that stand there.
 */

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { monthOf } from '../../src/domain/archive.ts';
import { migrate, readMigrations } from '../../src/store/migrate.ts';
import { openStore } from '../../src/store/store.ts';
import { DAY, over, write } from '../support/archive-past.ts';
import { type CommandLine, openCommandLine } from '../support/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { TEST_MASTER_KEY } from '../support/operator-world.ts';

const mark = randomBytes(4).toString('hex');
const [OWNER, RUN] = [`mbongo_${mark}`, `mbongo_run_${mark}`];
const AT = Date.now() - 600 * DAY;
const { payment, event } = over(AT);

let server: TestDatabase;
let owned: CommandLine;
let run: CommandLine;
let asRun: pg.Client;

/** The statements of the documentation, with the roles of this test. */
async function documented(): Promise<string> {
  const text = await readFile(new URL('../../docs/deploying.md', import.meta.url), 'utf8');
  const [, sql = ''] = /```sql\n(create role mbongo_run [^`]+)```/.exec(text) ?? [];
  return sql.replaceAll(/\bmbongo(_run)?\b/g, (name) => (name === 'mbongo' ? OWNER : RUN));
}

function urlOf(role: string, password: string): string {
  return Object.assign(new URL(server.url), { username: role, password, pathname: `/${OWNER}` }).href;
}

beforeAll(async () => {
  server = await createTestDatabase();
  await server.pool.query(`create role ${OWNER} login createrole password 'x'`);
  await server.pool.query(`create database ${OWNER} owner ${OWNER}`);
  const ownerUrl = urlOf(OWNER, 'x');
  await migrate(ownerUrl);
  const asOwner = new pg.Client({ connectionString: ownerUrl });
  await asOwner.connect();
  await asOwner.query(await documented());
  await asOwner.end();
  const runUrl = urlOf(RUN, 'another one');
  asRun = new pg.Client({ connectionString: runUrl });
  await asRun.connect();
  owned = await openCommandLine(ownerUrl, TEST_MASTER_KEY);
  run = await openCommandLine(runUrl, TEST_MASTER_KEY);
});

afterAll(async () => {
  await Promise.all([asRun.end(), owned.close(), run.close()]);
  await server.pool.query(`drop database ${OWNER} with (force)`);
  await server.pool.query(`drop role ${RUN}`);
  await server.pool.query(`drop role ${OWNER}`);
  await server.drop();
});

test('it runs commands, and the journal has them', async () => {
  const { merchant_id } = await run.json('merchant create --name Kivu');
  await run.json(`balance credit --merchant ${String(merchant_id)} --currency usd --amount 5`);
  expect(await run.json(`journal list --about ${String(merchant_id)}`)).toMatchObject({
    entries: [{ command: 'merchant create' }, { command: 'balance credit' }],
  });
});

test.each([
  "update journal set said_by = 'nobody'",
  'update journal set version = 2',
  'delete from journal',
  'truncate journal',
  'drop table journal',
  'alter table journal add column x int4',
  'drop schema public cascade',
  'create table public.mine (n int4)',
  "create function public.lost(text) returns int4 language sql as 'select 1'",
  'delete from schema_migration',
  `set role ${OWNER}`,
])('it cannot: %s', async (sql) => {
  await expect(asRun.query(sql)).rejects.toMatchObject({ code: '42501' });
});

test('it cannot migrate: its processes and commands wait for the owner to have done so', async () => {
  const next = { name: '9999-next.sql', sql: 'alter table journal add column next_one text', checksum: 'next' };
  const runUrl = urlOf(RUN, 'another one');
  await expect(migrate(runUrl, [...readMigrations(), next])).rejects.toThrow(
    'the database lacks migration 9999-next.sql, and this role may not create anything in the schema public',
  );
  expect(await migrate(runUrl)).toEqual([]);
});

test('it is told of a migration that was edited, not that one is missing', async () => {
  const [first, ...others] = readMigrations();
  if (first === undefined) throw new Error('there is no migration');
  const edited = [{ ...first, checksum: 'another one' }, ...others];
  await expect(migrate(urlOf(RUN, 'another one'), edited)).rejects.toThrow(
    `${first.name} was edited after it was applied`,
  );
});

test.each([
  ['insert on refund', { code: '42501' }],
  ['select on merchant_logo', { code: '42501' }],
  ['select on archive.payment', { code: '42501' }],
  ['usage on schema archive', { code: '42501' }],
  [
    'usage on schema public',
    { message: expect.stringMatching(/^the search_path .* no schema that this role may use/) },
  ],
])('without %s it does not start', async (right, error) => {
  const asOwner = new pg.Client({ connectionString: urlOf(OWNER, 'x') });
  await asOwner.connect();
  await asOwner.query(`revoke ${right} from ${RUN}, public`);
  try {
    await expect(migrate(urlOf(RUN, 'another one'))).rejects.toMatchObject(error);
  } finally {
    await asOwner.query(`grant ${right} to ${RUN}`);
    await asOwner.end();
  }
});

test('the owner archives, and drops a month; it reads what was archived, and the entry', async () => {
  const store = await openStore({ url: urlOf(RUN, 'another one') });
  const { merchant_id } = await run.json('merchant create --name Goma');
  await write(store, [
    { table: 'payment', row: { ...payment, merchant_id: String(merchant_id) } },
    { table: 'webhook_event', row: event },
  ]);
  await store.close();
  const refused = await run.run('archive --older-than 13m');
  expect([refused.status, refused.err]).toEqual([1, expect.stringMatching(/^mbongo: [^\n]+\n$/)]);
  expect(await owned.json('archive --older-than 13m')).toMatchObject({ rows: { payment: 1 } });
  expect(await run.json(`payment show ${payment.id}`)).toMatchObject({ transaction_id: payment.id });
  const month = monthOf(AT);
  const dropped = await owned.run(`archive drop --month ${month} --yes`);
  expect([dropped.status, dropped.err, dropped.copies?.length]).toEqual([0, '', 1]);
  expect(await run.json(`journal list --about ${month}`)).toMatchObject({ entries: [{ command: 'archive drop' }] });
});
