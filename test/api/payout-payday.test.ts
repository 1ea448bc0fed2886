/**
 * Payday: many batches are due at the same hour. A round begins all of them, each once, merchants in turn, and can be stopped.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StoreUnavailable } from '../../src/store/errors.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { createDispatcher, type Dispatcher } from '../../src/usecases/payout-dispatch.ts';
import { numberEnding } from '../support/flows.ts';
import { batchNow, countsNow, expectSound } from '../support/payout-batches.ts';
import { DAY, type Desk, openDesk } from '../support/payout-desk.ts';
import { copies, counting, gated, noting, partsAt, payday, runDue, waiting } from '../support/payout-paydays.ts';
import { rowsOf } from '../support/rows.ts';
import type { World } from '../support/world.ts';

const MANY = 200;

let desk: Desk;
let world: World;

beforeAll(async () => {
  desk = await openDesk();
  world = desk.world;
});
afterAll(() => desk.close());

describe('many batches that are due at once', () => {
  test('are all begun in one round, and their lines are started from memory', async () => {
    const { merchant } = await desk.payer(undefined, 10_000_00n);
    const batches = await payday(desk, merchant, MANY);
    await world.clock.advance((batches[0]?.next_run_at ?? 0) - world.clock.now());
    await world.gateway.rounds.find(({ name }) => name === 'payout-occurrences')?.runNow();
    expect(await waiting(world, merchant)).toBe(0);
    await world.gateway.dispatcher.idle();
    for (const batch of batches) expect(await countsNow(world, batch)).toMatchObject([{ completed: 1 }]);
    await expectSound(world, merchant);
  });

  test('are begun once each by two workers that race, including those of missed days', async () => {
    const { merchant } = await desk.payer(undefined, 10_000_00n);
    const batches = await payday(desk, merchant, MANY, { schedule: desk.daily(2) });
    const [one] = batches;
    if (one === undefined) throw new Error('no batch');
    const stores = await Promise.all([0, 1].map(() => openStore({ url: world.databaseUrl })));
    const ran = await Promise.all(stores.map((store) => runDue({ ...partsAt(world, one, DAY), store })));
    expect(ran.reduce((sum, more) => sum + more, 0)).toBe(2 * MANY);
    for (const batch of batches) {
      expect(await batchNow(world, batch)).toMatchObject({ next_occurrence: 3, next_run_at: null });
      expect((await countsNow(world, batch)).map(({ occurrence, pending }) => [occurrence, pending])).toEqual([
        [1, 1],
        [2, 1],
      ]);
    }
    await Promise.all(stores.map((store) => store.close()));
    await world.pass(0);
    await world.gateway.dispatcher.idle();
    await expectSound(world, merchant);
  });

  test('stay due if the round is stopped in the middle', async () => {
    const { merchant } = await desk.payer(undefined, 10_000_00n);
    const [one] = await payday(desk, merchant, 100);
    if (one === undefined) throw new Error('no batch');
    const parts = partsAt(world, one);
    const stopping = new AbortController();
    let begun = 0;
    const store = noting(parts.store, () => {
      begun += 1;
      if (begun === 30) stopping.abort();
    });
    const ran = await runDue({ ...parts, store }, { stopping: stopping.signal });
    expect(ran).toBe(begun);
    // Those that were being begun are begun.
    expect(ran).toBeGreaterThanOrEqual(30);
    expect(ran).toBeLessThan(30 + 16);
    expect(await waiting(world, merchant)).toBe(100 - ran);
    expect(await runDue(parts)).toBe(100 - ran);
  });

  test('are begun one at a time while the process sheds requests', async () => {
    const { merchant } = await desk.payer(undefined, 10_000_00n);
    const [one] = await payday(desk, merchant, 20);
    if (one === undefined) throw new Error('no batch');
    const parts = partsAt(world, one);
    const { store, seen } = counting(parts.store);
    expect(await runDue({ ...parts, store }, { isCalm: () => false })).toBe(20);
    expect(seen.mostAtOnce).toBe(1);
  });

  test('are begun in parallel again once nothing is shed any more', async () => {
    const { merchant } = await desk.payer(undefined, 10_000_00n);
    const [one] = await payday(desk, merchant, 60);
    if (one === undefined) throw new Error('no batch');
    const parts = partsAt(world, one);
    const { store, seen } = counting(parts.store);
    expect(await runDue({ ...parts, store }, { isCalm: () => seen.commits >= 3 })).toBe(60);
    expect(seen.mostAtOnce).toBeGreaterThan(1);
  });

  test('of a merchant that is suspended meanwhile stay due', async () => {
    const { merchant } = await desk.payer(undefined, 10_000_00n);
    const [one] = await payday(desk, merchant, 100);
    if (one === undefined) throw new Error('no batch');
    const parts = partsAt(world, one);
    let begun = 0;
    const commit: Store['commit'] = async (change) => {
      const outcome = await parts.store.commit(change);
      begun += 1;
      if (begun === 16) await setMerchantStatus(world.gateway.deps, merchant.merchant.id, 'SUSPENDED');
      return outcome;
    };
    await runDue({ ...parts, store: { ...parts.store, commit } });
    // Those that had already been read are begun.
    expect(await waiting(world, merchant)).toBeGreaterThanOrEqual(100 - 16 - 2 * 16);
  });
});

describe('one merchant’s backlog', () => {
  test('does not hold up another’s batch, though that became due later', async () => {
    const flooding = await desk.payer(undefined, 10_000_00n);
    const other = await desk.payer();
    await payday(desk, flooding.merchant, MANY);
    await setMerchant(world.gateway.deps, other.merchant.merchant.id, { payout_hour: 9 });
    const [late] = await payday(desk, other.merchant, 1);
    if (late === undefined) throw new Error('no batch');
    const parts = partsAt(world, late);
    const order: string[] = [];
    const store = noting(parts.store, (id) => order.push(id));
    expect(await runDue({ ...parts, store })).toBe(MANY + 1);
    // Some others were in progress when its turn came.
    expect(order.indexOf(late.id)).toBeLessThan(32);
  });

  test('waits for its carrier’s places, and no other merchant’s does', async () => {
    const flooding = await desk.payer(undefined, 10_000_00n);
    const other = await desk.payer();
    const batches = await payday(desk, flooding.merchant, 60, { msisdns: [numberEnding('11')] });
    const [others] = await payday(desk, other.merchant, 1);
    const [one] = batches;
    if (one === undefined || others === undefined) throw new Error('no batch');
    const parts = partsAt(world, one);
    // The carrier takes one line at a time and its answer waits for the gate; two waiting lines of a merchant are enough.
    const { connectors, open } = gated(parts);
    const limits = { atReceiver: 1, inAll: 8, waitingAtReceiver: 100, waitingInAll: 200 };
    const dispatcher = createDispatcher({ ...parts, connectors }, limits, 2);
    const begun = await runDue(parts, { dispatcher });
    expect(await batchNow(world, others)).toMatchObject({ next_occurrence: 2 });
    // Those in progress when there were enough are begun too.
    expect(begun).toBeLessThan(2 + 1 + 1 + 16 + 1);
    expect(await waiting(world, flooding.merchant)).toBe(61 - begun);
    open();
    await dispatcher.idle();
    let left = 61 - begun;
    while (left > 0) {
      const more = await runDue(parts, { dispatcher });
      expect(more).toBeGreaterThan(0);
      left -= more;
      await dispatcher.idle();
    }
    await dispatcher.close();
    expect(await waiting(world, flooding.merchant)).toBe(0);
    await expectSound(world, flooding.merchant);
  });
});

/** Two merchants of one shard. */
async function neighbours() {
  const known = new Map<number, MerchantCreated>();
  for (;;) {
    const { merchant } = await desk.payer(undefined, 10_000_00n);
    const first = known.get(merchant.merchant.shard);
    if (first !== undefined) return [first, merchant] as const;
    known.set(merchant.merchant.shard, merchant);
  }
}

