/**
 * One connection and its pipelines: what becomes of a connection that has served its time, and what a failure leaves behind.
 */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newConnected, prepareMissing } from '../../src/store/connected.ts';
import { type Connection, openConnection } from '../../src/store/connection.ts';
import { ConnectionLost, Refused, StoreUnavailable } from '../../src/store/errors.ts';
import { type Execution, prepare, runPipeline, Untranslatable } from '../../src/store/pipeline.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/waiting.ts';

/** 60 000 ms: nothing here is decided by how long the server takes. */
const STALL_MS = 60_000;

let database: TestDatabase;
let errors: Error[] = [];
const lines: Connection[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const line of lines.splice(0)) await line.close();
  errors = [];
});
afterAll(() => database.drop());

function open(name: string): Connection {
  const line = openConnection({ url: database.url, name, onError: (error) => errors.push(error) });
  lines.push(line);
  return line;
}

const doing = (name: string, text: string): Execution => ({ statement: { name, text }, values: () => [] });
const failing = (code: string): Execution =>
  doing(`fail_${code}`, `do $$ begin raise exception 'failed' using errcode = '${code}'; end $$`);
const failureOf = (run: Promise<void>): Promise<unknown> =>
  run.then(
    () => undefined,
    (error: unknown) => error,
  );

/** The server's process that serves the connection. */
async function pidOf(line: Connection): Promise<string | null | undefined> {
  let pid: string | null | undefined;
  await line.run([{ ...doing('pid', 'select pg_backend_pid()'), onRow: ([text]) => (pid = text) }]);
  return pid;
}

/** Waits until the server has no other connections of that name than these. */
const untilThereAre = (name: string, pids: readonly unknown[]): Promise<true> =>
  until(async () => {
    const { rows } = await database.pool.query<{ pid: number }>(
      'select pid from pg_stat_activity where application_name = $1',
      [`mbongo ${name}`],
    );
    return rows.map(({ pid }) => String(pid)).join() === pids.join() ? true : undefined;
  });

test('a connection that breaks is reported once, and one takes its place', async () => {
  const line = open('broken');
  const first = await pidOf(line);
  const failure = await failureOf(line.run([doing('end', 'select pg_terminate_backend(pg_backend_pid())')]));
  expect(failure).toMatchObject({ name: 'ConnectionLost', sent: true, code: '57P01' });
  const second = await pidOf(line);
  expect(second).not.toBe(first);
  await untilThereAre('broken', [second]);
  expect(await pidOf(line)).toBe(second);
  expect(errors).toEqual([new ConnectionLost({ sent: true, code: '57P01' })]);
});

test.each(['26000', '0A000', '25006'])('a connection that was refused with %s is ended and replaced', async (code) => {
  const line = open('refused');
  const first = await pidOf(line);
  expect(await failureOf(line.run([failing(code)]))).toBeInstanceOf(Refused);
  const second = await pidOf(line);
  expect(second).not.toBe(first);
  await untilThereAre('refused', [second]);
  expect(errors).toHaveLength(1);
});

test('that the server takes no changes is reported once, however often it refuses one', async () => {
  const line = open('standby');
  for (let tries = 0; tries < 3; tries += 1)
    expect(await failureOf(line.run([failing('25006')]))).toBeInstanceOf(Refused);
  expect(errors).toHaveLength(1);
});

test('that the server lacks disk is reported once with its code, and the connection stays', async () => {
  const line = open('full');
  const pid = await pidOf(line);
  for (let tries = 0; tries < 3; tries += 1)
    expect(await failureOf(line.run([failing('53100')]))).toBeInstanceOf(Refused);
  expect(errors.map(({ message }) => message)).toEqual(['SQLSTATE 53100']);
  await failureOf(line.run([failing('53200')]));
  expect(errors).toHaveLength(2);
  expect(await pidOf(line)).toBe(pid);
});

test('any other refusal leaves the connection as it is', async () => {
  const line = open('kept');
  const pid = await pidOf(line);
  expect(await failureOf(line.run([failing('23505')]))).toBeInstanceOf(Refused);
  expect(await pidOf(line)).toBe(pid);
  expect(errors).toEqual([]);
});

test('a row that cannot be read is an error, in words without its value, and the connection stays', async () => {
  const line = open('unreadable');
  const pid = await pidOf(line);
  const read: Execution = {
    ...doing('secret', "select 'secret'"),
    onRow: ([text]) => {
      throw new RangeError(`${text} is no instant`);
    },
  };
  const failure = await failureOf(line.run([read]));
  expect(failure).toMatchObject({ name: 'Untranslatable', message: 'a row cannot be read' });
  expect(await pidOf(line)).toBe(pid);
  expect(errors).toEqual([]);
});

test('closing while it connects: nothing is sent, and no connection stays', async () => {
  await database.pool.query('create table sent (n int)');
  const line = open('closing');
  const failure = failureOf(line.run([doing('send', 'insert into sent values (1)')]));
  await line.close();
  expect(await failure).toBeInstanceOf(StoreUnavailable);
  await untilThereAre('closing', []);
  expect((await database.pool.query('select from sent')).rows).toEqual([]);
});

test('statements are prepared in one round trip; when one is refused, those before it stay prepared', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const [one, two, wrong, three] = [
      doing('one', 'select 1'),
      doing('two', 'select 2'),
      doing('wrong', 'select nothing'),
      doing('three', 'select 3'),
    ];
    const connection = newConnected(client);
    let trips = 0;
    client.connection.on('readyForQuery', () => (trips += 1));
    const deadline = performance.now() + STALL_MS;
    const failure = await failureOf(prepareMissing(connection, [one, two, one, wrong, three], deadline));
    expect(failure).toMatchObject({ code: '42703' });
    expect([trips, ...connection.prepared]).toEqual([1, 'one', 'two']);
    await prepareMissing(connection, [one, three, two], deadline);
    expect([trips, ...connection.prepared]).toEqual([2, 'one', 'two', 'three']);
    await prepareMissing(connection, [three, two, one], deadline);
    await runPipeline(client, [one, two, three], STALL_MS);
    expect(trips).toBe(3);
  } finally {
    await client.end();
  }
});

test('a pipeline that is refused, or has a row that cannot be written, does nothing and leaves no listener', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { connection } = client;
  try {
    await database.pool.query('create table done (n int)');
    const insert = doing('insert', 'insert into done values (1)');
    const divide = doing('divide', 'select 1 / 0');
    await prepare(client, [insert.statement, divide.statement], STALL_MS, () => undefined);
    const unwritable: Execution = {
      statement: insert.statement,
      values: () => {
        throw new TypeError('a text cannot be written');
      },
    };
    const listeners = () => connection.eventNames().map((name) => [name, connection.listenerCount(name)]);
    const before = listeners();
    expect(await failureOf(runPipeline(client, [insert, divide], STALL_MS))).toMatchObject({ code: '22012' });
    const failure = await failureOf(runPipeline(client, [insert, unwritable], STALL_MS));
    expect(failure).toBeInstanceOf(Untranslatable);
    expect(listeners()).toEqual(before);
    expect((await client.query('select from done')).rows).toEqual([]);
  } finally {
    await client.end();
  }
});
