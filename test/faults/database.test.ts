/**
 * The database dies under load: killed with its backends, crashed by one of them, or all connections cut. The gateway
 * reports that it is unavailable, recovers by itself, and nothing that was acknowledged is lost.
 *
 * The server is one of our own, so that it can be killed; the process that opened it restarts it on the same port.
 */
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { openStruckDatabase, type StruckDatabase } from '../support/database-faults.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { judge } from '../support/invariants.ts';
import { startGateway } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { findSecrets, secretsOf } from '../support/secrets-in-logs.ts';
import { openShop } from '../support/shop.ts';

const FAULTS = 9;
const CALLERS = 8;
const SPEED = 5;
/** At least 4 orders are paid between two faults, as proof that the gateway has recovered. */
const ORDERS_BETWEEN = 4;

const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
const random = seededRandom(seed);

let database: StruckDatabase;
let world: FaultyWorld;
let receiver: Receiver;

beforeAll(async () => {
  database = await openStruckDatabase();
  world = await openFaultyWorld(database.url);
  receiver = await openReceiver();
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
  await database?.close();
});

test('the database dies under load', async () => {
  onTestFailed(() => {
    process.stderr.write(`the faults were those of FAULTS_SEED=${seed}\n`);
  });
  const { port, url } = await world.address();
  const gateway = await startGateway(world.gatewayEnv(port), { speed: { factor: SPEED, since: Date.now() } });
  let ended = false;
  void gateway.ended.then(() => {
    ended = true;
  });
  let done = false;
  let paid = 0;
  let met = 0;
  let enough = { at: 0, wake: () => {} };
  const shop = openShop({
    ...world,
    notifyUrl: receiver.url,
    random: seededRandom(seed + 1),
    kinds: ['wallet', 'wallet', '01', '02', '05', '07', '08'],
    url: () => url,
  });
  const caller = async (): Promise<void> => {
    while (!done) {
      await shop.pay();
      paid += 1;
      if (paid >= enough.at) enough.wake();
    }
  };
  const morePaid = (count: number) =>
    new Promise<void>((wake) => {
      enough = { at: paid + count, wake };
    });
  const load = Promise.all(Array.from({ length: CALLERS }, caller));
  const faults = database.faults(random);
  for (let count = 0; count < FAULTS; count += 1) {
    await Promise.race([morePaid(ORDERS_BETWEEN + random.below(ORDERS_BETWEEN)), load]);
    if ((await faults[count % faults.length]?.()) === 'met') met += 1;
  }
  await Promise.race([morePaid(ORDERS_BETWEEN), load]);
  done = true;
  await load;
  const findings = await judge({ ...world, shop, receiver });
  expect(findings, JSON.stringify(Object.fromEntries(shop.seen))).toEqual([]);
  expect(ended, 'the gateway was up all the time').toBe(false);
  // Callers may have noticed none: much is retried on their behalf.
  expect(met, 'faults were met').toBeGreaterThan(FAULTS / 2);
  const unavailable = [...shop.seen.keys()].filter((what) => /50\d/.test(what));
  expect(unavailable.filter((what) => !/ (503 1402|502 1404)$/.test(what))).toEqual([]);
  expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  expect(findSecrets(gateway.printed(), secretsOf(world.merchant, shop.orders))).toEqual([]);
  expect(gateway.printed()).not.toContain(new URL(database.url).password);
});
