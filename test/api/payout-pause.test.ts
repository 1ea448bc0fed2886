/**
 * Pausing a schedule and resuming it: dates that passed meanwhile are skipped or made up for, and everything happens once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { payoutResume } from '../../src/commands/payout.ts';
import type { PayoutBatch, PayoutLine } from '../../src/domain/outgoing-records.ts';
import { skipNextOccurrence } from '../../src/domain/payout-batch.ts';
import type { Store } from '../../src/store/store.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { batchContext, readBatch } from '../../src/usecases/payout-occurrence.ts';
import type { PayoutOperatorDeps } from '../../src/usecases/payout-operate.ts';
import { datesPassed, pausePayout, resumePayout } from '../../src/usecases/payout-pause.ts';
import { batchNow, countsNow, eventsOf, expectSound, linesNow, makeBatch } from '../support/payout-batches.ts';
import { DAY, type Desk, openDesk, SAY } from '../support/payout-desk.ts';
import { partsAt, runDue } from '../support/payout-paydays.ts';
import type { World } from '../support/world.ts';

let desk: Desk;
let world: World;

beforeAll(async () => {
  desk = await openDesk();
  world = desk.world;
});
afterAll(() => desk.close());

describe('pausing', () => {
  test('no date runs meanwhile; at resume, passed dates are skipped as called off', async () => {
    const { merchant, wallets } = await desk.payer();
    const { deps } = world.gateway;
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(5) });
    await pausePayout(deps, batch.id, SAY);
    await expect(pausePayout(deps, batch.id, SAY)).rejects.toThrow('it is paused already');
    await world.pass(2 * DAY);
    expect(await countsNow(world, batch)).toMatchObject([{ occurrence: 1, pending: 3 }]);
    const { batch: resumed, skipped } = await resumePayout(deps, batch.id, { ...SAY, catchUp: false });
    expect(skipped).toBe(2);
    expect(resumed).toMatchObject({ paused_at: null, next_occurrence: 3 });
    expect((await countsNow(world, batch)).map(({ failed }) => failed)).toEqual([3, 3]);
    const [second] = await linesNow(world, batch, 2);
    if (second === undefined) throw new Error('no line');
    expect((await eventsOf(world, second)).map(({ event, scheduled_date }) => [event, scheduled_date])).toEqual([
      ['payout.pending', second.scheduled_date],
      ['payout.failed', second.scheduled_date],
    ]);
    expect(await sequencesOf(second)).toEqual([1, 2]);
    await world.pass(4 * DAY);
    for (const occurrence of [3, 4, 5]) await desk.untilFinal(batch, occurrence);
    expect((await countsNow(world, batch)).map(({ completed }) => completed)).toEqual([0, 0, 3, 3, 3]);
    await expect(resumePayout(deps, batch.id, { ...SAY, catchUp: false })).rejects.toThrow('it has no dates left');
    await expect(pausePayout(deps, batch.id, SAY)).rejects.toThrow('it has no dates left');
    await expectSound(world, merchant);
  });

  test('when every date has passed, all are skipped, and nothing is left to run', async () => {
    const { merchant, wallets } = await desk.payer();
    const { deps } = world.gateway;
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(2) });
    await pausePayout(deps, batch.id, SAY);
    await world.pass(3 * DAY);
    const { batch: resumed, skipped } = await resumePayout(deps, batch.id, { ...SAY, catchUp: false });
    expect(skipped).toBe(2);
    expect(resumed).toMatchObject({ paused_at: null, next_occurrence: 3, next_run_at: null });
    await world.pass(DAY);
    expect(await countsNow(world, batch)).toMatchObject([{ failed: 3 }, { failed: 3 }]);
  });

  test('with catch-up they are run instead', async () => {
    const { merchant, wallets } = await desk.payer();
    const { deps } = world.gateway;
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(3) });
    await pausePayout(deps, batch.id, SAY);
    await world.pass(2 * DAY);
    expect(await resumePayout(deps, batch.id, { ...SAY, catchUp: true })).toMatchObject({ skipped: 0 });
    await desk.untilFinal(batch);
    await desk.untilFinal(batch, 2);
    expect((await countsNow(world, batch)).map(({ completed }) => completed)).toEqual([3, 3]);
  });

  test('what was due before the pause is run at resume in any case', async () => {
    const { merchant, wallets } = await desk.payer();
    const { deps } = world.gateway;
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(3) });
    await setMerchantStatus(deps, merchant.merchant.id, 'SUSPENDED');
    await world.pass(DAY);
    expect(datesPassed(deps, await batchNow(world, batch))).toEqual({ before: 0, meanwhile: 0 });
    await pausePayout(deps, batch.id, SAY);
    await world.pass(DAY);
    await setMerchantStatus(deps, merchant.merchant.id, 'ALLOWED');
    await world.pass(1_000);
    expect(datesPassed(deps, await batchNow(world, batch))).toEqual({ before: 1, meanwhile: 1 });
    expect(await resumePayout(deps, batch.id, { ...SAY, catchUp: false })).toMatchObject({ skipped: 1 });
    await desk.untilFinal(batch);
    expect((await countsNow(world, batch)).map(({ completed, failed }) => [completed, failed])).toEqual([
      [3, 0],
      [0, 3],
    ]);
  });

  test('the lines of every date that is run at resume may start at once: the command starts none itself', async () => {
    const { merchant, wallets } = await desk.payer();
    const { deps } = world.gateway;
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(2) });
    await setMerchantStatus(deps, merchant.merchant.id, 'SUSPENDED');
    await world.pass(2 * DAY);
    await pausePayout(deps, batch.id, SAY);
    await setMerchantStatus(deps, merchant.merchant.id, 'ALLOWED');
    await resumePayout(desk.another(), batch.id, { ...SAY, catchUp: false });
    for (const occurrence of [1, 2]) {
      const starts = (await linesNow(world, batch, occurrence)).map(({ next_start_at }) => next_start_at);
      expect(starts).toEqual([1, 2, 3].map(() => world.clock.now()));
    }
    for (const occurrence of [1, 2])
      expect(new Set(await desk.untilFinal(batch, occurrence))).toEqual(new Set(['completed']));
  });

  test('a date due at the instant of the pause is run at resume, and one due at the instant of the resume is skipped', async () => {
    const { merchant, wallets } = await desk.payer();
    const { deps } = world.gateway;
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(3) });
    const due = batch.next_run_at ?? 0;
    const at = (now: number): PayoutOperatorDeps => ({ ...deps, clock: { ...deps.clock, now: () => now } });
    await pausePayout(at(due), batch.id, SAY);
    expect(datesPassed(at(due + DAY - 1), await batchNow(world, batch))).toEqual({ before: 1, meanwhile: 0 });
    expect(datesPassed(at(due + DAY), await batchNow(world, batch))).toEqual({ before: 1, meanwhile: 1 });
    expect(await resumePayout(at(due + DAY), batch.id, { ...SAY, catchUp: false })).toMatchObject({ skipped: 1 });
    expect(await batchNow(world, batch)).toMatchObject({ next_occurrence: 3, next_run_at: due + 2 * DAY });
    expect((await countsNow(world, batch)).map(({ pending, failed }) => [pending, failed])).toEqual([
      [3, 0],
      [0, 3],
    ]);
    // What has been run or skipped does not count as passed again.
    await pausePayout(at(due + DAY), batch.id, SAY);
    expect(datesPassed(at(due + DAY), await batchNow(world, batch))).toEqual({ before: 0, meanwhile: 0 });
    await cancelPayout(deps, batch.id, SAY);
  });

  test('that loses to the run of the last date is decided again, and refused', async () => {
    const { merchant, wallets } = await desk.payer();
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(1) });
    const behind = beaten(() => runDue(partsAt(world, batch)));
    await expect(pausePayout(behind, batch.id, SAY)).rejects.toThrow('it has no dates left');
    expect(await batchNow(world, batch)).toMatchObject({ next_occurrence: 2, next_run_at: null, paused_at: null });
    await world.pass(DAY);
    expect(await desk.untilFinal(batch)).toEqual(['completed', 'completed', 'completed']);
  });

  test('of two that pause at the same time, the second one is told that it is paused', async () => {
    const { merchant, wallets } = await desk.payer();
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(2) });
    const behind = beaten(() => pausePayout(world.gateway.deps, batch.id, SAY));
    await expect(pausePayout(behind, batch.id, { ...SAY, by: 'bahati' })).rejects.toThrow('it is paused already');
    expect(world.log.lines.filter((line) => line.includes('payout_paused') && line.includes(batch.id))).toEqual([
      expect.stringContaining('"by":"amina"'),
    ]);
  });

  test('against the round: an occurrence runs once or not at all', async () => {
    const { deps } = world.gateway;
    for (let round = 0; round < 6; round += 1) {
      const { merchant, wallets } = await desk.payer();
      const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(2) });
      const late = { ...deps, clock: { ...deps.clock, now: () => batch.next_run_at ?? 0 } };
      await Promise.all([
        desk.afterPings(round % 3, () => runDue(late)),
        desk.afterPings(2 - (round % 3), () => pausePayout(desk.another(), batch.id, SAY)),
        desk.afterPings(round % 3, () => runDue({ ...late, store: desk.another().store })),
      ]);
      const { next_occurrence, next_run_at } = await batchNow(world, batch);
      expect(next_run_at).toBeNull();
      const lines = await linesNow(world, batch);
      expect(lines.map(({ next_start_at }) => next_start_at !== null)).toEqual(lines.map(() => next_occurrence === 2));
      await cancelPayout(deps, batch.id, SAY);
    }
  });
});

test('a resume that was not confirmed skips no date that passes after it has looked', async () => {
  const { merchant, wallets } = await desk.payer();
  const { deps } = world.gateway;
  const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(3) });
  await pausePayout(deps, batch.id, SAY);
  let looked = 0;
  const now = (): number => {
    looked += 1;
    return deps.clock.now() + (looked === 1 ? 0 : DAY);
  };
  const tools = { deps: { ...deps, clock: { ...deps.clock, now } } };
  for (const catchUp of [true, undefined]) {
    looked = 0;
    const resuming = payoutResume(tools, batch.id, { ...SAY, ...(catchUp && { catchUp }) });
    await expect(resuming).rejects.toThrow(/a date has just passed: give it again/);
  }
  expect(await batchNow(world, batch)).toMatchObject({ next_occurrence: 1, paused_at: expect.any(Number) });
  expect((await payoutResume({ deps }, batch.id, SAY)).document).toMatchObject({ state: 'scheduled', left_out: 0 });
});

describe('resuming, when another process changes the batch between the read and the commit', () => {
  /** A paused batch of three dates, of which two have passed. */
  const overdue = async (): Promise<PayoutBatch> => {
    const { merchant, wallets } = await desk.payer();
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(3) });
    await pausePayout(world.gateway.deps, batch.id, SAY);
    await world.pass(2 * DAY);
    return batch;
  };
  const failedOf = async (batch: PayoutBatch) => (await countsNow(world, batch)).map(({ failed }) => failed);

  test('each passed date is skipped once, and counted by the process that skipped it', async () => {
    const { deps } = world.gateway;
    const batch = await overdue();
    const behind = beaten(async () => {
      const rows = await readBatch(deps, batch);
      if (rows === undefined) throw new Error('no batch');
      expect(await deps.store.commit(skipNextOccurrence(rows.batch, rows.first, batchContext(deps)))).toBe('won');
    });
    const { batch: resumed, skipped } = await resumePayout(behind, batch.id, { ...SAY, catchUp: false });
    expect(skipped).toBe(1);
    expect(resumed).toMatchObject({ paused_at: null, next_occurrence: 3 });
    expect(await failedOf(batch)).toEqual([3, 3]);
  });

  test('the second of two that resume is told that it is not paused, and no date is both skipped and run', async () => {
    const batch = await overdue();
    const ahead = () => resumePayout(world.gateway.deps, batch.id, { ...SAY, catchUp: true });
    const second = resumePayout(beaten(ahead), batch.id, { ...SAY, catchUp: false });
    await expect(second).rejects.toThrow('it is not paused');
    await world.pass(1_000);
    for (const occurrence of [1, 2]) await desk.untilFinal(batch, occurrence);
    expect(await failedOf(batch)).toEqual([0, 0]);
  });

  test('one that has skipped a date before another was quicker says so', async () => {
    const batch = await overdue();
    const ahead = () => resumePayout(world.gateway.deps, batch.id, { ...SAY, catchUp: true });
    const second = resumePayout(beaten(ahead, 2), batch.id, { ...SAY, catchUp: false });
    await expect(second).rejects.toThrow(
      'it is not paused; dates that were skipped first, because they passed during the pause: 1',
    );
    await world.pass(1_000);
    await desk.untilFinal(batch, 2);
    expect(await failedOf(batch)).toEqual([3, 0]);
  });

  test('a batch that is cancelled meanwhile is not resumed', async () => {
    const batch = await overdue();
    const behind = beaten(() => cancelPayout(world.gateway.deps, batch.id, SAY));
    await expect(resumePayout(behind, batch.id, { ...SAY, catchUp: true })).rejects.toThrow('it has been cancelled');
    await world.pass(DAY);
    expect(await failedOf(batch)).toEqual([3]);
    expect(await batchNow(world, batch)).toMatchObject({ next_run_at: null });
  });
});

async function sequencesOf({ shard, merchant_id: merchantId, id: transactionId }: PayoutLine): Promise<number[]> {
  const filter = { shard, merchantId, transactionId, order: 'oldest', limit: 9 } as const;
  const { rows } = await world.gateway.store.pageOfEvents(filter);
  return rows.map(({ sequence }) => sequence);
}

/** The dependencies of a process of whose commits the first, or that one, comes after another one's work. */
function beaten(work: () => Promise<unknown>, which = 1): PayoutOperatorDeps {
  const { deps } = world.gateway;
  let commits = 0;
  const commit: Store['commit'] = async (change) => {
    commits += 1;
    if (commits === which) await work();
    return deps.store.commit(change);
  };
  return { ...deps, store: { ...deps.store, commit } };
}
