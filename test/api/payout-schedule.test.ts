/**
 * Dated payouts under a clock that is moved: on the right days, each occurrence once, whichever process runs it and however late.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PayoutBatch, PayoutLine } from '../../src/domain/outgoing-records.ts';
import { START_LEASE_MS } from '../../src/domain/payout.ts';
import type { ScheduleOrder } from '../../src/domain/schedule.ts';
import { openStore } from '../../src/store/store.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { AGE_LIMITS_MS } from '../../src/watch/database-metrics.ts';
import { debitsOf, hooksAbout, numberEnding } from '../support/flows.ts';
import {
  balancesOf,
  batchNow,
  countsNow,
  expectSound,
  fund,
  linesNow,
  makeBatch,
  toldOf,
} from '../support/payout-batches.ts';
import { runDue } from '../support/payout-paydays.ts';
import { untilLater } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

const DAY = 86_400_000;
const START = Date.UTC(2027, 0, 30, 12);
const A_YEAR = [
  '2027-01-31',
  '2027-02-28',
  '2027-03-31',
  '2027-04-30',
  '2027-05-31',
  '2027-06-30',
  '2027-07-31',
  '2027-08-31',
  '2027-09-30',
  '2027-10-31',
  '2027-11-30',
  '2027-12-31',
];
const MONTHLY: ScheduleOrder = {
  sending_type: 'recurring',
  start: '2027-01-31',
  frequency: 'monthly',
  occurrences: 12,
};

/** A world of its own, so that each test's year begins where it likes. */
async function openYear(): Promise<{ world: World; merchant: MerchantCreated; msisdns: string[] }> {
  const world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' }, start: START });
  const merchant = await world.merchant();
  await fund(world, merchant, 1_000_00n);
  return { world, merchant, msisdns: [numberEnding('11'), numberEnding('08')] };
}

/** Every line of the batch, once all are final. */
async function allFinal(world: World, batch: PayoutBatch): Promise<PayoutLine[]> {
  return untilLater(world, async () => {
    const runs = await Promise.all(
      Array.from({ length: batch.occurrences }, (_, index) => linesNow(world, batch, index + 1)),
    );
    const lines = runs.flat();
    const isOver = runs.every((run) => run.length > 0) && lines.every(({ completed_at }) => completed_at !== null);
    return isOver ? lines : undefined;
  });
}

/** What must be true once the year is over, however it passed. */
async function expectYear(world: World, merchant: MerchantCreated, batch: PayoutBatch, msisdns: string[]) {
  const lines = await allFinal(world, batch);
  expect(lines.map(({ occurrence, scheduled_date, msisdn }) => [occurrence, scheduled_date, msisdn])).toEqual(
    A_YEAR.flatMap((date, index) => msisdns.map((msisdn) => [index + 1, date, msisdn])),
  );
  expect(lines.filter(({ status }) => status !== 'completed')).toEqual([]);
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
  for (const msisdn of msisdns) {
    const entries = debitsOf(world, msisdn);
    expect(entries.map(({ kind, amount, times }) => [kind, amount, times])).toEqual(
      A_YEAR.map(() => ['credit', '10.00', 1]),
    );
  }
  await untilLater(world, async () => (lines.every((line) => toldOf(world, line).length === 2) ? true : undefined));
  for (const line of lines) {
    expect(toldOf(world, line)).toEqual(['pending', 'completed']);
    const bodies = hooksAbout(world, line.id).map(({ raw }) => JSON.parse(raw));
    for (const body of bodies) {
      expect(body).toMatchObject({
        batch_id: batch.id,
        transaction_id: line.id,
        occurrence: line.occurrence,
        scheduled_date: line.scheduled_date,
        amount: '10.00',
      });
    }
  }
  expect(await balancesOf(world, merchant)).toEqual({ available: 1_000_00n - 24n * 10_00n, reserved: 0n });
  expect(await batchNow(world, batch)).toMatchObject({ next_occurrence: 13, next_run_at: null });
  await expectSound(world, merchant);
}

