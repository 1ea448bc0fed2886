/**
 * A worker whose clock is wrong does nothing until its clock is right again: by a fast one it would pay dates, end payments, forget
 * replies and close days too early, and put off for as long what it tries again.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { worksOf } from '../../src/rounds/works.ts';
import { inquireAttempt } from '../../src/usecases/attempt-inquire.ts';
import { RETURN_LIFE_MS } from '../../src/usecases/card-challenge.ts';
import { openClockGuard } from '../../src/usecases/clock-guard.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { createRefundDispatcher } from '../../src/usecases/refund-dispatch.ts';
import { answerChallenge, challenged } from '../support/card-payments.ts';
import { bearerOf, collect, statusOf } from '../support/flows.ts';
import { fund } from '../support/payout-batches.ts';
import { createPayout, readBatch } from '../support/payout-flows.ts';
import { attemptOf, pushed } from '../support/phone-payments.ts';
import { openWorld, type World } from '../support/world.ts';

const DAY = 24 * 60 * 60_000;
/** Two days: a date of tomorrow is due then, and a day is over, at whatever hour the test runs. */
const FAST = 2 * DAY;
/** What finds something to do by such a clock. */
const DUE = ['inquire', 'expire', 'reap', 'payout-occurrences', 'close_days'];

let world: World;
let merchant: MerchantCreated;

// The database's clock is the machine's, so the world begins now.
beforeAll(async () => {
  world = await openWorld({ start: Date.now() });
  merchant = await world.merchant();
  await fund(world, merchant, 100_00n);
});
afterAll(() => world.close());

/** Runs once what a production worker of these deps would; returns what each piece found to do. */
async function runWorks(deps: Deps): Promise<Record<string, number>> {
  const { courier, dispatcher } = world.gateway;
  const senders = { courier, dispatcher, refunds: createRefundDispatcher(deps) };
  const works = worksOf(deps, senders, { isCalm: () => true, isClockRight: openClockGuard(deps) });
  const found: Record<string, number> = {};
  for (const { name, run } of works) {
    found[name] = await run(new AbortController().signal);
    // No day is closed while a transfer is being committed.
    await dispatcher.idle();
  }
  return found;
}

test('a worker whose clock is fast or slow waits, is told of once, and goes on when its clock is right', async () => {
  const { deps } = world.gateway;
  const key = { 'idempotency-key': 'order-1' };
  const body = { amount: '5.00', currency: 'usd', customer_reference: 'order-1' };
  const mintAgain = () =>
    world.call('POST', '/internal/sessions/create', { bearer: bearerOf(merchant), body, headers: key });
  const first = await mintAgain();
  const paying = await collect(world, merchant);
  const waiting = await pushed(world, merchant, '04');
  const asked = (await attemptOf(world, waiting)).next_inquiry_at;
  const tomorrow = new Date(world.clock.now() + DAY).toISOString().slice(0, 10);
  const payout = await createPayout(world, merchant, { sending_type: 'scheduled', scheduled_dates: [tomorrow] });
  const occurrences = async () => (await readBatch(world, merchant, payout.json.batch_id)).json.status;

  const fast: Deps = { ...deps, mode: 'production', clock: manualClock(world.clock.now() + FAST) };
  const slow: Deps = { ...fast, clock: manualClock(world.clock.now() - FAST) };
  for (const wrong of [fast, slow]) expect(new Set(Object.values(await runWorks(wrong)))).toEqual(new Set([0]));
  const replayed = await mintAgain();
  expect([replayed.text, replayed.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
  expect([await statusOf(world, paying), await occurrences()]).toEqual(['pending', 'pending']);
  expect((await attemptOf(world, waiting)).next_inquiry_at, 'nobody asks sooner or later').toBe(asked);
  expect(world.log.lines.filter((line) => line.includes('clock_off'))).toHaveLength(2);

  const wall = () => world.clock.wall();
  const right: Deps = { ...fast, clock: { ...fast.clock, wall } };
  const found = await runWorks(right);
  for (const name of DUE) expect(found[name], name).toBeGreaterThan(0);
  expect([await statusOf(world, paying), await occurrences()]).not.toContain('pending');
});

test('a fast worker ends no challenge that its customer may still answer', async () => {
  const { deps } = world.gateway;
  const minted = { ttl_seconds: 7_200 };
  const [passed, abandoned] = [
    await challenged(world, merchant, 'challenge', { minted }),
    await challenged(world, merchant, 'challenge', { minted }),
  ];
  const clock = manualClock(world.clock.now() + RETURN_LIFE_MS);
  const fast: Deps = { ...deps, mode: 'production', clock };
  const look = async (worker: Deps) => {
    for (const paying of [passed, abandoned]) await inquireAttempt(worker, await attemptOf(world, paying), 'due');
    return [await statusOf(world, passed), await statusOf(world, abandoned)];
  };
  await answerChallenge(world, passed, 'pass');
  expect(await look(fast)).toEqual(['processing', 'processing']);
  // The time is over by a clock that is right, too.
  expect(await look({ ...fast, clock: { ...clock, wall: () => world.clock.wall() } })).toEqual(['expired', 'expired']);
});
