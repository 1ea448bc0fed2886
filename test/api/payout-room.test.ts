/**
 * How much of a payday is begun: what memory has room for, including claimed lines and newcomers.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PayoutBatch } from '../../src/domain/outgoing-records.ts';
import { START_LEASE_MS } from '../../src/domain/payout.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { approvePayout } from '../../src/usecases/payout-approve.ts';
import { startDue } from '../../src/usecases/payout-claim.ts';
import { createDispatcher, type Dispatcher } from '../../src/usecases/payout-dispatch.ts';
import { numberEnding } from '../support/flows.ts';
import { makeBatch } from '../support/payout-batches.ts';
import { type Desk, openDesk, SAY } from '../support/payout-desk.ts';
import { commitBatch } from '../support/payout-lines.ts';
import { gated, partsAt, payday, runDue } from '../support/payout-paydays.ts';
import type { World } from '../support/world.ts';

let desk: Desk;
let world: World;

beforeAll(async () => {
  desk = await openDesk();
  world = desk.world;
});
afterAll(() => desk.close());

/** Records the lines that the dispatcher does not accept. */
function noteRefused(dispatcher: Dispatcher) {
  const refused: string[] = [];
  const offer: Dispatcher['offer'] = (line, from) => {
    const isTaken = dispatcher.offer(line, from);
    if (!isTaken) refused.push(line.id);
    return isTaken;
  };
  return { refused, offer };
}

test('lines that wait in the database are claimed beside a payday, and before more of it is begun', async () => {
  const { merchant } = await desk.payer(undefined, 10_000_00n);
  const waited = await desk.payer(1n);
  const msisdns = [numberEnding('11')];
  const approved = await makeBatch(world, waited.merchant, { msisdns });
  const batches = await payday(desk, merchant, 4, { msisdns });
  const [one] = batches;
  if (one === undefined) throw new Error('no batch');
  const parts = partsAt(world, one);
  await approvePayout(parts, approved.id, SAY);
  const { connectors, open } = gated(parts);
  const limits = { atReceiver: 1, inAll: 8, waitingAtReceiver: 100, waitingInAll: 200 };
  const dispatcher = createDispatcher({ ...parts, connectors }, limits, 1);
  await runDue(parts, { dispatcher });
  expect(dispatcher.busy()).toEqual([]);
  const now = parts.clock.now();
  const claimed = await parts.store.payoutLine.leaseDue(now, now + START_LEASE_MS, 256, dispatcher.busy());
  const line = claimed.find(({ batch_id }) => batch_id === approved.id);
  if (line === undefined) throw new Error('it was not claimed');
  expect(dispatcher.offer(line, 'claim')).toBe(true);
  expect(dispatcher.busy()).toEqual([line.connector]);
  const third = await desk.payer();
  const more = { merchant_id: third.merchant.merchant.id, beneficiaries: one.beneficiaries };
  expect(dispatcher.hasRoomFor(more)).toBe(false);
  open();
  await dispatcher.idle();
  expect([dispatcher.busy(), dispatcher.hasRoomFor(more)]).toEqual([[], true]);
  await dispatcher.close();
});

/** Runs what is due with that batch when ten lines may wait, and no carrier answers before `open`. */
async function runInTenPlaces(batch: PayoutBatch) {
  const parts = partsAt(world, batch);
  const { connectors, open } = gated(parts);
  const limits = { atReceiver: 1, inAll: 8, waitingAtReceiver: 100, waitingInAll: 10 };
  const dispatcher = createDispatcher({ ...parts, connectors }, limits);
  const { refused, offer } = noteRefused(dispatcher);
  const begun = await runDue(parts, { dispatcher: { ...dispatcher, offer }, isCalm: () => false });
  return { dispatcher, open, begun, refused };
}

test('half of the memory is left to claimed lines, and a newcomer has room', async () => {
  const { merchant } = await desk.payer(undefined, 10_000_00n);
  const newcomer = await desk.payer();
  const batches = await payday(desk, merchant, 12, { msisdns: [numberEnding('11')] });
  const [one] = batches;
  if (one === undefined) throw new Error('no batch');
  const { dispatcher, open, begun, refused } = await runInTenPlaces(one);
  // One is with the carrier, and three wait: as much as is left of the half.
  expect([begun, refused]).toEqual([4, []]);
  const { beneficiaries } = one;
  const hasRoom = (merchant_id: string): boolean => dispatcher.hasRoomFor({ merchant_id, beneficiaries });
  expect([hasRoom(merchant.merchant.id), hasRoom(newcomer.merchant.merchant.id)]).toEqual([false, true]);
  open();
  await dispatcher.close();
});