/** A batch of one merchant, to be copied many times, and a later one of its neighbour. */
async function backlogBeside() {
  const [held, other] = await neighbours();
  const [one] = await payday(desk, held, 1);
  await setMerchant(world.gateway.deps, other.merchant.id, { payout_hour: 9 });
  const [late] = await payday(desk, other, 1);
  if (one === undefined || late === undefined) throw new Error('no batch');
  return { held, one, late };
}

test('a backlog that waits for a carrier hides no other merchant of its shard, however long it is', async () => {
  const { held, one, late } = await backlogBeside();
  // More than are read of a shard at a time.
  await copies(world, one, 4_096);
  const hasRoomFor: Dispatcher['hasRoomFor'] = ({ merchant_id }) => merchant_id !== held.merchant.id;
  expect(await runDue(partsAt(world, late), { dispatcher: { offer: () => true, hasRoomFor } })).toBe(1);
  expect(await batchNow(world, late)).toMatchObject({ next_occurrence: 2 });
  await rowsOf(world, 'update payout_batch set next_run_at = null where merchant_id = $1', [held.merchant.id]);
});

test('a backlog that has room now and then hides no other merchant of its shard', async () => {
  const { held, one, late } = await backlogBeside();
  await copies(world, one, 4_200);
  const parts = partsAt(world, late);
  const stopping = new AbortController();
  let asked = 0;
  const hasRoomFor: Dispatcher['hasRoomFor'] = ({ merchant_id }) => {
    asked += 1;
    return merchant_id !== held.merchant.id || asked % 16 === 0;
  };
  const ran: string[] = [];
  const store = noting(parts.store, (id) => {
    ran.push(id);
    if (id === late.id) stopping.abort();
  });
  await runDue({ ...parts, store }, { stopping: stopping.signal, dispatcher: { offer: () => true, hasRoomFor } });
  expect(ran).toContain(late.id);
  expect(ran.length).toBeLessThan(16);
  await rowsOf(world, 'update payout_batch set next_run_at = null where merchant_id = $1', [held.merchant.id]);
});

