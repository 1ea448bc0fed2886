/**
 * Three API processes and two workers on one database, each a node of its own: any of them is killed at random
 * moments and restarted, while customers pay, merchants pay out, and the carrier loses answers and callbacks. After
 * that every invariant holds: nothing acknowledged is lost, no money moves twice, everything ends once and is told.
 *
 * `CHAOS_KILLS` makes it longer: some two hundred take ten minutes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { judge } from '../support/invariants.ts';
import { openMoments, openSeed } from '../support/moments.ts';
import { FUNDS_CENTS, fund, openPayroll, type Payroll, secretsInLogs } from '../support/payroll.ts';
import { judgePayrolls } from '../support/payroll-judge.ts';
import { CLEAN, command, type Running, startGateway } from '../support/processes.ts';
import { answering, openReceiver, type Receiver } from '../support/receiver.ts';
import { findSecrets, secretsOf } from '../support/secrets-in-logs.ts';
import { type Merchant, openShop, type Shop, type ShopWallet } from '../support/shop.ts';

const KILLS = Number(process.env.CHAOS_KILLS ?? 14);
const SPEED = 5;
/** 5 attempts to start a process. */
const STARTS = 5;
const CALLERS = 8;
const LINES = 40;
/** No further batch is sent while more than 160 lines are open. */
const MAX_OPEN = 160;
/** Every third batch goes to wallets. */
const WALLETS_EVERY = 3;
const CARRIER_THINKS_MS = 100;
const LOST = { answer_lost_rate: 0.1, lose_callback_rate: 0.3 };
/** At most 240 requests, answers and webhooks before a kill, which comes a little later, at any point of what they cause. */
const MAX_EVENTS = 240;
/** 1 000 ms without a further batch when too many lines are open. */
const PAUSE_MS = 1_000;
/** The load that a number belongs to: its first digit after the network's prefix. */
const PAYROLL = 1;

const seed = openSeed();
const moments = openMoments(seed.random, MAX_EVENTS);

/** A process's place: a process that is killed there is replaced by the next one, at the same address. */
interface Node {
  readonly start: () => Promise<Running>;
  running: Promise<Running>;
}

let database: TestDatabase;
let world: FaultyWorld;
let shopReceiver: Receiver;
let payrollReceiver: Receiver;
let employer: Merchant;
let payee: ShopWallet;
let logs = '';

beforeAll(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  const env = world.gatewayEnv(0);
  employer = await command<Merchant>(env, 'merchant', 'create', '--name', 'Atelier Lac', '--no-float');
  await fund(env, employer);
  const wallet = ['--pin', '40718263', '--currency', 'usd', '--phone', '+243810000077'];
  const { wallet_number } = await command<{ wallet_number: string }>(env, 'wallet', 'open', ...wallet);
  payee = { number: wallet_number, pin: '40718263' };
  await world.carrierThinks(CARRIER_THINKS_MS);
  await world.carrier(LOST);
  shopReceiver = await openReceiver(answering(204, moments.happened));
  payrollReceiver = await openReceiver(answering(204, moments.happened));
});
afterAll(async () => {
  await world?.close();
  await shopReceiver?.close();
  await payrollReceiver?.close();
  await database?.drop();
});

/** Three API processes, at these addresses, and two workers; carriers call the workers back at the first address. */
function openNodes(addresses: readonly { port: number; url: string }[]): readonly Node[] {
  const speed = { factor: SPEED, since: Date.now() };
  const starts = [
    ...addresses.map(
      ({ port }) =>
        () =>
          startGateway(world.gatewayEnv(port), { role: 'api', speed }),
    ),
    ...[1, 2].map(() => () => {
      return startGateway(world.gatewayEnv(0, { PUBLIC_URL: addresses[0]?.url ?? '' }), { role: 'worker', speed });
    }),
  ];
  return starts.map((once) => {
    const start = (): Promise<Running> => startAgain(once, STARTS);
    return { start, running: start() };
  });
}