test('newcomers find no room once memory is three quarters full, so that nothing begun is refused', async () => {
  const many = await Promise.all(Array.from({ length: 30 }, () => desk.payer()));
  const msisdns = [numberEnding('11')];
  const [first] = await Promise.all(many.map(({ merchant }) => payday(desk, merchant, 1, { msisdns })));
  const [one] = first ?? [];
  if (one === undefined) throw new Error('no batch');
  const { dispatcher, open, begun, refused } = await runInTenPlaces(one);
  // One is with the carrier, and eight wait.
  expect([begun, refused]).toEqual([9, []]);
  open();
  await dispatcher.close();
});

test('no more is claimed in a run once memory is full', async () => {
  const { merchant } = await desk.payer(undefined, 10_000_00n);
  const payees = Array.from({ length: 100 }, () => ({ msisdn: numberEnding('11'), amount: '1.00' }));
  const nextStartAt = world.clock.now();
  for (let batches = 0; batches < 6; batches += 1) await commitBatch(world, merchant, payees, { nextStartAt });
  const { deps } = world.gateway;
  const { connectors, open } = gated(deps);
  const limits = { atReceiver: 1, inAll: 8, waitingAtReceiver: 100, waitingInAll: 1 };
  const dispatcher = createDispatcher({ ...deps, connectors }, limits, 1);
  const after: typeof deps.clock.after = (_, patienceIsOver) => {
    patienceIsOver();
    return () => undefined;
  };
  const clock = { ...deps.clock, after };
  expect([await startDue({ ...deps, clock }, dispatcher), dispatcher.isFull()]).toEqual([256, true]);
  // What it has claimed counts as that.
  expect(dispatcher.busy()).toEqual(['mtn-momo']);
  expect(await startDue({ ...deps, clock }, dispatcher)).toBe(0);
  open();
  await dispatcher.idle();
  // What it had no room for does not.
  expect(dispatcher.busy()).toEqual([]);
  await dispatcher.close();
});

test('lines to wallets, too, are claimed while memory has room for them, and hold up none to phones', async () => {
  const { merchant, wallets } = await desk.payer();
  const [wallet = ''] = wallets;
  const { deps } = world.gateway;
  const limits = { atReceiver: 1, inAll: 8, waitingAtReceiver: 100, waitingInAll: 200 };
  const dispatcher = createDispatcher(deps, limits, 1);
  const lines = await commitBatch(world, merchant, [{ wallet }, { wallet }], { nextStartAt: null });
  const due = { nextStartAt: deps.clock.now() };
  const [toWallet] = await commitBatch(world, merchant, [{ wallet }], due);
  const [toPhone] = await commitBatch(world, merchant, [{ msisdn: numberEnding('11') }], due);
  for (const line of lines) {
    expect(dispatcher.offer({ ...line, next_start_at: deps.clock.now() + START_LEASE_MS }, 'claim')).toBe(true);
  }
  // One of them is being paid, and one waits.
  const now = deps.clock.now();
  const all = 10_000;
  const claimed = await deps.store.payoutLine.leaseDue(now, now + START_LEASE_MS, all, dispatcher.busy());
  const isClaimed = ({ id }: { readonly id: string }): boolean => claimed.some((line) => line.id === id);
  expect([isClaimed(toWallet), isClaimed(toPhone)]).toEqual([false, true]);
  await dispatcher.idle();
  expect(dispatcher.busy()).toEqual([]);
  await dispatcher.close();
});

test('lines that wait for a slow carrier hold a batch back, though it also uses a carrier with room', async () => {
  const { merchant } = await desk.payer(undefined, 10_000_00n);
  const other = await desk.payer();
  const payees = Array.from({ length: 9 }, () => ({ msisdn: numberEnding('11') }));
  const lines = await commitBatch(world, merchant, payees, { nextStartAt: null });
  const { deps } = world.gateway;
  const { connectors, open } = gated(deps);
  const limits = { atReceiver: 1, inAll: 8, waitingAtReceiver: 100, waitingInAll: 200 };
  const dispatcher = createDispatcher({ ...deps, connectors }, limits, 2);
  const both = [{ connector: lines[0].connector }, { connector: 'another' }];
  const hasRoom = ({ merchant: { id } }: MerchantCreated): boolean =>
    dispatcher.hasRoomFor({ merchant_id: id, beneficiaries: both });
  const rooms: boolean[] = [];
  for (const line of lines) {
    rooms.push(hasRoom(merchant));
    expect(dispatcher.offer({ ...line, next_start_at: deps.clock.now() + START_LEASE_MS })).toBe(true);
  }
  // One is with the carrier, and four times as many as enough wait.
  expect([rooms, hasRoom(merchant), hasRoom(other.merchant)]).toEqual([Array(9).fill(true), false, true]);
  open();
  await dispatcher.close();
});