test('batches to wallets do not wait for batches of the same merchant that wait for a carrier', async () => {
  const [own] = await neighbours();
  const [phones] = await payday(desk, own, 1, { msisdns: ['+243810000101'] });
  await setMerchant(world.gateway.deps, own.merchant.id, { payout_hour: 9 });
  const [late] = await payday(desk, own, 1);
  if (phones === undefined || late === undefined) throw new Error('no batch');
  // More than are answered in one turn.
  await copies(world, phones, 300);
  const hasRoomFor: Dispatcher['hasRoomFor'] = ({ beneficiaries }) =>
    beneficiaries.every(({ connector }) => connector === null);
  expect(await runDue(partsAt(world, late), { dispatcher: { offer: () => true, hasRoomFor } })).toBe(1);
  expect(await batchNow(world, late)).toMatchObject({ next_occurrence: 2 });
  await rowsOf(world, 'update payout_batch set next_run_at = null where merchant_id = $1', [own.merchant.id]);
});

test('a batch that had to wait for a carrier continues within another batch’s run', async () => {
  const [held, other] = [await desk.payer(undefined, 10_000_00n), await desk.payer(undefined, 10_000_00n)];
  const [one] = await payday(desk, held.merchant, 40);
  await payday(desk, other.merchant, 600);
  if (one === undefined) throw new Error('no batch');
  let looks = 0;
  const hasRoomFor: Dispatcher['hasRoomFor'] = ({ merchant_id }) => {
    if (merchant_id !== held.merchant.merchant.id) return true;
    looks += 1;
    return looks > 16;
  };
  expect(await runDue(partsAt(world, one), { dispatcher: { offer: () => true, hasRoomFor } })).toBe(640);
});

