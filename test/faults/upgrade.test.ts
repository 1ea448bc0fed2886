/**
 * Upgrade under load, and back: old and new processes on one database, whose schema changes under the old ones.
 *
 * The new version is this one with migrations that its successor might bring; the old one is this one, or the build that
 * UPGRADE_FROM names. Only calls that may be retried are lost, and what was acknowledged is kept.
 */
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { judge } from '../support/invariants.ts';
import { makeNextBuild } from '../support/next-build.ts';
import { CLEAN, type Running, startGateway } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openShop, type Shop } from '../support/shop.ts';

const CALLERS = 10;
const PART = 30;
const OLD = process.env.UPGRADE_FROM;
const speed = { factor: 5, since: Date.now() };

let database: TestDatabase;
let world: FaultyWorld;
let receiver: Receiver;

beforeEach(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  receiver = await openReceiver();
});
afterEach(async () => {
  await world?.close();
  await receiver?.close();
  await database?.drop();
});

/** The addresses that orders go to in turn. */
let urls: string[] = [];
let turn = 0;

function newShop(seed: number): Shop {
  return openShop({
    ...world,
    notifyUrl: receiver.url,
    random: seededRandom(seed),
    kinds: ['wallet', 'wallet', '01', '01', '02', '03', '05', '07', '08'],
    url: () => {
      turn += 1;
      return urls[turn % urls.length] ?? '';
    },
  });
}

async function start(build: string | undefined): Promise<Running & { readonly url: string }> {
  const { port, url } = await world.address();
  const running = await startGateway(world.gatewayEnv(port), build === undefined ? { speed } : { build, speed });
  return { ...running, url };
}

/** Resolves when `count` more orders have been begun. */
async function ordersMore(shop: Shop, count: number): Promise<void> {
  const enough = shop.orders.length + count;
  await shop.run(1, () => shop.orders.length >= enough);
}

/** Answers that must not be retried: refusals and errors that neither an upgrade nor a machine that stands still explains. */
function oddAnswers(shop: Shop): string[] {
  const fine = / (2\d\d|409 1203|429 1301|503 1402|502 1404|402 \d+|connection lost|no answer)$/;
  return [...shop.seen.keys()].filter((what) => !fine.test(what));
}

/**
 * A machine that stands still may cost a connection, and with it the calls in flight: our timers run five times as fast here, and
 * the server's do not. What a changed schema does to a statement has an SQLSTATE instead.
 */
const STALLED = [
  'ConnectionLost: the database connection was lost',
  'CommitUnknown: the database connection was lost',
  'StoreUnavailable: the database cannot be reached',
  'StoreUnavailable: the database takes too long',
].map((words) => `"error":"${words}`);

function errorsIn(printed: string): string[] {
  return printed
    .split('\n')
    .filter((line) => line.includes('"level":"error"') || line.includes('"level":50'))
    .filter((line) => !line.includes('attempt_alarm') && !STALLED.some((words) => line.includes(words)));
}

async function newestMigration(): Promise<string> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>('select max(name) as name from schema_migration');
  await client.end();
  return rows[0]?.name ?? '';
}

test('old processes are replaced by new ones under load, and back again', async () => {
  const next = makeNextBuild();
  const old = await Promise.all([start(OLD), start(OLD)]);
  urls = old.map(({ url }) => url);
  const shop = newShop(11);
  let enough = Number.POSITIVE_INFINITY;
  const load = shop.run(CALLERS, () => shop.orders.length >= enough);
  await ordersMore(shop, PART);
  const before = await newestMigration();
  // The first new process migrates the schema under the running old ones.
  const young = [await start(next), await start(next)];
  expect([before < '9001', await newestMigration()]).toEqual([true, '9001-tomorrow.sql']);
  await ordersMore(shop, PART);
  urls = [...urls, ...young.map(({ url }) => url)];
  await ordersMore(shop, PART);
  // They are told to stop while requests still come: those are refused, and retried.
  for (const gateway of old) {
    expect(await gateway.stop()).toEqual(CLEAN);
    await ordersMore(shop, PART / 3);
  }
  urls = young.map(({ url }) => url);
  // And back: the older code on the newer version's schema.
  const back = await start(OLD);
  urls = [back.url];
  for (const gateway of young) expect(await gateway.stop()).toEqual(CLEAN);
  await ordersMore(shop, PART);
  enough = 0;
  await load;
  const findings = await judge({ ...world, shop, receiver });
  expect(findings, JSON.stringify(Object.fromEntries(shop.seen))).toEqual([]);
  expect(oddAnswers(shop)).toEqual([]);
  // The run was meaningful: requests met processes that were gone.
  expect([...shop.seen.keys()].some((what) => /connection lost|503/.test(what))).toBe(true);
  const errors = [...old, ...young, back].flatMap((gateway) => errorsIn(gateway.printed()));
  expect(errors, errors.join('\n')).toEqual([]);
  expect(await back.stop()).toEqual(CLEAN);
});
