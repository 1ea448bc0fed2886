/**
 * Payouts while the carrier is down or slow, and while gateways share them or are stopped: lines wait and are sent, they
 * hold up nobody who does not need what is broken, and nobody is paid twice.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { createTestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { openGate } from '../support/gate.ts';
import {
  FUNDS_CENTS,
  fund,
  isFinalHook,
  openPayroll,
  type Payday,
  type Payroll,
  secretsInLogs,
  settled,
} from '../support/payroll.ts';
import { judgePayrolls } from '../support/payroll-judge.ts';
import { CLEAN, command, startGateway } from '../support/processes.ts';
import { openReceiver, type Receiver, transactionsOf } from '../support/receiver.ts';
import type { Merchant } from '../support/shop.ts';

const SPEED = 5;
const CARRIER_DELAY_MS = 400;
/** 2 000 ms: so slow that hundreds of lines are in flight for longer than any pause of a test. */
const CRAWL_MS = 2_000;
const BATCH = { mode: 'mobile_money', lines: 100 } as const;
const WALLETS = { mode: 'wallet', lines: 6 } as const;

let world: FaultyWorld;
/** Cleanups, in the order in which they run. */
let opened: (() => Promise<unknown> | undefined)[] = [];

beforeEach(async () => {
  const database = await createTestDatabase();
  opened.push(() => database.drop());
  world = await openFaultyWorld(database.url);
  opened.push(() => world.close());
  await fund(world.gatewayEnv(0), world.merchant);
});
afterEach(async () => {
  for (const close of opened.reverse()) await close();
  opened = [];
});

async function newReceiver(): Promise<Receiver> {
  const receiver = await openReceiver();
  opened.push(() => receiver.close());
  return receiver;
}

async function payrollOf(url: () => string, merchant = world.merchant, payroll = 0): Promise<Payroll> {
  return openPayroll({
    ...world,
    merchant,
    receiver: await newReceiver(),
    opening: FUNDS_CENTS,
    random: seededRandom(payroll),
    kinds: ['00', '01', '01', '01', '02', '03', '07', '08'],
    payroll,
    url,
  });
}

async function anotherPayroll(url: () => string): Promise<Payroll> {
  const merchant = await command<Merchant>(world.gatewayEnv(0), 'merchant', 'create', '--name', 'Autre', '--no-float');
  await fund(world.gatewayEnv(0), merchant);
  return payrollOf(url, merchant, 1);
}

/** Polls the status reads of a batch until `done` accepts them. */
async function readUntil(payroll: Payroll, payday: Payday, done: (statuses: readonly string[]) => boolean) {
  for (;;) {
    const statuses = await Promise.all(payday.lines.map((line) => payroll.status(line)));
    if (done(statuses.map((status) => status ?? 'unknown'))) return;
    await pause(50);
  }
}

test('lines of a carrier that is down wait, and are sent when it is back; wallets do not wait', async () => {
  const { port, url } = await world.address();
  const gate = await openGate(world.sandboxUrl);
  opened.push(() => gate.close());
  const speed = { factor: SPEED, since: Date.now() };
  const gateway = await startGateway(world.gatewayEnv(port, gate.env), { speed });
  const ours = await payrollOf(() => url);
  const theirs = await anotherPayroll(() => url);
  await settled(ours, [await ours.send(BATCH)], 10);
  // What is sent now is in flight when the carrier goes down.
  gate.shut();
  await Promise.all([ours.send(BATCH), ours.send(BATCH)]);
  await gate.came(8);
  await world.carrier({ refuse_rate: 1 });
  gate.open();
  const late = await ours.send(BATCH);
  const paid = await Promise.all([ours.send(WALLETS), theirs.send(WALLETS)]);
  await Promise.all([settled(ours, [paid[0]]), settled(theirs, [paid[1]])]);
  // The carrier takes nothing: every line waits, except the one that probes whether it is back.
  await readUntil(ours, late, (statuses) => statuses.filter((status) => status === 'pending').length >= 99);
  const told = transactionsOf(ours.receiver.hooks.filter(isFinalHook));
  expect(late.lines.filter(({ transaction_id }) => told.has(transaction_id))).toEqual([]);
  expect(ours.open(), 'the carrier went down in the middle').toBeGreaterThan(late.lines.length);
  await world.carrier({});
  expect(await judgePayrolls({ ...world, payrolls: [ours, theirs] })).toEqual([]);
  expect(await gateway.stop()).toEqual(CLEAN);
  expect(secretsInLogs(gateway.printed(), world.merchant)).toEqual([]);
});

test('a merchant with a thousand lines at a slow carrier holds up no other merchant', async () => {
  const { port, url } = await world.address();
  const gateway = await startGateway(world.gatewayEnv(port));
  const [many, few] = [await payrollOf(() => url), await anotherPayroll(() => url)];
  await world.carrier({ delay_ms: CRAWL_MS });
  await Promise.all(Array.from({ length: 10 }, () => many.send(BATCH)));
  await settled(few, [await few.send({ mode: 'mobile_money', lines: 10 })]);
  expect(many.open(), 'most of the thousand still wait').toBeGreaterThan(500);
  await world.carrier({});
  expect(await judgePayrolls({ ...world, payrolls: [many, few] })).toEqual([]);
  expect(await gateway.stop()).toEqual(CLEAN);
});

test('two gateways on one database work off the waiting lines, and pay each line once', async () => {
  const addresses = [await world.address(), await world.address()];
  const speed = { factor: SPEED, since: Date.now() };
  const gateways = await Promise.all(addresses.map(({ port }) => startGateway(world.gatewayEnv(port), { speed })));
  let turn = 0;
  let only: string | undefined;
  const payroll = await payrollOf(() => {
    turn += 1;
    return only ?? addresses[turn % addresses.length]?.url ?? '';
  });
  await world.carrier({ refuse_rate: 1 });
  for (let batch = 0; batch < 6; batch += 1) await payroll.send(BATCH);
  await world.carrier({ delay_ms: CARRIER_DELAY_MS });
  // One gateway may claim all that waits; a batch that a gateway accepts now, it starts itself.
  for (const { url } of addresses) {
    only = url;
    await payroll.send(BATCH);
  }
  only = undefined;
  expect(await judgePayrolls({ ...world, payrolls: [payroll] })).toEqual([]);
  // The carrier calls back the gateway that has started the line.
  const calledBack = gateways.map((gateway) => gateway.printed().includes('"route":"/upstream/'));
  expect(calledBack, 'both have started lines').toEqual([true, true]);
  expect(await Promise.all(gateways.map((gateway) => gateway.stop()))).toEqual([CLEAN, CLEAN]);
});

test('SIGTERM in the middle of batches: calls in flight are finished, and the next start continues', async () => {
  const { port, url } = await world.address();
  const gateway = await startGateway(world.gatewayEnv(port));
  const payroll = await payrollOf(() => url);
  await world.carrier({ delay_ms: CRAWL_MS });
  const begun = await Promise.all(Array.from({ length: 5 }, () => payroll.send(BATCH)));
  await settled(payroll, begun, 20);
  gateway.signal('SIGTERM');
  expect(await gateway.ended).toEqual(CLEAN);
  expect(gateway.printed(), 'it ended by itself').not.toContain('stop_overdue');
  expect(payroll.open(), 'it was stopped in the middle').toBeGreaterThan(0);
  await world.carrier({});
  const again = await startGateway(world.gatewayEnv(port), { speed: { factor: SPEED, since: Date.now() } });
  expect(await judgePayrolls({ ...world, payrolls: [payroll] })).toEqual([]);
  expect(await again.stop()).toEqual(CLEAN);
});
