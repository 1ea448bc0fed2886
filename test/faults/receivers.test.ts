/**
 * Receivers that hang, drip or do not exist delay no other receiver's webhooks.
 *
 * The gateway's time passes slower than ours, so that no post to the hanging receiver can end while the test looks:
 * whatever arrives elsewhere has not waited for one.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { freePort } from '../support/ports.ts';
import { command, type Running, startGateway } from '../support/processes.ts';
import { keepReceivers, transactionsOf } from '../support/receiver.ts';
import { type Merchant, openShop, type Shop } from '../support/shop.ts';

const SLOWNESS = 0.1;
const BAD_ORDERS = 60;
const GOOD_ORDERS = 20;

let database: TestDatabase;
let world: FaultyWorld;
let gateway: Running;
let url: string;
const receivers = keepReceivers();

beforeAll(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  const address = await world.address();
  url = address.url;
  gateway = await startGateway(world.gatewayEnv(address.port), { speed: { factor: SLOWNESS, since: Date.now() } });
});
afterAll(async () => {
  await gateway?.kill();
  await receivers.close();
  await world?.close();
  await database?.drop();
});

async function shopOf(name: string, notifyUrl: string, shop: number): Promise<Shop> {
  const merchant = await command<Merchant>(world.gatewayEnv(0), 'merchant', 'create', '--name', name);
  return openShop({
    ...world,
    merchant,
    notifyUrl,
    random: seededRandom(shop),
    kinds: ['wallet'],
    url: () => url,
    shop,
  });
}

test('a receiver that hangs, one that drips and one that does not exist delay no other', async () => {
  const hanging = await receivers.open(() => undefined);
  const dripping = await receivers.open((response) => void response.writeHead(200, { 'content-length': 9 }).write('o'));
  const good = await receivers.open();
  const bad = [
    await shopOf('Hanging', hanging.url, 1),
    await shopOf('Dripping', dripping.url, 2),
    await shopOf('Away', `http://127.0.0.1:${await freePort()}/hook`, 3),
  ];
  const merchant = await shopOf('Answering', good.url, 4);
  await Promise.all(bad.map((shop) => shop.run(4, () => shop.orders.length >= BAD_ORDERS / bad.length)));
  expect(hanging.held()).toBeGreaterThan(0);
  await merchant.run(4, () => merchant.orders.length >= GOOD_ORDERS);
  await good.until((hooks) => transactionsOf(hooks).size >= GOOD_ORDERS);
  expect(hanging.held(), 'not one post to the hanging receiver has ended meanwhile').toBe(hanging.hooks.length);
  expect([...bad, merchant].flatMap((shop) => shop.wrongs)).toEqual([]);
});
