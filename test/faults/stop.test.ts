/**
 * SIGTERM under load, a process that is paused, and several processes on one database: what is in flight is
 * finished, nothing is lost, and no event gets a second id.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { type Gate, openGate } from '../support/gate.ts';
import { judge } from '../support/invariants.ts';
import { CLEAN, startGateway } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { findSecrets, secretsOf } from '../support/secrets-in-logs.ts';
import { openShop, type Shop } from '../support/shop.ts';

let database: TestDatabase;
let world: FaultyWorld;
let receiver: Receiver;
let gate: Gate;

beforeEach(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  receiver = await openReceiver();
  gate = await openGate(world.sandboxUrl);
});
afterEach(async () => {
  await world?.close();
  await receiver?.close();
  await gate?.close();
  await database?.drop();
});

/** Polls the statuses of the collected payments until `done` accepts them. */
async function readUntil(shop: Shop, done: (statuses: readonly string[]) => boolean): Promise<void> {
  for (;;) {
    const collected = shop.orders.filter(({ transaction_id }) => transaction_id !== '');
    const reads = await Promise.all(collected.map((order) => shop.status(order)));
    if (done(reads.map((read) => read?.status ?? 'unknown'))) return;
    await pause(20);
  }
}

/** Polls until that many orders wait for the carrier's answer to their submit. */
function underWay(shop: Shop, count: number): Promise<void> {
  return readUntil(shop, (statuses) => statuses.filter((status) => status === 'processing').length >= count);
}

/** Polls until a new connection is refused, or answered that the gateway is unavailable. */
async function refusesWhatIsNew(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/health`, { headers: { connection: 'close' } }).catch(() => undefined);
    if (answer === undefined || answer.status === 503) return;
    await pause(10);
  }
}

function newShop(kinds: Parameters<typeof openShop>[0]['kinds'], url: () => string): Shop {
  return openShop({ ...world, notifyUrl: receiver.url, random: seededRandom(3), kinds, url });
}

test('SIGTERM under load: calls in flight are answered, new ones are refused, exit status 0', async () => {
  const { port, url } = await world.address();
  const gateway = await startGateway(world.gatewayEnv(port, gate.env));
  const shop = newShop(['01', '07'], () => url);
  gate.shut();
  const submits = 8;
  let answered = 0;
  const paid = Array.from({ length: submits }, () => shop.pay().then(() => (answered += 1)));
  await gate.came(submits);
  gateway.signal('SIGTERM');
  await refusesWhatIsNew(url);
  expect(answered, 'submits are still under way').toBe(0);
  gate.open();
  expect(await gateway.ended).toEqual(CLEAN);
  expect(gateway.printed(), 'it ended by itself').not.toContain('stop_overdue');
  await Promise.all(paid);
  expect(Object.fromEntries(shop.seen)).toMatchObject({ 'POST /payments/submit 200': submits });
  expect([...shop.seen.keys()].filter((what) => what.includes('lost'))).toEqual([]);
  const again = await startGateway(world.gatewayEnv(port));
  expect(await judge({ ...world, shop, receiver })).toEqual([]);
  expect(await again.stop()).toEqual(CLEAN);
});

test('a carrier that never answers does not hold up the stop', async () => {
  const { port, url } = await world.address();
  const speed = { factor: 5, since: Date.now() };
  const gateway = await startGateway(world.gatewayEnv(port), { speed });
  let next: Promise<unknown> = Promise.resolve();
  const shop = openShop({
    ...world,
    notifyUrl: receiver.url,
    random: seededRandom(4),
    kinds: ['05'],
    url: () => next.then(() => url),
  });
  const paid = Promise.all([shop.pay(), shop.pay()]);
  await underWay(shop, 2);
  gateway.signal('SIGTERM');
  next = gateway.ended.then(() => startGateway(world.gatewayEnv(port), { speed }));
  expect(await gateway.ended).toEqual(CLEAN);
  await paid;
  expect(await judge({ ...world, shop, receiver })).toEqual([]);
});

test('a paused process’s work is taken over, and it finds that out when it resumes', async () => {
  const [one, two] = [await world.address(), await world.address()];
  const speed = { factor: 5, since: Date.now() };
  const paused = await startGateway(world.gatewayEnv(one.port, gate.env), { speed });
  const awake = await startGateway(world.gatewayEnv(two.port), { speed });
  let url = one.url;
  const shop = newShop(['01', '02', '05', '07', '08'], () => url);
  gate.shut();
  const submits = 10;
  const paid = Promise.all(Array.from({ length: submits }, () => shop.pay()));
  await gate.came(submits);
  paused.signal('SIGSTOP');
  gate.open();
  url = two.url;
  // Its leases expire, and the other process inquires in its place.
  const open = new Set(['processing', 'pending_mobile_money_verification']);
  await readUntil(shop, (statuses) => statuses.every((status) => !open.has(status)));
  paused.signal('SIGCONT');
  await paid;
  expect(await judge({ ...world, shop, receiver })).toEqual([]);
  expect([await paused.stop(), await awake.stop()]).toEqual([CLEAN, CLEAN]);
});

test('two api processes and a worker share the work, even while one of them is replaced', async () => {
  const [one, two] = [await world.address(), await world.address()];
  const gateways = await Promise.all([
    startGateway(world.gatewayEnv(one.port), { role: 'api' }),
    startGateway(world.gatewayEnv(two.port), { role: 'api' }),
    startGateway(world.gatewayEnv(0), { role: 'worker' }),
  ]);
  let turn = 0;
  let urls = [one.url, two.url];
  const shop = newShop(['wallet', 'wallet', '01', '02', '03', '07', '08'], () => {
    turn += 1;
    return urls[turn % urls.length] ?? one.url;
  });
  const before = 40;
  await shop.run(10, () => shop.orders.length >= before);
  const load = shop.run(10, () => shop.orders.length >= 3 * before);
  // A deployment: one is taken out of the load balancer, stopped and restarted, and comes back.
  urls = [two.url];
  expect(await gateways[0]?.stop()).toEqual(CLEAN);
  gateways.push(await startGateway(world.gatewayEnv(one.port), { role: 'api' }));
  urls = [one.url, two.url];
  await load;
  const findings = await judge({ ...world, shop, receiver });
  expect(findings, JSON.stringify(Object.fromEntries(shop.seen))).toEqual([]);
  const ends = await Promise.all(gateways.slice(1).map((gateway) => gateway.stop()));
  expect(ends).toEqual(ends.map(() => CLEAN));
  const logs = gateways.map((gateway) => gateway.printed());
  expect(findSecrets(logs.join('\n'), secretsOf(world.merchant, shop.orders))).toEqual([]);
  expect(
    logs.slice(0, 2).map((log) => log.includes('/payments/submit')),
    'both answered',
  ).toEqual([true, true]);
});
