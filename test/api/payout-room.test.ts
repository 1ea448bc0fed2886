/**
 * How much of a payday is begun: what memory has room for, claimed lines and newcomers included.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { START_LEASE_MS } from '../../src/domain/payout.ts';
import { approvePayout } from '../../src/usecases/payout-approve.ts';
import { createDispatcher, type Dispatcher } from '../../src/usecases/payout-dispatch.ts';
import { runDuePayouts } from '../../src/usecases/payout-run.ts';
import type { World } from '../support/world.ts';
import { numberEnding } from './flows.ts';
import { makeBatch } from './payout-batches.ts';
import { type Desk, openDesk, SAY } from './payout-desk.ts';
import { gated, partsAt, payday } from './payout-paydays.ts';

let desk: Desk;
let world: World;

beforeAll(async () => {
  desk = await openDesk();
  world = desk.world;
});
afterAll(() => desk.close());

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
  await runDuePayouts(parts, { dispatcher });
  expect(dispatcher.busy()).toEqual([]);
  const now = parts.clock.now();
  const claimed = await parts.store.payoutLine.claimDue(now, now + START_LEASE_MS, 256, dispatcher.busy());
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

test('half of the room in memory is left to lines that are claimed, and a newcomer has a place', async () => {
  const { merchant } = await desk.payer(undefined, 10_000_00n);
  const newcomer = await desk.payer();
  const batches = await payday(desk, merchant, 12, { msisdns: [numberEnding('11')] });
  const [one] = batches;
  if (one === undefined) throw new Error('no batch');
  const parts = partsAt(world, one);
  const { connectors, open } = gated(parts);
  const limits = { atReceiver: 1, inAll: 8, waitingAtReceiver: 100, waitingInAll: 10 };
  const dispatcher = createDispatcher({ ...parts, connectors }, limits);
  const refused: string[] = [];
  const offer: Dispatcher['offer'] = (line, from) => {
    const isTaken = dispatcher.offer(line, from);
    if (!isTaken) refused.push(line.id);
    return isTaken;
  };
  // One is with the carrier, and three wait: as much as is left of the half.
  const begun = await runDuePayouts(parts, { dispatcher: { ...dispatcher, offer }, isCalm: () => false });
  expect([begun, refused]).toEqual([4, []]);
  const { beneficiaries } = one;
  const hasRoom = (merchant_id: string): boolean => dispatcher.hasRoomFor({ merchant_id, beneficiaries });
  expect([hasRoom(merchant.merchant.id), hasRoom(newcomer.merchant.merchant.id)]).toEqual([false, true]);
  open();
  await dispatcher.close();
});