/** Retries a start that failed, as a supervisor would: with time running faster, timeouts are shorter in real time. */
async function startAgain(start: () => Promise<Running>, tries: number): Promise<Running> {
  try {
    return await start();
  } catch (error) {
    if (tries === 1) throw error;
    return startAgain(start, tries - 1);
  }
}

/** Kills node after node at drawn moments, as long as there are kills left. */
async function killAtRandom(nodes: readonly Node[]): Promise<void> {
  for (let killed = 0; killed < KILLS; killed += 1) {
    await moments.next();
    const node = nodes[seed.random.below(nodes.length)];
    if (node === undefined) throw new Error('there is no such node');
    const running = await node.running;
    await running.kill();
    logs += running.printed();
    node.running = node.start();
  }
}

/** Sends batch after batch, as long as not too many lines are open, until `done` returns true. */
async function payOut(payroll: Payroll, done: () => boolean): Promise<void> {
  while (!done()) {
    const mode = payroll.paydays.length % WALLETS_EVERY === WALLETS_EVERY - 1 ? 'wallet' : 'mobile_money';
    if (payroll.open() > MAX_OPEN) await pause(PAUSE_MS);
    else await payroll.send({ mode, lines: LINES });
  }
}

test('five processes are killed at random under load, and every invariant holds', {
  timeout: 300_000 + KILLS * 15_000,
}, async () => {
  seed.tellOnFailure();
  const addresses = await Promise.all([world.address(), world.address(), world.address()]);
  const nodes = openNodes(addresses);
  await Promise.all(nodes.map(({ running }) => running));
  let turn = 0;
  const url = (): string => {
    turn += 1;
    return addresses[turn % addresses.length]?.url ?? '';
  };
  const shop = openShop({
    ...world,
    notifyUrl: shopReceiver.url,
    random: seed.beside(1),
    kinds: ['wallet', 'wallet', '01', '01', '02', '03', '05', '07', '08'],
    url,
    heard: moments.happened,
  });
  const payroll = openPayroll({
    ...world,
    merchant: employer,
    receiver: payrollReceiver,
    opening: FUNDS_CENTS,
    wallets: [payee],
    random: seed.beside(2),
    kinds: ['00', '01', '01', '02', '03', '05', '07', '08'],
    sessions: 2,
    payroll: PAYROLL,
    url,
    heard: moments.happened,
  });
  let isOver = false;
  const load = Promise.all([shop.run(CALLERS, () => isOver), payOut(payroll, () => isOver)]);
  await killAtRandom(nodes);
  isOver = true;
  await load;
  await world.carrier({});
  const last = await Promise.all(nodes.map(({ running }) => running));
  const findings = await judgeBoth(shop, payroll);
  const ends = await Promise.all(last.map((running) => running.stop()));
  for (const running of last) logs += running.printed();
  const seen = [shop, payroll].map((load) => JSON.stringify(Object.fromEntries(load.seen))).join('\n');
  expect(findings, seen).toEqual([]);
  expect(ends).toEqual(ends.map(() => CLEAN));
  // The run was meaningful: the kills hit requests in flight, and every kind of load occurred.
  expect(seen).toContain('connection lost');
  expect(shop.orders.length).toBeGreaterThan(CALLERS);
  expect(payroll.paydays.length).toBeGreaterThan(WALLETS_EVERY);
  expect(findSecrets(logs, secretsOf(world.merchant, shop.orders))).toEqual([]);
  expect(secretsInLogs(logs, employer)).toEqual([]);
});

/** Judges each load separately: the carriers' book contains both. */
async function judgeBoth(shop: Shop, payroll: Payroll): Promise<string[]> {
  const isOfPayroll = (msisdn: string): boolean => msisdn.startsWith(`+24381${PAYROLL}`);
  const findings = await Promise.all([
    judge({ ...world, shop, receiver: shopReceiver, isOthers: isOfPayroll }),
    judgePayrolls({
      ...world,
      payrolls: [payroll],
      opening: new Map([[payee.number, 0n]]),
      isOthers: (msisdn) => !isOfPayroll(msisdn),
    }),
  ]);
  return findings.flat();
}