describe('a year of a monthly payout from 31 January', () => {
  test('in steps of ten days: each month on its day, and nothing in between', async () => {
    const { world, merchant, msisdns } = await openYear();
    try {
      const batch = await makeBatch(world, merchant, { msisdns, schedule: MONTHLY });
      for (const [index, date] of A_YEAR.entries()) {
        const due = Date.parse(`${date}T06:00:00Z`);
        expect((await batchNow(world, batch)).next_run_at).toBe(due);
        while (world.clock.now() + 10 * DAY < due) await world.pass(10 * DAY);
        await world.pass(due - 1 - world.clock.now());
        expect((await batchNow(world, batch)).next_occurrence).toBe(index + 1);
        await world.pass(1);
        expect((await batchNow(world, batch)).next_occurrence).toBe(index + 2);
        await untilLater(world, async () => {
          const lines = await linesNow(world, batch, index + 1);
          return lines.every(({ status }) => status === 'completed') ? true : undefined;
        });
      }
      await expectYear(world, merchant, batch, msisdns);
    } finally {
      await world.close();
    }
  });

  test('in one leap: each missed month is made once, one after another', async () => {
    const { world, merchant, msisdns } = await openYear();
    try {
      const batch = await makeBatch(world, merchant, { msisdns, schedule: MONTHLY });
      await world.leap(366 * DAY);
      await expectYear(world, merchant, batch, msisdns);
    } finally {
      await world.close();
    }
  });
});

