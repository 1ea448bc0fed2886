/**
 * A database that stalls: it receives everything and answers nothing, for longer than anybody waits, and then all at once.
 * Callers are soon told to come again, nothing is half done, and the gateway continues as if nothing had happened.
 *
 * The gateway's time passes several times as fast as ours: what takes four seconds to be certain is known within one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { judge } from '../support/invariants.ts';
import { CLEAN, startGateway } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openShop } from '../support/shop.ts';
import { openWire, type Wire } from '../support/wire.ts';

const SPEED = 5;
const CALLERS = 32;
const ORDERS_BEFORE = CALLERS;
const ORDERS_AFTER = 2 * CALLERS;
/** On average, 4 refusals per caller before the database answers again. */
const REFUSALS = 4 * CALLERS;

let database: TestDatabase;
let wire: Wire;
let world: FaultyWorld;
let receiver: Receiver;

beforeAll(async () => {
  database = await createTestDatabase();
  wire = await openWire(database.url);
  world = await openFaultyWorld(database.url);
  receiver = await openReceiver();
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
  await wire?.close();
  await database?.drop();
});

test('while the database stalls requests are shed, and afterwards every payment is accounted for', async () => {
  const { port, url } = await world.address();
  const env = world.gatewayEnv(port, { DATABASE_URL: wire.url, LOG_LEVEL: 'info' });
  const gateway = await startGateway(env, { speed: { factor: SPEED, since: Date.now() } });
  let waiting = { isOver: (): boolean => false, wake: () => {} };
  const shop = openShop({
    ...world,
    notifyUrl: receiver.url,
    random: seededRandom(7),
    kinds: ['wallet', 'wallet', '01', '02'],
    url: () => url,
    heard: () => {
      if (waiting.isOver()) waiting.wake();
    },
  });
  const until = (isOver: () => boolean): Promise<void> =>
    new Promise((wake) => {
      waiting = { isOver, wake };
    });
  const refusals = (): number =>
    [...shop.seen].reduce((sum, [what, count]) => (what.endsWith(' 503 1402') ? sum + count : sum), 0);
  let enough = Number.POSITIVE_INFINITY;
  const load = shop.run(CALLERS, () => shop.orders.length >= enough);

  await until(() => shop.orders.length >= ORDERS_BEFORE);
  const before = refusals();
  wire.stall();
  await until(() => refusals() - before >= REFUSALS);
  // Probes are answered all the while.
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect((await fetch(`${url}/health/ready`)).status).toBe(503);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('mbongo_overload_level');
  wire.resume();
  enough = shop.orders.length + ORDERS_AFTER;
  await load;

  const findings = await judge({ ...world, shop, receiver });
  const seen = JSON.stringify(Object.fromEntries(shop.seen));
  expect(findings, seen).toEqual([]);
  const unavailable = [...shop.seen.keys()].filter((what) => / 50\d/.test(what));
  expect(
    unavailable.filter((what) => !/ (503 1402|502 1404)$/.test(what)),
    seen,
  ).toEqual([]);
  expect(await gateway.stop()).toEqual(CLEAN);
});
