/**
 * Several processes under one supervisor, at one port: they are killed, replaced, stopped and orphaned under load, and
 * customers notice nothing but answers that may be retried.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { watchdog } from '../../src/store/watchdog.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { openGate } from '../support/gate.ts';
import { judge } from '../support/invariants.ts';
import {
  CLEAN,
  type Environment,
  type GatewayOptions,
  type Running,
  startGateway,
  temporaryFolder,
} from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { openShop, type Shop } from '../support/shop.ts';

const CALLERS = 6;
/** 8 orders are paid between two events. */
const ORDERS = 8;
/** 100 ms between a customer's orders: without them a process takes seconds to start, and thousands of orders are judged. */
const REST_MS = 100;
const LOOK_EVERY_MS = 20;
const CONNECT_EVERY_MS = 5;
/** Less than a stop may take. */
const ANSWERED_MS = 8_000;

let database: TestDatabase;
let world: FaultyWorld;
let receiver: Receiver;
let gateway: Running;
let url: string;
let isOver: boolean;

beforeAll(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  receiver = await openReceiver();
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
  await database?.drop();
});
beforeEach(() => {
  isOver = false;
});
afterEach(async () => {
  isOver = true;
  for (const pid of pids().filter(isAlive)) process.kill(pid, 'SIGKILL');
  await gateway?.kill();
});

/** Two processes and a worker, at an address of their own. */
async function start(env: Environment = {}, options: GatewayOptions = {}): Promise<void> {
  const address = await world.address();
  ({ url } = address);
  gateway = await startGateway(world.gatewayEnv(address.port, env), { processes: 2, ...options });
}

interface Started {
  readonly process: string;
  readonly pid: number;
}

/** The processes that were started, including those that have ended. */
function pids(): number[] {
  return gateway.said<Started>('process_starting').map(({ pid }) => pid);
}

