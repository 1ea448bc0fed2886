/**
 * kill -9 of the gateway at random moments under load: nothing acknowledged is lost, no money moves twice, every
 * payment ends once, and its merchant is told.
 *
 * The gateway's time passes several times as fast as ours. An order whose request was killed before it reached the
 * carrier takes a minute and a half to resolve, and so settles while the test waits.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { judge } from '../support/invariants.ts';
import { openMoments, openSeed } from '../support/moments.ts';
import { openMortalGateway } from '../support/mortal-gateway.ts';
import { answering, openReceiver, type Receiver } from '../support/receiver.ts';
import { findSecrets, secretsOf } from '../support/secrets-in-logs.ts';
import { openShop } from '../support/shop.ts';

const KILLS = 32;
const CALLERS = 12;
const SPEED = 5;
/** At most 80 requests and answers before a kill, which comes a little later, at any point of what they cause. */
const MAX_EVENTS = 80;
/** The last gateway lives long enough to meet a carrier that takes the money and never answers. */
const ORDERS_AFTER = 2 * CALLERS;

const seed = openSeed();
const moments = openMoments(seed.random, MAX_EVENTS);

let database: TestDatabase;
let world: FaultyWorld;
let receiver: Receiver;

beforeAll(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  receiver = await openReceiver(answering(204, moments.happened));
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
  await database?.drop();
});

test('kill -9 at random moments under load', { timeout: 300_000 + KILLS * 30_000 }, async () => {
  seed.tellOnFailure();
  const gateway = await openMortalGateway(world, SPEED);
  const shop = openShop({
    ...world,
    notifyUrl: receiver.url,
    random: seed.beside(1),
    kinds: ['wallet', 'wallet', '01', '01', '02', '03', '05', '07', '07', '08'],
    url: gateway.url,
    heard: moments.happened,
  });
  let enough = Number.POSITIVE_INFINITY;
  const load = shop.run(CALLERS, () => shop.orders.length >= enough);
  for (let killed = 0; killed < KILLS; killed += 1) {
    await gateway.url();
    await moments.next();
    await gateway.kill();
  }
  enough = shop.orders.length + ORDERS_AFTER;
  await load;
  const findings = await judge({ ...world, shop, receiver });
  const logs = await gateway.stop();
  expect(findings, JSON.stringify(Object.fromEntries(shop.seen))).toEqual([]);
  // The run was meaningful: every kind of order occurred, and the kills hit requests in flight.
  expect(shop.orders.length).toBeGreaterThan(KILLS);
  const lost = [...shop.seen].filter(([what]) => what.includes('connection lost')).reduce((sum, [, n]) => sum + n, 0);
  expect(lost).toBeGreaterThan(KILLS);
  expect(findSecrets(logs, secretsOf(world.merchant, shop.orders))).toEqual([]);
});