test('a queue that waits for its carriers is looked at no more in a run, whatever waits behind it', async () => {
  const { merchant } = await desk.payer(undefined, 10_000_00n);
  const [phones] = await payday(desk, merchant, 1, { msisdns: ['+243810000101'] });
  await payday(desk, merchant, 1);
  if (phones === undefined) throw new Error('no batch');
  const parts = partsAt(world, phones);
  const stopping = new AbortController();
  const looks: (readonly string[])[] = [];
  // One of a shard at a time, so that the second queue is found only without the first.
  const toRun: Store['payoutBatch']['toRun'] = (now, _most, except = []) => {
    looks.push(except);
    if (looks.length === 100) stopping.abort();
    return parts.store.payoutBatch.toRun(now, 1, except);
  };
  const store = { ...parts.store, payoutBatch: { ...parts.store.payoutBatch, toRun } };
  const hasRoomFor: Dispatcher['hasRoomFor'] = ({ merchant_id }) => merchant_id !== merchant.merchant.id;
  const dispatcher = { offer: () => true, hasRoomFor };
  await runDue({ ...parts, store }, { stopping: stopping.signal, dispatcher });
  expect(looks.at(-1)?.toSorted()).toEqual([`${merchant.merchant.id} mobile_money`, `${merchant.merchant.id} wallet`]);
  expect(stopping.signal.aborted).toBe(false);
  await rowsOf(world, 'update payout_batch set next_run_at = null where merchant_id = $1', [merchant.merchant.id]);
});

test('a batch that has to wait for its carriers is put off without reading its lines', async () => {
  const { merchant } = await desk.payer();
  const [one] = await payday(desk, merchant, 3);
  if (one === undefined) throw new Error('no batch');
  const parts = partsAt(world, one);
  let reads = 0;
  const lines: Store['payoutBatch']['lines'] = (...of) => {
    reads += 1;
    return parts.store.payoutBatch.lines(...of);
  };
  const store = { ...parts.store, payoutBatch: { ...parts.store.payoutBatch, lines } };
  const offer = (): boolean => true;
  const hasRoomFor: Dispatcher['hasRoomFor'] = ({ merchant_id }) => merchant_id !== merchant.merchant.id;
  await runDue({ ...parts, store }, { dispatcher: { offer, hasRoomFor } });
  expect([await waiting(world, merchant), reads]).toEqual([3, 0]);
  await runDue({ ...parts, store }, { dispatcher: { offer, hasRoomFor: () => true } });
  expect([await waiting(world, merchant), reads]).toEqual([0, 3]);
});

test('a database that is away ends the run, and is no fault of any batch', async () => {
  const { merchant } = await desk.payer();
  const [one] = await payday(desk, merchant, 3);
  if (one === undefined) throw new Error('no batch');
  const parts = partsAt(world, one);
  let tries = 0;
  const commit: Store['commit'] = () => {
    tries += 1;
    return Promise.reject(new StoreUnavailable());
  };
  const away = { ...parts, store: { ...parts.store, commit } };
  await expect(runDue(away, { isCalm: () => false })).rejects.toThrow('the database cannot be reached');
  expect([tries, await waiting(world, merchant)]).toEqual([1, 3]);
  expect(world.log.lines.filter((line) => line.includes('payout_occurrence_failed'))).toEqual([]);
  await runDue(parts);
  expect(await waiting(world, merchant)).toBe(0);
});

test('a batch that cannot be run is reported, and does not hold up others', async () => {
  const { merchant } = await desk.payer();
  const batches = await payday(desk, merchant, 3);
  const [broken] = batches;
  if (broken === undefined) throw new Error('no batch');
  await rowsOf(world, `update payout_batch set dates = '["x", "y"]', occurrences = 2 where id = $1`, [broken.id]);
  await expect(runDue(partsAt(world, broken))).rejects.toThrow();
  expect(await waiting(world, merchant)).toBe(1);
  expect(world.log.lines.filter((line) => line.includes('payout_occurrence_failed'))).toHaveLength(1);
  expect(world.log.lines.join('\n')).toContain(broken.id);
  await rowsOf(world, 'update payout_batch set next_run_at = null where id = $1', [broken.id]);
});
