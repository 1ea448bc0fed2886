/**
 * kill -9 of the gateway at random moments while customers pay by card and by Google Pay and the merchant gives money back: no
 * card is charged twice, no refund is made twice, everything acknowledged ends, and the merchant is told.
 *
 * The gateway's time passes several times as fast as ours. A payment or refund whose request was killed before it reached the
 * network takes minutes to resolve, and so settles while the test waits.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { judgeCards } from '../support/card-judge.ts';
import { openCardShop } from '../support/card-shop.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { openMoments, openSeed } from '../support/moments.ts';
import { openMortalGateway } from '../support/mortal-gateway.ts';
import { answering, openReceiver, type Receiver } from '../support/receiver.ts';
import { findSecrets } from '../support/secrets-in-logs.ts';

const KILLS = 6;
const CALLERS = 8;
const SPEED = 8;
/** The last gateway lives long enough to be asked for refunds, too. */
const ORDERS_AFTER = 2 * CALLERS;
/** At most 160 requests, answers and webhooks before a kill, which comes a little later, at any point of what they cause. */
const MAX_EVENTS = 160;
/** 25 ms: a call to the network is under way in most of the kills. */
const NETWORK = { delay_ms: 25, answer_lost_rate: 0.1 };

const seed = openSeed();
const moments = openMoments(seed.random, MAX_EVENTS);

let database: TestDatabase;
let world: FaultyWorld;
let receiver: Receiver;

beforeAll(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  await world.cardNetwork(NETWORK);
  receiver = await openReceiver(answering(204, moments.happened));
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
  await database?.drop();
});

test('kill -9 at random moments while cards are charged and refunded', {
  timeout: 300_000 + KILLS * 30_000,
}, async () => {
  seed.tellOnFailure();
  const gateway = await openMortalGateway(world, SPEED);
  const shop = openCardShop({
    ...world,
    receiver,
    random: seed.beside(1),
    kinds: ['frictionless', 'frictionless', 'frictionless', 'challenge', 'challenge', 'lost', 'declined', 'google_pay'],
    now: gateway.now,
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
  const findings = await judgeCards({ ...world, shop, receiver });
  const logs = await gateway.stop();
  expect(findings, JSON.stringify(Object.fromEntries(shop.seen))).toEqual([]);
  // The run was meaningful: cards were charged and refunded, and the kills hit requests in flight.
  expect(shop.orders.flatMap(({ refunds }) => refunds).length).toBeGreaterThan(CALLERS);
  expect([...shop.seen.keys()].filter((what) => what.includes('connection lost'))).not.toEqual([]);
  const tokens = shop.orders.flatMap(({ token }) => (token === '' ? [] : [token]));
  expect(findSecrets(logs, { 'merchant secret': [world.merchant.secret], 'session token': tokens })).toEqual([]);
});