/** The newest process in a place. */
function pidOf(name: string): number {
  return gateway.said<Started>('process_starting').findLast(({ process }) => process === name)?.pid ?? 0;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether so many processes have been replaced. Throws when one could not be, because the supervisor does not try again. */
function hasReplaced(count: number): boolean {
  expect(gateway.said('process_not_replaced')).toEqual([]);
  return gateway.said('process_replaced').length === count;
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await pause(LOOK_EVERY_MS);
}

function newShop(shop: number, kinds: Parameters<typeof openShop>[0]['kinds']): Shop {
  return openShop({
    ...world,
    notifyUrl: receiver.url,
    random: seededRandom(5),
    kinds,
    shop,
    url: () => url,
    restMs: REST_MS,
  });
}

/** Customers who pay until told to stop; `more` resolves when `count` more orders have been begun. */
function openLoad() {
  const shop = newShop(0, ['wallet', '01', '07', '08']);
  const load = shop.run(CALLERS, () => isOver);
  return {
    shop,
    more: (count: number) => {
      const enough = shop.orders.length + count;
      return until(() => shop.orders.length >= enough);
    },
    end: () => {
      isOver = true;
      return load;
    },
  };
}

/** The answers to successive new connections, until `done` returns true. */
async function connectUntil(done: () => boolean): Promise<ReadonlySet<number | string>> {
  const answers = new Set<number | string>();
  while (!done()) {
    const answer = await fetch(`${url}/health`, { headers: { connection: 'close' } }).catch(String);
    answers.add(typeof answer === 'string' ? answer : answer.status);
    // The processes under test need CPU time too.
    await pause(CONNECT_EVERY_MS);
  }
  return answers;
}

/** Resolves when a stop has progressed so far that each of several callers has been refused; none may be left waiting. */
async function refusesAll(): Promise<void> {
  const isTaken = async (): Promise<boolean> => {
    const waiting = new AbortController();
    // A plain timer would run before what has come while this process stood still is read.
    const heard = watchdog(ANSWERED_MS, () => waiting.abort());
    const asked = fetch(`${url}/health`, { headers: { connection: 'close' }, signal: waiting.signal });
    const answer = await asked.catch(() => undefined);
    heard();
    if (waiting.signal.aborted) throw new Error('a connection is neither answered nor refused');
    return answer?.status === 200;
  };
  const ask = async (): Promise<void> => {
    while (await isTaken());
  };
  await Promise.all(Array.from({ length: 2 * CALLERS }, ask));
}

async function metrics(): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** How many answers a process has counted, according to the page for Prometheus. */
function countedAt(name: string, page: string): number {
  const samples = page.matchAll(/^mbongo_http_requests_total\{process="([^"]+)".*\} (\d+)$/gm);
  return [...samples].reduce((sum, [, process, count]) => (process === name ? sum + Number(count) : sum), 0);
}

test('two processes answer at one port and a third is the worker; they are killed, and then replaced, under load', async () => {
  await start();
  expect(gateway.url).toBe(url);
  const { shop, more, end } = openLoad();
  await more(ORDERS);
  let page = '';
  while (countedAt('api-1', page) === 0 || countedAt('api-2', page) === 0) page = await metrics();
  expect(page).toContain('mbongo_process_resident_memory_bytes{process="worker-1"}');
  expect(page.match(/^# TYPE mbongo_http_requests_total /gm)).toHaveLength(1);

  for (const name of ['api-1', 'worker-1', 'api-2']) {
    const ready = gateway.said('process_ready').length;
    process.kill(pidOf(name), 'SIGKILL');
    await until(() => gateway.said('process_ready').length > ready);
    await more(ORDERS);
  }
  expect(await metrics()).toContain('mbongo_process_restarts_total{process="worker-1"} 1\n');

  const old = pids().filter(isAlive);
  gateway.signal('SIGUSR2');
  const answers = await connectUntil(() => hasReplaced(old.length));
  expect([...answers], 'every connection was taken').toEqual([200]);
  await more(ORDERS);
  expect([old.filter(isAlive), pids().filter(isAlive).length]).toEqual([[], old.length]);

  await end();
  expect(await judge({ ...world, shop, receiver })).toEqual([]);
  expect([...shop.seen.keys()].filter((what) => / 5\d\d /.test(what) && !what.endsWith(' 503 1402'))).toEqual([]);
  expect(await gateway.stop()).toEqual(CLEAN);
  expect(pids().filter(isAlive)).toEqual([]);
});

test('a connection on its way to a process that is killed ends with it; its place is filled as soon as a process can start', async () => {
  const CARRIER_ROUTES = join(temporaryFolder(), 'routes.json');
  const routes = readFileSync(new URL('../../src/connectors/routes/sandbox.json', import.meta.url));
  writeFileSync(CARRIER_ROUTES, routes);
  await start({ CARRIER_ROUTES });
  process.kill(pidOf('api-1'), 'SIGSTOP');
  const ask = () => fetch(`${url}/health`, { headers: { connection: 'close' } }).then(({ status }) => status, String);
  let answered = 0;
  const asked = Array.from({ length: CALLERS }, () => ask().finally(() => (answered += 1)));
  // One of them was handed to the suspended process; the others are answered.
  await until(() => answered === CALLERS - 1);
  writeFileSync(CARRIER_ROUTES, '[{}]');
  process.kill(pidOf('api-1'), 'SIGKILL');
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => answer !== 200)).toEqual(['TypeError: fetch failed']);
  await until(() => gateway.said('process_not_started').length > 0);
  writeFileSync(CARRIER_ROUTES, routes);
  await until(() => gateway.said('process_ready').length > 3);
  expect(await gateway.stop()).toEqual(CLEAN);
});

test('while the log is not read, a place is refilled, all processes stop in time, and every line is complete', async () => {
  await start();
  gateway.read(false);
  const close = { headers: { connection: 'close' } };
  const asked = async (calls: number): Promise<void> => {
    for (let count = 0; count < calls; count += 1) await fetch(`${url}/nothing`, close).then((answer) => answer.text());
  };
  // More than the pipe and its reader's buffer hold.
  await Promise.all([asked(400), asked(400), asked(400), asked(400)]);
  process.kill(pidOf('api-1'), 'SIGKILL');
  const restarted = /^mbongo_process_restarts_total\{process="api-1"\} 1$/m;
  const counted = /^mbongo_process_resident_memory_bytes\{process="api-1"\}/m;
  for (let page = ''; !(restarted.test(page) && counted.test(page)); page = await metrics().catch(() => ''))
    await pause(LOOK_EVERY_MS);
  await asked(50);
  gateway.signal('SIGTERM');
  await until(() => !isAlive(gateway.pid));
  gateway.read(true);
  expect(await gateway.ended).toEqual(CLEAN);
  const lines = gateway
    .printed()
    .split('\n')
    .filter((line) => line.includes('"event"'));
  expect(lines.length).toBeGreaterThan(100);
  for (const line of lines.slice(0, -1)) expect(() => JSON.parse(line), line).not.toThrow();
  expect(pids().filter(isAlive)).toEqual([]);
});

test('when told to replace the processes before all of them serve, it does so once they do', async () => {
  await start({}, { early: 'SIGUSR2' });
  await until(() => hasReplaced(3));
  expect((await fetch(`${url}/health`)).status).toBe(200);
  gateway.signal('SIGTERM');
  expect(await gateway.ended).toEqual(CLEAN);
  const who = gateway.said<{ process?: string }>('stopping').map(({ process }) => process ?? 'supervisor');
  expect(new Set(who)).toEqual(new Set(['supervisor', 'api-1', 'api-2', 'worker-1']));
});

const PAYERS = [
  [1, CALLERS],
  [2, 1],
] as const;

test.each(PAYERS)(
  'shop %i, SIGTERM while %i pay: calls in flight are finished, exit status 0',
  async (number, payers) => {
    const gate = await openGate(world.sandboxUrl);
    await start(gate.env);
    const shop = newShop(number, ['01', '07']);
    gate.shut();
    const paid = Promise.all(Array.from({ length: payers }, () => shop.pay()));
    await gate.came(payers);
    gateway.signal('SIGTERM');
    // No connection has to wait until the calls in flight have ended.
    await refusesAll();
    gate.open();
    expect(await gateway.ended).toEqual(CLEAN);
    expect(gateway.printed(), 'it ended by itself').not.toContain('stop_overdue');
    await paid;
    expect(shop.seen.get('POST /payments/submit 200')).toBe(payers);
    expect([...shop.seen.keys()].filter((what) => what.includes('lost'))).toEqual([]);
    expect(pids().filter(isAlive)).toEqual([]);
    await gate.close();
  },
);

test('a second one at the same port says so in one line; if the supervisor is killed its processes stop too', async () => {
  await start();
  const port = Number(new URL(url).port);
  await expect(startGateway(world.gatewayEnv(port), { processes: 2 })).rejects.toThrow(
    `mbongo: Mbongo already answers at port ${port}: stop it, or set PORT to a free port, and DATA_DIR or DATABASE_URL for data of its own\n`,
  );
  const orphans = pids();
  expect(orphans.filter(isAlive)).toHaveLength(3);
  gateway.signal('SIGKILL');
  await until(() => !orphans.some(isAlive));
  await expect(fetch(`${url}/health`)).rejects.toThrow();
});
