/**
 * The database dies in the middle of batches: killed with its backends, crashed by one of them, or all connections cut.
 * Every line ends once all the same, and nobody is paid twice.
 */
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { seededRandom } from '../../src/platform/testing/seeded-random.ts';
import { openStruckDatabase, type StruckDatabase } from '../support/database-faults.ts';
import { type FaultyWorld, openFaultyWorld } from '../support/faulty-world.ts';
import { FUNDS_CENTS, fund, openPayroll, settled } from '../support/payroll.ts';
import { judgePayrolls } from '../support/payroll-judge.ts';
import { CLEAN, startGateway } from '../support/processes.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';

const FAULTS = 6;
const LINES = 100;
/** At most 40 lines of the newest batch have ended when a fault comes. */
const MAX_ENDED = 40;
const SPEED = 5;

const seed = Number(process.env.FAULTS_SEED ?? Date.now() % 1_000_000);
const random = seededRandom(seed);

let database: StruckDatabase;
let world: FaultyWorld;
let receiver: Receiver;

beforeAll(async () => {
  database = await openStruckDatabase();
  world = await openFaultyWorld(database.url);
  await fund(world.gatewayEnv(0), world.merchant);
  receiver = await openReceiver();
});
afterAll(async () => {
  await world?.close();
  await receiver?.close();
  await database?.close();
});

test('the database dies in the middle of batches', async () => {
  onTestFailed(() => {
    process.stderr.write(`the faults were those of FAULTS_SEED=${seed}\n`);
  });
  const { port, url } = await world.address();
  const gateway = await startGateway(world.gatewayEnv(port), { speed: { factor: SPEED, since: Date.now() } });
  const payroll = openPayroll({
    ...world,
    receiver,
    opening: FUNDS_CENTS,
    random: seededRandom(seed + 1),
    kinds: ['00', '01', '01', '01', '02', '03', '07', '08'],
    url: () => url,
  });
  const faults = database.faults(random);
  let met = 0;
  for (let count = 0; count < FAULTS; count += 1) {
    const payday = await payroll.send({ mode: 'mobile_money', lines: LINES });
    await settled(payroll, [payday], 1 + random.below(MAX_ENDED));
    if ((await faults[count % faults.length]?.()) === 'met') met += 1;
  }
  expect(await judgePayrolls({ ...world, payrolls: [payroll] })).toEqual([]);
  expect(met, 'faults were met').toBeGreaterThan(FAULTS / 2);
  expect(await gateway.stop()).toEqual(CLEAN);
});
