/**
 * The operator's control of payouts: maker and checker, and cancelling, alone and against each other.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { cancelBatch } from '../../src/domain/payout-batch.ts';
import { shardOfWallet } from '../../src/domain/wallet.ts';
import type { Store } from '../../src/store/store.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { approvePayout, rejectPayout, requireApprovable } from '../../src/usecases/payout-approve.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, debitsOf, hooksAbout, numberEnding } from '../support/flows.ts';
import {
  balancesOf,
  batchNow,
  countsNow,
  eventsOf,
  expectSound,
  fund,
  linesNow,
  makeBatch,
} from '../support/payout-batches.ts';
import { DAY, type Desk, openDesk, SAY } from '../support/payout-desk.ts';
import { runDue } from '../support/payout-paydays.ts';
import { carrierAsked, endDropped } from '../support/phone-payments.ts';
import { until, untilLater } from '../support/waiting.ts';
import type { World } from '../support/world.ts';

let desk: Desk;
let world: World;

beforeAll(async () => {
  desk = await openDesk();
  world = desk.world;
});
afterEach(() => world.sandbox.faults.clear());
afterAll(() => desk.close());

const balancesOfWallets = (wallets: readonly string[]): Promise<bigint[]> =>
  Promise.all(
    wallets.map(
      async (number) => (await world.gateway.store.account.get(shardOfWallet(number), number))?.balance ?? 0n,
    ),
  );

describe('maker and checker', () => {
  test('a batch below the threshold is sent without approval; one at it waits, and nothing is reserved', async () => {
    const { merchant, wallets } = await desk.payer(30_00n);
    const small = await makeBatch(world, merchant, { wallets: wallets.slice(0, 2) });
    const large = await makeBatch(world, merchant, { wallets });
    expect([small.approval, large.approval]).toEqual(['none', 'waiting']);
    expect(await desk.untilFinal(small)).toEqual(['completed', 'completed']);
    await world.pass(DAY);
    expect(await countsNow(world, large)).toMatchObject([{ pending: 3 }]);
    expect(await balancesOf(world, merchant)).toEqual({ available: 980_00n, reserved: 0n });
    await expectSound(world, merchant);
  });

  test('an approved batch is paid, and it is decided once', async () => {
    const { merchant, wallets } = await desk.payer(1n);
    const before = await balancesOfWallets(wallets);
    const batch = await makeBatch(world, merchant, { wallets });
    const { deps } = world.gateway;
    const approved = await approvePayout(deps, batch.id, SAY);
    expect(approved).toMatchObject({ approval: 'approved', next_occurrence: 2 });
    expect(await balancesOf(world, merchant)).toEqual({ available: 970_00n, reserved: 30_00n });
    await expect(approvePayout(deps, batch.id, SAY)).rejects.toThrow('has already been approved');
    await expect(rejectPayout(deps, batch.id, SAY)).rejects.toThrow('has already been approved');
    expect(await desk.untilFinal(batch)).toEqual(['completed', 'completed', 'completed']);
    expect(await balancesOfWallets(wallets)).toEqual(before.map((balance) => balance + 10_00n));
    await expectSound(world, merchant);
    expect(world.log.lines.filter((line) => line.includes('payout_approved') && line.includes(batch.id))).toEqual([
      expect.stringContaining('"by":"amina","why":"a call with the merchant"'),
    ]);
  });

  test('without the funds it continues to wait, and can be approved when they are there', async () => {
    const { merchant, wallets } = await desk.payer(1n, 220_00n);
    const batch = await makeBatch(world, merchant, { wallets });
    const rival = await makeBatch(world, merchant, { wallets: desk.pool });
    const { deps } = world.gateway;
    await approvePayout(deps, rival.id, SAY);
    await expect(approvePayout(deps, batch.id, SAY)).rejects.toThrow(
      'costs 30.00 usd with fees, and the merchant has 20.00 usd: it is still waiting',
    );
    // What operators are told before they confirm.
    await expect(requireApprovable(deps, batch.id)).rejects.toThrow('it is still waiting');
    await expect(requireApprovable(deps, rival.id)).rejects.toThrow('has already been approved');
    expect(await batchNow(world, batch)).toMatchObject({ approval: 'waiting', version: batch.version });
    await fund(world, merchant, 10_00n);
    expect(await requireApprovable(deps, batch.id)).toMatchObject({ id: batch.id, approval: 'waiting' });
    await approvePayout(deps, batch.id, SAY);
    await desk.untilFinal(batch);
    await desk.untilFinal(rival);
    expect(await balancesOf(world, merchant)).toEqual({ available: 0n, reserved: 0n });
  });

  test('an approval that another one overtakes is refused for that, not for the balance that it took', async () => {
    const { merchant, wallets } = await desk.payer(1n, 30_00n);
    const batch = await makeBatch(world, merchant, { wallets });
    const { deps } = world.gateway;
    const get: Store['account']['get'] = async (...given) => {
      if ((await batchNow(world, batch)).approval === 'waiting') await approvePayout(deps, batch.id, SAY);
      return deps.store.account.get(...given);
    };
    const behind = { ...deps, store: { ...deps.store, account: { ...deps.store.account, get } } };
    await expect(approvePayout(behind, batch.id, SAY)).rejects.toThrow('has already been approved');
  });

  test('of two that race for one balance, one is approved, and nothing is overdrawn', async () => {
    const { merchant } = await desk.payer(1n, 300_00n);
    const batches = await Promise.all([0, 1].map(() => makeBatch(world, merchant, { wallets: desk.pool })));
    const outcomes = await Promise.allSettled(batches.map(({ id }) => approvePayout(world.gateway.deps, id, SAY)));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await balancesOf(world, merchant)).toEqual({ available: 100_00n, reserved: 200_00n });
    await expectSound(world, merchant);
  });

  test('the lines of a rejected batch fail as called off, with their final webhooks, and no date runs', async () => {
    const { merchant, wallets } = await desk.payer(1n);
    const { deps } = world.gateway;
    for (const schedule of [undefined, desk.daily(3)]) {
      const batch = await makeBatch(world, merchant, { wallets, schedule });
      await rejectPayout(deps, batch.id, SAY);
      const [line] = await linesNow(world, batch);
      if (line === undefined) throw new Error('no line');
      expect(line).toMatchObject({ status: 'failed', reason: 'called_off', events: 2 });
      expect((await eventsOf(world, line)).map(({ event, message }) => [event, message])).toEqual([
        ['payout.pending', expect.stringContaining('waits for an operator’s approval')],
        ['payout.failed', 'The payout did not go through. The payout was called off before it was sent.'],
      ]);
      for (const body of [{}, { transaction_ids: [line.id] }]) {
        const again = { bearer: bearerOf(merchant), body };
        const refused = await world.call('POST', `/internal/payouts/${batch.id}/retry`, again);
        expectRefusal(refused, 409, '1205', 'NOT_RETRYABLE');
      }
      await world.pass(5 * DAY);
      expect(await countsNow(world, batch)).toMatchObject([{ occurrence: 1, failed: 3 }]);
      await expect(cancelPayout(deps, batch.id, SAY)).rejects.toThrow('has been rejected');
    }
    expect(await balancesOf(world, merchant)).toEqual({ available: 1_000_00n, reserved: 0n });
  });

  test('a dated batch that is approved late makes up for the dates that have passed', async () => {
    const { merchant, wallets } = await desk.payer(1n);
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(4) });
    await world.pass(2 * DAY);
    expect(await countsNow(world, batch)).toMatchObject([{ pending: 3 }]);
    await approvePayout(world.gateway.deps, batch.id, SAY);
    await desk.untilFinal(batch);
    expect(await desk.untilFinal(batch, 2)).toEqual(['completed', 'completed', 'completed']);
    expect((await countsNow(world, batch)).map(({ completed }) => completed)).toEqual([3, 3]);
    await world.pass(3 * DAY);
    await desk.untilFinal(batch, 3);
    await desk.untilFinal(batch, 4);
    expect((await countsNow(world, batch)).map(({ completed }) => completed)).toEqual([3, 3, 3, 3]);
  });

  test('a dated batch that is approved in time waits for its first date, and needs its funds only then', async () => {
    const { merchant, wallets } = await desk.payer(1n, 10_00n);
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(2) });
    const { next_run_at } = await approvePayout(world.gateway.deps, batch.id, SAY);
    expect(new Date(next_run_at ?? 0).toISOString().slice(0, 10)).toBe(batch.dates?.[0]);
    await cancelPayout(world.gateway.deps, batch.id, SAY);
  });

  test('a rejection that read the batch before its approval, and its lines after they were paid, is refused', async () => {
    const { merchant, wallets } = await desk.payer(1n);
    const batch = await makeBatch(world, merchant, { wallets });
    const { deps } = world.gateway;
    const lines: Store['payoutBatch']['lines'] = async (...given) => {
      if ((await batchNow(world, batch)).approval === 'waiting') {
        await approvePayout(deps, batch.id, SAY);
        await desk.untilFinal(batch);
      }
      return deps.store.payoutBatch.lines(...given);
    };
    const behind = { ...deps, store: { ...deps.store, payoutBatch: { ...deps.store.payoutBatch, lines } } };
    await expect(rejectPayout(behind, batch.id, SAY)).rejects.toThrow('has already been approved');
    expect(await countsNow(world, batch)).toMatchObject([{ completed: 3, failed: 0 }]);
    await expectSound(world, merchant);
  });

  test('of an approval, a rejection and a cancellation at the same time, one is done', async () => {
    const { deps } = world.gateway;
    for (let round = 0; round < 8; round += 1) {
      const { merchant, wallets } = await desk.payer(1n);
      const batch = await makeBatch(world, merchant, { wallets });
      const approved = () => approvePayout(deps, batch.id, SAY);
      const elsewhere = () => approvePayout(desk.another(), batch.id, SAY);
      const rejected = () => rejectPayout(desk.another(), batch.id, SAY);
      const cancelled = () => cancelPayout(deps, batch.id, SAY);
      const all = [approved, rejected, cancelled, elsewhere];
      const turned = [...all.slice(round % 4), ...all.slice(0, round % 4)];
      const outcomes = await Promise.allSettled(turned.map((act, place) => desk.afterPings(place * (round % 3), act)));
      const wins = (act: (typeof all)[number]): boolean => outcomes[turned.indexOf(act)]?.status === 'fulfilled';
      const after = await batchNow(world, batch);
      expect([approved, elsewhere, rejected].filter(wins).length).toBeLessThanOrEqual(1);
      expect(after.approval === 'approved').toBe(wins(approved) || wins(elsewhere));
      expect(after.approval === 'rejected').toBe(wins(rejected));
      const statuses = await desk.untilFinal(batch);
      const paid = statuses.filter((status) => status === 'completed').length;
      if (after.approval !== 'approved') expect(paid).toBe(0);
      const { available, reserved } = await balancesOf(world, merchant);
      expect([available, reserved]).toEqual([1_000_00n - BigInt(paid) * 10_00n, 0n]);
      await expectSound(world, merchant);
    }
  });
});

describe('cancelling', () => {
  test('a schedule: no further date runs, lines that were made but not sent fail, and what was paid stays', async () => {
    const { merchant, wallets } = await desk.payer();
    const { deps } = world.gateway;
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(5) });
    await world.pass(DAY);
    await desk.untilFinal(batch);
    await cancelPayout(deps, batch.id, SAY);
    await world.pass(10 * DAY);
    expect(await countsNow(world, batch)).toEqual([
      { occurrence: 1, pending: 0, processing: 0, completed: 3, failed: 0 },
    ]);
    const untouched = await makeBatch(world, merchant, { wallets, schedule: desk.daily(5) });
    await cancelPayout(deps, untouched.id, SAY);
    expect(await cancelPayout(deps, untouched.id, SAY)).toMatchObject({ id: untouched.id });
    expect(await countsNow(world, untouched)).toMatchObject([{ occurrence: 1, failed: 3 }]);
    await world.pass(5_000);
    expect(await batchNow(world, untouched)).toMatchObject({ closed_at: expect.any(Number) });
    await expectSound(world, merchant);
  });

  test('by another process: the final webhooks are sent at once, not when a lease expires', async () => {
    const { merchant, wallets } = await desk.payer();
    const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(5) });
    await world.gateway.courier.idle();
    await cancelPayout(desk.another(), batch.id, SAY);
    await world.pass(0);
    await world.gateway.courier.idle();
    for (const { id } of await linesNow(world, batch)) {
      expect(hooksAbout(world, id).map(({ body }) => body.status)).toEqual(['pending', 'failed']);
    }
  });

  test('the reserved money of a suspended merchant returns', async () => {
    const { merchant, wallets } = await desk.payer();
    const { deps } = world.gateway;
    await setMerchantStatus(deps, merchant.merchant.id, 'SUSPENDED');
    const batch = await makeBatch(world, merchant, { wallets });
    await world.pass(60_000);
    expect(await balancesOf(world, merchant)).toEqual({ available: 970_00n, reserved: 30_00n });
    await cancelPayout(deps, batch.id, SAY);
    expect(await balancesOf(world, merchant)).toEqual({ available: 1_000_00n, reserved: 0n });
    expect(await countsNow(world, batch)).toMatchObject([{ failed: 3 }]);
    await expectSound(world, merchant);
  });

  test('a batch that is over has nothing to cancel', async () => {
    const { merchant, wallets } = await desk.payer();
    const batch = await makeBatch(world, merchant, { wallets });
    await desk.untilFinal(batch);
    await expect(cancelPayout(world.gateway.deps, batch.id, SAY)).rejects.toThrow('there is nothing to cancel');
  });

  test.each([false, true])(
    'while the carrier is down: a line that it turned away waits for its answer, or an operator’s (%s)',
    async (notTaken) => {
      const { merchant } = await desk.payer();
      const msisdns = [numberEnding('11'), numberEnding('11'), numberEnding('11')];
      world.sandbox.faults.set('mtn', { refuse_rate: 1 });
      const batch = await makeBatch(world, merchant, { msisdns });
      const statuses = async () => (await linesNow(world, batch)).map(({ status }) => status);
      await untilLater(world, async () => {
        const lines = await linesNow(world, batch);
        return lines.every(({ tries, status }) => tries > 0 && status === 'pending') ? true : undefined;
      });
      await cancelPayout(world.gateway.deps, batch.id, SAY);
      await world.pass(600_000);
      expect(await statuses()).toEqual(['pending', 'pending', 'pending']);
      if (notTaken) {
        await cancelPayout(world.gateway.deps, batch.id, { notTaken: true, ...SAY });
        expect(await statuses()).toEqual(['failed', 'failed', 'failed']);
      }
      world.sandbox.faults.clear();
      await world.pass(600_000);
      expect(await desk.untilFinal(batch)).toEqual(['failed', 'failed', 'failed']);
      expect(msisdns.flatMap((msisdn) => debitsOf(world, msisdn))).toEqual([]);
      expect(await balancesOf(world, merchant)).toEqual({ available: 1_000_00n, reserved: 0n });
      await expectSound(world, merchant);
    },
  );

  test('lines in flight continue to their end; a line that comes back to wait is called off', async () => {
    const { merchant } = await desk.payer();
    const msisdns = [numberEnding('08'), numberEnding('11')];
    // The token is there by then, so the next call to the carrier is the payment.
    expect(await desk.untilFinal(await makeBatch(world, merchant, { msisdns: [numberEnding('01')] }))).toEqual([
      'completed',
    ]);
    world.sandbox.faults.set('mtn', { drop_rate: 1 });
    const asked = carrierAsked(world, msisdns.length);
    const batch = await makeBatch(world, merchant, { msisdns });
    await asked;
    await until(async () => {
      const lines = await linesNow(world, batch);
      return lines.every(({ status }) => status === 'processing') ? true : undefined;
    });
    await cancelPayout(world.gateway.deps, batch.id, SAY);
    expect(await countsNow(world, batch)).toMatchObject([{ processing: 2 }]);
    endDropped(world);
    const statuses = await desk.untilFinal(batch);
    const paid = msisdns.map((msisdn) => debitsOf(world, msisdn).length);
    expect([statuses, paid]).toEqual([
      ['failed', 'failed'],
      [0, 0],
    ]);
    await untilLater(world, async () => ((await batchNow(world, batch)).closed_at === null ? undefined : true));
    await expectSound(world, merchant);
  });

  test('many lines that a carrier leaves open do not keep later ones from being called off', async () => {
    const { merchant } = await desk.payer();
    const { deps } = world.gateway;
    const open = await Promise.all(
      Array.from({ length: 16 }, () => makeBatch(world, merchant, { msisdns: [numberEnding('04')] })),
    );
    await untilLater(world, async () => {
      const counts = (await Promise.all(open.map((batch) => countsNow(world, batch)))).flat();
      return counts.every(({ processing }) => processing === 1) ? true : undefined;
    });
    await world.gateway.dispatcher.idle();
    for (const { id } of open) await cancelPayout(deps, id, SAY);
    await world.pass(1_000);
    const msisdn = numberEnding('11');
    world.sandbox.faults.set('mtn', { drop_rate: 1 });
    const asked = carrierAsked(world);
    const last = await makeBatch(world, merchant, { msisdns: [msisdn] });
    await asked;
    await until(async () => ((await countsNow(world, last))[0]?.processing === 1 ? true : undefined));
    await cancelPayout(deps, last.id, SAY);
    endDropped(world);
    expect(await desk.untilFinal(last)).toEqual(['failed']);
    expect(debitsOf(world, msisdn)).toEqual([]);
    await expectSound(world, merchant);
  });

  test('from the command on, no line of the batch is claimed, even before it is called off', async () => {
    const { merchant, wallets } = await desk.payer();
    const { store, deps } = world.gateway;
    await setMerchantStatus(deps, merchant.merchant.id, 'SUSPENDED');
    const batch = await makeBatch(world, merchant, { wallets });
    const now = await batchNow(world, batch);
    expect(await store.commit(cancelBatch(now, world.clock.now()))).toBe('won');
    const later = world.clock.now() + 3_600_000;
    const due = await store.payoutLine.leaseDue(later, later, 1_000);
    expect(due.filter(({ batch_id }) => batch_id === batch.id)).toEqual([]);
  });

  test('against lines that are starting: each is paid or called off, never both', async () => {
    const { deps } = world.gateway;
    for (let round = 0; round < 8; round += 1) {
      const { merchant } = await desk.payer();
      const before = await balancesOfWallets(desk.pool);
      await setMerchantStatus(deps, merchant.merchant.id, 'SUSPENDED');
      const batch = await makeBatch(world, merchant, { wallets: desk.pool });
      await setMerchantStatus(deps, merchant.merchant.id, 'ALLOWED');
      const cancelled = desk.afterPings(round, () => cancelPayout(desk.another(), batch.id, SAY));
      const [, cancelling] = await Promise.allSettled([world.pass(60_000), cancelled]);
      if (cancelling.status === 'rejected') expect(String(cancelling.reason)).toContain('there is nothing to cancel');
      const statuses = await desk.untilFinal(batch);
      const lines = await linesNow(world, batch);
      const paid = statuses.map((status) => (status === 'completed' ? 10_00n : 0n));
      expect(await balancesOfWallets(desk.pool)).toEqual(before.map((balance, at) => balance + (paid[at] ?? 0n)));
      expect(lines.map(({ events }) => events)).toEqual(lines.map(() => 2));
      await expectSound(world, merchant);
    }
  });

  test('against a run in progress: the occurrence ran completely, or never', async () => {
    const { deps } = world.gateway;
    for (let round = 0; round < 6; round += 1) {
      const { merchant, wallets } = await desk.payer();
      const batch = await makeBatch(world, merchant, { wallets, schedule: desk.daily(3) });
      await world.pass(DAY);
      await desk.untilFinal(batch);
      const due = batch.next_run_at ?? 0;
      const late = { ...deps, clock: { ...deps.clock, now: () => due + DAY } };
      await Promise.all([
        desk.afterPings(round % 3, () => runDue(late)),
        desk.afterPings(2 - (round % 3), () => cancelPayout(desk.another(), batch.id, SAY)),
      ]);
      const lines = await linesNow(world, batch, 2);
      expect([0, 3]).toContain(lines.length);
      if (lines.length > 0) await desk.untilFinal(batch, 2);
      await expectSound(world, merchant);
    }
  });
});