describe('dates', () => {
  let world: World;

  beforeAll(async () => {
    world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' }, start: START });
  });
  afterAll(() => world.close());

  const date = (days: number): string => new Date(world.clock.now() + days * DAY).toISOString().slice(0, 10);

  test('run at the merchant’s hour and zone at the time of sending', async () => {
    const merchant = await world.merchant();
    await fund(world, merchant, 100_00n);
    const { deps } = world.gateway;
    await setMerchant(deps, merchant.merchant.id, { payout_hour: 7, payout_time_zone: 'Africa/Kinshasa' });
    const dates = [date(4), date(2)];
    const batch = await makeBatch(world, merchant, {
      msisdns: [numberEnding('11')],
      schedule: { sending_type: 'scheduled', dates },
    });
    await setMerchant(deps, merchant.merchant.id, { payout_hour: null, payout_time_zone: null });
    expect(batch.next_run_at).toBe(Date.parse(`${date(2)}T06:00:00Z`));
    await world.pass((batch.next_run_at ?? 0) - world.clock.now());
    expect(await batchNow(world, batch)).toMatchObject({ next_run_at: Date.parse(`${dates[0]}T06:00:00Z`) });
    await world.pass(3 * DAY);
    expect((await allFinal(world, batch)).map(({ scheduled_date }) => scheduled_date)).toEqual(dates.toSorted());
  });

  test('have not waited since they were ordered', async () => {
    const merchant = await world.merchant();
    await fund(world, merchant, 100_00n);
    const batch = await makeBatch(world, merchant, {
      msisdns: [numberEnding('11')],
      schedule: { sending_type: 'recurring', start: date(40), frequency: 'daily', occurrences: 1 },
    });
    const due = batch.next_run_at ?? 0;
    const { deps } = world.gateway;
    await world.pass(due - 1 - world.clock.now());
    // Another process runs it, and dies before it starts the line.
    expect(await runDue({ ...deps, clock: { ...deps.clock, now: () => due } })).toBe(1);
    const { waiting } = await world.gateway.store.watched(due, AGE_LIMITS_MS, []);
    expect(waiting.filter(({ kind }) => kind === 'payout')).toMatchObject([{ count: 1, oldest: due + START_LEASE_MS }]);
    await world.pass(2 * START_LEASE_MS);
    expect((await allFinal(world, batch)).map(({ status }) => status)).toEqual(['completed']);
  });

  test('have waited since their date, though each process that leases them fails to start them', async () => {
    const merchant = await world.merchant();
    const batch = await makeBatch(world, merchant, {
      msisdns: [numberEnding('11')],
      schedule: { sending_type: 'recurring', start: date(40), frequency: 'daily', occurrences: 1 },
    });
    const due = batch.next_run_at ?? 0;
    const { deps, store } = world.gateway;
    await world.pass(due - 1 - world.clock.now());
    expect(await runDue({ ...deps, clock: { ...deps.clock, now: () => due } })).toBe(1);
    for (const hours of [1, 2, 26]) {
      const now = due + hours * 3_600_000;
      expect(await store.payoutLine.leaseDue(now, now + START_LEASE_MS, 10)).toHaveLength(1);
    }
    const { waiting } = await store.watched(due + 26 * 3_600_000, AGE_LIMITS_MS, []);
    const midnight = Date.parse(`${batch.dates?.[0]}T00:00:00Z`) + DAY;
    expect(waiting.filter(({ kind }) => kind === 'payout')).toMatchObject([{ count: 1, oldest: midnight }]);
    await world.pass(27 * 3_600_000);
    expect((await allFinal(world, batch)).map(({ reason }) => reason)).toEqual(['merchant_funds_missing']);
  });

  test('without funds fail line by line, and the schedule continues', async () => {
    const merchant = await world.merchant();
    await fund(world, merchant, 15_00n);
    const batch = await makeBatch(world, merchant, {
      msisdns: [numberEnding('11'), numberEnding('11')],
      schedule: { sending_type: 'recurring', start: date(1), frequency: 'daily', occurrences: 2 },
    });
    await world.pass(DAY);
    await untilLater(world, async () => {
      const [run] = await countsNow(world, batch);
      return run?.completed === 1 && run.failed === 1 ? true : undefined;
    });
    const failed = (await linesNow(world, batch)).filter(({ status }) => status === 'failed');
    expect(failed).toMatchObject([{ reason: 'merchant_funds_missing', reserved_at: null }]);
    await fund(world, merchant, 15_00n);
    await world.pass(DAY);
    expect((await allFinal(world, batch)).filter(({ status }) => status === 'completed')).toHaveLength(3);
    expect(await balancesOf(world, merchant)).toEqual({ available: 0n, reserved: 0n });
    await expectSound(world, merchant);
  });

  test('of a suspended merchant wait, and are made up for', async () => {
    const merchant = await world.merchant();
    await fund(world, merchant, 100_00n);
    const batch = await makeBatch(world, merchant, {
      msisdns: [numberEnding('11')],
      schedule: { sending_type: 'recurring', start: date(1), frequency: 'daily', occurrences: 3 },
    });
    await setMerchantStatus(world.gateway.deps, merchant.merchant.id, 'SUSPENDED');
    await world.pass(2 * DAY);
    expect(await batchNow(world, batch)).toMatchObject({ next_occurrence: 1 });
    await setMerchantStatus(world.gateway.deps, merchant.merchant.id, 'ALLOWED');
    await world.pass(DAY);
    expect((await allFinal(world, batch)).map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  });

  test('run once, however many processes find them due', async () => {
    const merchant = await world.merchant();
    await fund(world, merchant, 1_000_00n);
    const others = await Promise.all([0, 1, 2].map(() => openStore({ url: world.databaseUrl })));
    const msisdns = [numberEnding('11'), numberEnding('11'), numberEnding('11')];
    const schedule: ScheduleOrder = { sending_type: 'recurring', start: date(1), frequency: 'daily', occurrences: 6 };
    const batch = await makeBatch(world, merchant, { msisdns, schedule });
    const { deps } = world.gateway;
    const now = world.clock.now() + 3 * DAY;
    const clock = { ...deps.clock, now: () => now };
    await Promise.all(others.map((store) => runDue({ ...deps, store, clock })));
    expect((await countsNow(world, batch)).map(({ occurrence, pending }) => [occurrence, pending])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    await world.pass(6 * DAY);
    expect(await allFinal(world, batch)).toHaveLength(18);
    for (const msisdn of msisdns) {
      expect(debitsOf(world, msisdn).map(({ times }) => times)).toEqual([1, 1, 1, 1, 1, 1]);
    }
    await Promise.all(others.map((store) => store.close()));
    await expectSound(world, merchant);
  });
});
