/**
 * `/health/ready` on a database that answers but accepts no changes: a primary that has become a standby, or is read-only.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectRefusal } from '../support/envelope.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let client: pg.Client;

beforeAll(async () => {
  world = await openWorld();
  client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await world.close();
});

/** Takes effect on new connections, and closes the existing ones, like a server that fails over. */
async function makeReadOnly(value: 'on' | 'off'): Promise<void> {
  await client.query('set default_transaction_read_only = off');
  await client.query(`alter database ${client.database} set default_transaction_read_only = ${value}`);
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
where datname = current_database() and application_name like 'mbongo %' and pid <> pg_backend_pid()`);
}

async function readiness(): Promise<readonly [number, unknown]> {
  const answer = await fetch(`${world.url}/health/ready`);
  return [answer.status, await answer.json()];
}

/** A negative answer, without the fields that every failure has, which are checked here. */
async function unready(): Promise<unknown> {
  const answer = await fetch(`${world.url}/health/ready`);
  const text = await answer.text();
  const { status, checks, ...json } = JSON.parse(text);
  expectRefusal({ status: answer.status, headers: answer.headers, json, text }, 503, '1402');
  expect(json).toMatchObject({ retryable: true, retry_after: 1 });
  return { status, checks };
}

const READY = [200, { status: 'ready', checks: { database: true, accepting: true, clock: true } }];

test('a gateway that cannot commit is not ready, and is again as soon as it can', async () => {
  expect(await readiness()).toEqual(READY);
  await makeReadOnly('on');
  expect(await unready()).toEqual({ status: 'not_ready', checks: { database: false, accepting: true, clock: true } });
  expect((await fetch(`${world.url}/health`)).status).toBe(200);
  // The connections stay: the gateway itself gives up those to a read-only server.
  await client.query(`alter database ${client.database} set default_transaction_read_only = off`);
  const again = [await readiness(), await readiness(), await readiness()];
  expect(again.at(-1)).toEqual(READY);
});

test('its metrics say so, and its log does not with every statement', async () => {
  const isUp = async (): Promise<string | undefined> => {
    await world.clock.advance(6_000);
    const page = await (await fetch(`${world.url}/metrics`)).text();
    return /^mbongo_database_up (\d)$/m.exec(page)?.[1];
  };
  const told = (): number => world.log.lines.filter((line) => line.includes('SQLSTATE 25006')).length;
  expect(await isUp()).toBe('1');
  const before = told();
  await makeReadOnly('on');
  for (let runs = 0; runs < 10; runs += 1) await Promise.all(world.gateway.rounds.map((round) => round.runNow()));
  expect(await isUp()).toBe('0');
  // Each of its connections has told it.
  expect(told() - before).toBeLessThanOrEqual(5);
  await client.query(`alter database ${client.database} set default_transaction_read_only = off`);
  await readiness();
  await readiness();
  expect(await isUp()).toBe('1');
});
