/**
 * A command takes effect, the answer to its commit is lost, and another operator undoes it at once: looking its outcome up does not
 * carry it out a second time.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { advanceClock, readClockShift } from '../../src/usecases/clock-shift.ts';
import { holdConnector, resumeConnector } from '../../src/usecases/connector-hold.ts';
import type { OperatorDeps } from '../../src/usecases/deps.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import { readHold } from '../../src/usecases/holds.ts';
import { setBrand } from '../../src/usecases/merchant-brand.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { losingAnswer } from '../support/lost-answer.ts';
import { whileTimePasses } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Gives a command whose commit takes effect and loses its answer; before it looks its outcome up, another one takes effect. */
async function overtaken(
  command: (deps: OperatorDeps) => Promise<unknown>,
  by: (deps: OperatorDeps) => Promise<unknown>,
): Promise<void> {
  const { deps } = world.gateway;
  await whileTimePasses(world, command(losingAnswer(deps, () => by(deps))), 500);
}

const CONNECTOR = 'mtn-momo-disbursement';
const hold = (deps: OperatorDeps) => holdConnector(deps, CONNECTOR, { by: 'luc', why: 'it pays twice' });
const resume = (deps: OperatorDeps) => resumeConnector(deps, CONNECTOR);

test('a hold that begins after another one was ended is not ended with it', async () => {
  const { deps } = world.gateway;
  await hold(deps);
  await overtaken(resume, hold);
  expect(await readHold(deps, CONNECTOR)).toMatchObject({ by: 'luc' });
  await resume(deps);
});

test('a hold that was ended does not begin again', async () => {
  await overtaken(hold, resume);
  expect(await readHold(world.gateway.deps, CONNECTOR)).toBeUndefined();
});

test('a merchant that is suspended after it was allowed stays suspended', async () => {
  const { merchant } = await world.merchant();
  const set = (status: 'ALLOWED' | 'SUSPENDED') => (deps: OperatorDeps) => setMerchantStatus(deps, merchant.id, status);
  await set('SUSPENDED')(world.gateway.deps);
  await overtaken(set('ALLOWED'), set('SUSPENDED'));
  expect(await world.gateway.store.merchant.get(merchant.shard, merchant.id)).toMatchObject({ status: 'SUSPENDED' });
});

test('a merchant’s settings stay as the later command set them', async () => {
  const { merchant } = await world.merchant();
  const { id, shard } = merchant;
  const settings = async () => (await world.gateway.store.merchant.get(shard, id))?.settings;
  const scoped = (scope_required: boolean) => (deps: OperatorDeps) => setMerchant(deps, id, { scope_required });
  await overtaken(scoped(false), scoped(true));
  const zero = { fixed: 0n, min: undefined, max: undefined };
  const fee = (rate: string) => (deps: OperatorDeps) =>
    setFee(deps, { merchantId: id, method: 'wallet', currency: 'usd', rate, ...zero });
  await overtaken(fee('3'), fee('2.5'));
  const coloured = (colour: string) => (deps: OperatorDeps) => setBrand(deps, id, { colour });
  await overtaken(coloured('#000000'), coloured('#0b6e4f'));
  expect(await settings()).toMatchObject({
    scope_required: true,
    fees: [{ rate_ppm: 25_000 }],
    brand: { colour: '#0b6e4f' },
  });
});

test('the test clock is set forward once by each command', async () => {
  const hour = (deps: OperatorDeps) => advanceClock(deps, 3_600_000);
  await overtaken(hour, hour);
  expect(await readClockShift(world.gateway.deps)).toMatchObject({ shiftMs: 2 * 3_600_000 });
});
