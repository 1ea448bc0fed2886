/**
 * kill -9 of the gateway in the middle of batches, at random moments: every line ends, nobody is paid twice, every line has
 * its two webhooks, and the same call under another session is the same batch.
 *
 * The gateway's time passes several times as fast as ours. A line whose gateway was killed before it reached the
 * carrier takes minutes to resolve, and so is paid while the test waits.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { openMoments, openSeed } from '../support/moments.ts';
import { openMortalGateway } from '../support/mortal-gateway.ts';
import { FUNDS_CENTS, fund, openPayroll, secretsInLogs } from '../support/payroll.ts';
import { judgePayrolls } from '../support/payroll-judge.ts';
import { answering, openReceiver, type Receiver } from '../support/receiver.ts';

const KILLS = 32;
const LINES = 100;
const SPEED = 8;
/** No further batch is sent while more than 400 lines are open. */
const MAX_OPEN = 400;
/** Every fourth batch goes to wallets. */
const WALLETS_EVERY = 4;
/** 50 ms: short enough for lines to end in the life of the gateway that began them. */
const CARRIER_THINKS_MS = 50;
/** A line whose answer and callback are both lost must be inquired about, and never sent again. */
const LOST = { answer_lost_rate: 0.1, lose_callback_rate: 0.3 };
/** At most 160 requests, answers and webhooks before a kill, which comes a little later, at any point of what they cause. */
const MAX_EVENTS = 160;

const seed = openSeed();
const moments = openMoments(seed.random, MAX_EVENTS);

let database: TestDatabase;
let world: FaultyWorld;
let receiver: Receiver;

beforeAll(async () => {
  database = await createTestDatabase();
  world = await openFaultyWorld(database.url);
  await fund(world.gatewayEnv(0), world.merchant);
  await world.carrierThinks(CARRIER_THINKS_MS);
  await world.carrier(LOST);
  receiver = await openReceiver(answering(204, moments.happened));
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
  await database?.drop();
});

test('kill -9 at random moments in the middle of batches of a hundred', {
  timeout: 300_000 + KILLS * 30_000,
}, async () => {
  seed.tellOnFailure();
  const gateway = await openMortalGateway(world, SPEED);
  const payroll = openPayroll({
    ...world,
    receiver,
    opening: FUNDS_CENTS,
    random: seed.beside(1),
    kinds: ['00', '00', '01', '01', '01', '01', '02', '03', '05', '07', '08'],
    sessions: 2,
    url: gateway.url,
    heard: moments.happened,
  });
  let sending: Promise<unknown> = Promise.resolve();
  let idle = true;
  /** Sends the next batch, unless the last one is still unanswered: then the newest gateway gets that call again. */
  const sendNext = (): void => {
    if (!idle || payroll.open() > MAX_OPEN) return;
    idle = false;
    const mode = payroll.paydays.length % WALLETS_EVERY === WALLETS_EVERY - 1 ? 'wallet' : 'mobile_money';
    sending = payroll.send({ mode, lines: LINES }).finally(() => {
      idle = true;
    });
  };
  let inTheMiddle = 0;
  // On a slow machine the kills come so early that more of them are needed until batches to wallets have come too.
  while (inTheMiddle < KILLS || payroll.paydays.length <= WALLETS_EVERY) {
    await gateway.url();
    sendNext();
    await moments.next();
    if (payroll.open() > 0) inTheMiddle += 1;
    await gateway.kill();
  }
  await sending;
  const findings = await judgePayrolls({ ...world, payrolls: [payroll] });
  const logs = await gateway.stop();
  expect(findings, JSON.stringify(Object.fromEntries(payroll.seen))).toEqual([]);
  // The run was meaningful: batches were acknowledged and continued, and the kills hit calls in flight too.
  expect(payroll.paydays.length).toBeGreaterThan(WALLETS_EVERY);
  expect([...payroll.seen.keys()].filter((what) => what.includes('connection lost'))).not.toEqual([]);
  expect(secretsInLogs(logs, world.merchant)).toEqual([]);
});
