/**
 * A carrier that answers after a minute, and receivers that trickle one byte a second: none keeps connections or memory
 * of ours for longer than its deadline, and no other traffic waits for them.
 *
 * The gateway's time passes four times as fast as ours; the carrier's does not, so that its answer is four minutes away.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { readNumbers } from '../support/invariants.ts';
import { type Running, startGateway } from '../support/processes.ts';
import { keepReceivers, type Receiver, transactionsOf } from '../support/receiver.ts';
import { openShop, type Shop } from '../support/shop.ts';

const SPEED = 4;
const SUBMITS = 24;
const LOOKS = 1_800;
const LOOK_EVERY_MS = 100;

let database: TestDatabase;
let world: FaultyWorld;
let gateway: Running;
let url: string;
const receivers = keepReceivers();
const trickles = new Set<NodeJS.Timeout>();

beforeAll(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  const address = await world.address();
  url = address.url;
  gateway = await startGateway(world.gatewayEnv(address.port), { speed: { factor: SPEED, since: Date.now() } });
});
afterAll(async () => {
  for (const trickle of trickles) clearInterval(trickle);
  await gateway?.kill();
  await receivers.close();
  await world?.close();
  await database?.drop();
});

function shopFor({ url: notifyUrl }: Receiver, kinds: Parameters<typeof openShop>[0]['kinds'], shop: number): Shop {
  return openShop({ ...world, notifyUrl, random: seededRandom(shop), kinds, url: () => url, shop });
}

test('with a carrier that answers after a minute, submits are answered as pending, and wallets do not wait', async () => {
  const receiver = await receivers.open();
  const mobile = shopFor(receiver, ['01'], 1);
  // The carrier's token has been fetched, so only the answer to the request for money is late.
  await mobile.pay();
  await receiver.until((hooks) => hooks.length > 0);
  await world.carrier({ delay_ms: 60_000 });
  const wallets = shopFor(receiver, ['wallet'], 2);
  const paid = Promise.all(Array.from({ length: SUBMITS }, () => mobile.pay()));
  // The other payments do not wait for the carrier.
  await wallets.run(4, () => wallets.orders.length >= 20);
  await receiver.until((hooks) => transactionsOf(hooks).size >= 21);
  // Each is answered when its own time is over, and then holds nothing any more.
  for (const order of await paid) expect((await mobile.status(order))?.status).toBe('processing');
  expect([...mobile.wrongs, ...wallets.wrongs]).toEqual([]);
  await world.carrier({});
});

/** A quarter of a second of ours is a second of the gateway's. */
function trickle(response: ServerResponse, write: (byte: string) => void): void {
  const timer = setInterval(() => write('o'), 250);
  trickles.add(timer);
  response.once('close', () => clearInterval(timer));
}

/** Resolves when fewer than `posts` posts are held open; those that were given up do not count. */
async function untilLeft(receiver: Receiver, posts: number): Promise<void> {
  let held = receiver.held();
  for (let looks = 0; looks < LOOKS && held >= posts; looks += 1) {
    await pause(LOOK_EVERY_MS);
    held = receiver.held();
  }
  expect(held, 'posts that were given up do not stand').toBeLessThan(posts);
}

test('a receiver that trickles its status one byte a second is abandoned when its time is over, and tried again', async () => {
  const receiver = await receivers.open((response) => {
    response.socket?.write('HTTP/1.1 200 ');
    trickle(response, (byte) => response.socket?.write(byte));
  });
  const shop = shopFor(receiver, ['wallet'], 3);
  await shop.run(4, () => shop.orders.length >= 8);
  const first = shop.orders[0]?.transaction_id ?? '';
  // The second try comes although no answer to the first has even begun.
  await receiver.until((hooks) => hooks.filter(({ body }) => body.transaction_id === first).length >= 2);
  await untilLeft(receiver, shop.orders.length);
  expect(shop.wrongs).toEqual([]);
});

test('a receiver that trickles its body one byte a second has accepted the webhook, and is abandoned in time', async () => {
  const receiver = await receivers.open((response) => {
    response.writeHead(200, { 'content-length': 10_000 });
    response.flushHeaders();
    trickle(response, (byte) => response.write(byte));
  });
  const shop = shopFor(receiver, ['wallet'], 4);
  await shop.run(4, () => shop.orders.length >= 8);
  // Its status alone has accepted the webhook: no answer to any post ever ends.
  const ordered = `{${shop.orders.map(({ transaction_id }) => transaction_id).join()}}`;
  const undelivered = `select id as name, 1 as value from webhook_event
    where transaction_id = any($1::text[]) and status <> 'delivered'`;
  await expect.poll(async () => (await readNumbers(database.url, undelivered, [ordered])).size).toBe(0);
  expect(transactionsOf(receiver.hooks).size).toBe(shop.orders.length);
  await untilLeft(receiver, 1);
  expect(shop.wrongs).toEqual([]);
});
