/** Refunds that an operator decides on, while their money has left, or may have left, in another way. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attempt } from '../../src/domain/records.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { holdConnector, resumeConnector } from '../../src/usecases/connector-hold.ts';
import { callOffRefund, executeRefund } from '../../src/usecases/refund-decide.ts';
import { startRefund } from '../../src/usecases/refund-start.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, numberEnding, payByPhone } from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { minted, readBack, refund, refunded } from '../support/refund-flows.ts';
import { TURNED_AWAY } from '../support/wavering-carrier.ts';
import type { World } from '../support/world.ts';

let desk: OutDesk;
let world: World;
beforeAll(async () => {
  desk = await openOutDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());

const SAY = { by: 'amina', why: 'seen' };

/** A payment of 12.50 usd by phone, of a merchant that has enough for any refund. */
async function paid() {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money', minted });
  await payByPhone(world, paying, numberEnding('42'));
  await desk.hearOf(await attemptOf(world, paying), 'SUCCESSFUL');
  await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
  return { merchant, paying };
}

/** A payment whose first refund failed, and whose second one the carrier has turned away. `attempt` is of the first one. */
async function refundedTwice() {
  const { merchant, paying } = await paid();
  const { refund_id: first } = await refunded(world, merchant, paying);
  const attempt = await desk.lastAttempt(first, 'waiting');
  await desk.hearOf(attempt, 'FAILED');
  desk.carrier.answer(TURNED_AWAY);
  const { refund_id: second } = await refunded(world, merchant, paying);
  await desk.lastAttempt(second, 'not_sent');
  return { merchant, attempt, second };
}

test('a refund that is held back because an earlier one has paid after all is not carried out by hand', async () => {
  const { merchant, attempt, second } = await refundedTwice();
  await desk.hearOf(attempt, 'SUCCESSFUL');
  const executed = executeRefund(world.gateway.deps, second, { reference: 'BT-1', notTaken: true }, SAY);
  await expect(executed).rejects.toThrow('more of');
  expect((await readBack(world, merchant, second)).status).toBe('pending');
  await callOffRefund(world.gateway.deps, second, SAY, { notTaken: true });
  await desk.book(attempt, 'merchant');
  await desk.expectSoundBooks();
});

test('of a payment that has been given back beyond its amount nothing more is, whether an amount is asked for or all', async () => {
  const { merchant, paying } = await paid();
  const { refund_id: first } = await refunded(world, merchant, paying, { amount: '10.00' });
  const attempt = await desk.lastAttempt(first, 'waiting');
  await desk.hearOf(attempt, 'FAILED');
  const { refund_id: second } = await refunded(world, merchant, paying, { amount: '10.00' });
  await desk.hearOf(await desk.lastAttempt(second, 'waiting'), 'SUCCESSFUL');
  await desk.hearOf(attempt, 'SUCCESSFUL');
  for (const more of [{}, { amount: '0.01' }]) {
    const asked = await refund(world, merchant, { transaction_id: paying.transaction_id, ...more });
    expectRefusal(asked, 402, '1202', 'REFUND_UNDER_WAY');
  }
  await desk.expectSoundBooks();
});

test('a refund is not sent if an earlier one turns out to have paid while it is being sent', async () => {
  const { merchant, attempt, second } = await refundedTwice();
  const { deps } = world.gateway;
  const leased = await deps.store.refund.get(merchant.merchant.shard, second);
  if (leased === undefined) throw new Error('no refund');
  let asked = 0;
  // The upstream's final answer comes between the read and the write.
  const commit: typeof deps.store.commit = async (change) => {
    if (change.inserts?.some(({ table }) => table === 'attempt')) {
      asked += 1;
      await desk.hearOf(attempt, 'SUCCESSFUL');
    }
    return deps.store.commit(change);
  };
  // A gateway that is ahead by as much as its upstream may take to notice what it has turned away.
  const clock = manualClock(deps.clock.now() + 60_000);
  await startRefund({ ...deps, clock, store: { ...deps.store, commit } }, leased);
  expect(asked).toBe(1);
  expect((await desk.attemptsOf(second)).map(({ status }) => status)).toEqual(['not_sent']);
  expect((await readBack(world, merchant, second)).status).toBe('pending');
  await callOffRefund(deps, second, SAY, { notTaken: true });
  await desk.book(attempt, 'merchant');
  await desk.expectSoundBooks();
});

test('a refund is not carried out by hand if an earlier one turns out to have paid while the operator decides', async () => {
  const { merchant, attempt, second } = await refundedTwice();
  const { deps } = world.gateway;
  let decided = 0;
  // The upstream's final answer comes between the read and the write.
  const commit: typeof deps.store.commit = async (change) => {
    decided += 1;
    if (decided === 1) await desk.hearOf(attempt, 'SUCCESSFUL');
    return deps.store.commit(change);
  };
  const byHand = { reference: 'BT-1', notTaken: true };
  const executed = executeRefund({ ...deps, store: { ...deps.store, commit } }, second, byHand, SAY);
  await expect(executed).rejects.toThrow('more of');
  expect(decided).toBe(1);
  expect((await readBack(world, merchant, second)).status).toBe('pending');
  await callOffRefund(deps, second, SAY, { notTaken: true });
  await desk.book(attempt, 'merchant');
  await desk.expectSoundBooks();
});

test('a refund that another process has leased since is left to that process', async () => {
  const { merchant, paying } = await paid();
  desk.carrier.answer(TURNED_AWAY);
  const { refund_id } = await refunded(world, merchant, paying);
  await desk.lastAttempt(refund_id, 'not_sent');
  const { deps } = world.gateway;
  const known = await deps.store.refund.get(merchant.merchant.shard, refund_id);
  if (known === undefined) throw new Error('no refund');
  const due = deps.clock.now() + 60_000;
  const leased = await deps.store.refund.leaseDue(due, due + 30_000, 64, []);
  expect(leased.map(({ id }) => id)).toContain(refund_id);
  await startRefund({ ...deps, clock: manualClock(due) }, known);
  expect((await desk.attemptsOf(refund_id)).map(({ status }) => status)).toEqual(['not_sent']);
  await callOffRefund(deps, refund_id, SAY, { notTaken: true });
});

test('a refund whose last attempt was turned away but taken all the same is not carried out by hand as well', async () => {
  const { merchant, paying } = await paid();
  desk.carrier.answer(TURNED_AWAY);
  const { refund_id } = await refunded(world, merchant, paying);
  const attempt = await desk.lastAttempt(refund_id, 'not_sent');
  desk.carrier.say(attempt.reference, 'SUCCESSFUL');
  const { deps } = world.gateway;
  const executed = executeRefund(deps, refund_id, { reference: 'BT-1' }, SAY);
  await expect(executed).rejects.toThrow(`turned ${refund_id} away`);
  // Unless the operator has checked, the merchant does not get the money either, and afterwards no other refund is carried out.
  await expect(callOffRefund(deps, refund_id, SAY)).rejects.toThrow(`turned ${refund_id} away`);
  expect((await readBack(world, merchant, refund_id)).status).toBe('pending');
  await callOffRefund(deps, refund_id, SAY, { notTaken: true });
  const { refund_id: other } = await refunded(world, merchant, paying);
  const byHand = executeRefund(deps, other, { reference: 'BT-1' }, SAY);
  // The dispatcher inquires about the first one before it sends the other: the operator may come before or after its answer.
  await expect(byHand).rejects.toThrow(new RegExp(`turned ${refund_id} away|more of`));
});

test('nor is another refund of that payment, which no upstream has been asked for, until the operator has checked', async () => {
  const { merchant, paying } = await paid();
  desk.carrier.answer(TURNED_AWAY);
  const { refund_id: first } = await refunded(world, merchant, paying);
  const { connector } = await desk.lastAttempt(first, 'not_sent');
  const { deps } = world.gateway;
  await callOffRefund(deps, first, SAY, { notTaken: true });
  await holdConnector(deps, connector, SAY);
  // By then every process knows of the hold.
  await world.clock.advance(1_000);
  const { refund_id: second } = await refunded(world, merchant, paying);
  await expect(executeRefund(deps, second, { reference: 'BT-1' }, SAY)).rejects.toThrow(`turned ${first} away`);
  expect(await desk.attemptsOf(second)).toEqual([]);
  await executeRefund(deps, second, { reference: 'BT-1', notTaken: true }, SAY);
  expect((await readBack(world, merchant, second)).status).toBe('completed');
  await resumeConnector(deps, connector);
  await world.clock.advance(1_000);
});

test('a refund that was turned away, and that an operator has seen was not taken, is carried out by hand', async () => {
  const { merchant, paying } = await paid();
  desk.carrier.answer(TURNED_AWAY);
  const { refund_id } = await refunded(world, merchant, paying);
  await desk.lastAttempt(refund_id, 'not_sent');
  await executeRefund(world.gateway.deps, refund_id, { reference: 'BT-2', notTaken: true }, SAY);
  expect((await readBack(world, merchant, refund_id)).status).toBe('completed');
});

test.each(['SUCCESSFUL', 'PENDING'] as const)(
  'a refund whose turned-away attempt paid after it was called off (%s) is not paid again',
  async (said) => {
    const { merchant, paying } = await paid();
    desk.carrier.answer(TURNED_AWAY);
    const { refund_id: first } = await refunded(world, merchant, paying);
    const one = await desk.lastAttempt(first, 'not_sent');
    await callOffRefund(world.gateway.deps, first, SAY, { notTaken: true });
    desk.carrier.say(one.reference, said);
    const { refund_id: second } = await refunded(world, merchant, paying);
    await desk.passMinutes(2);
    expect((await desk.attemptsOf(second)).map(({ status }) => status)).toEqual([]);
  },
);

test.each([1, 4])(
  'of five that were called off the last four are inquired about: number %i has paid after all',
  async (at) => {
    const { merchant, paying } = await paid();
    const turnedAway: Attempt[] = [];
    for (let times = 0; times < 5; times += 1) {
      desk.carrier.answer(TURNED_AWAY);
      const { refund_id } = await refunded(world, merchant, paying);
      turnedAway.push(await desk.lastAttempt(refund_id, 'not_sent'));
      await callOffRefund(world.gateway.deps, refund_id, SAY, { notTaken: true });
      // From then on, that the carrier does not know it counts.
      await desk.passMinutes(2);
    }
    desk.carrier.say(turnedAway[at]?.reference ?? '', 'SUCCESSFUL');
    const { refund_id: last } = await refunded(world, merchant, paying);
    await desk.passMinutes(2);
    expect(await desk.attemptsOf(last)).toEqual([]);
    await desk.expectSoundBooks();
  },
);

test('a refund waits while the upstream cannot say what became of one that it turned away and that was called off', async () => {
  const { merchant, paying } = await paid();
  desk.carrier.answer(TURNED_AWAY);
  const { refund_id: first } = await refunded(world, merchant, paying);
  const one = await desk.lastAttempt(first, 'not_sent');
  await callOffRefund(world.gateway.deps, first, SAY, { notTaken: true });
  desk.carrier.say(one.reference, 'cannot_tell');
  const { refund_id: second } = await refunded(world, merchant, paying);
  await desk.passMinutes(5);
  expect(await desk.attemptsOf(second)).toEqual([]);
  desk.carrier.say(one.reference, 'not_found');
  await desk.passMinutes(30);
  expect(await desk.lastAttempt(second, 'waiting')).toMatchObject({ purpose: 'refund' });
});

test('a refund of a part is sent although one that was called off has paid another part after all', async () => {
  const { merchant, paying } = await paid();
  desk.carrier.answer(TURNED_AWAY);
  const { refund_id: first } = await refunded(world, merchant, paying, { amount: '4.00' });
  const one = await desk.lastAttempt(first, 'not_sent');
  await callOffRefund(world.gateway.deps, first, SAY, { notTaken: true });
  await desk.hearOf(one, 'SUCCESSFUL');
  await desk.lastAttempt(first, 'approved');
  const { refund_id: second } = await refunded(world, merchant, paying, { amount: '3.00' });
  expect(await desk.lastAttempt(second, 'waiting')).toMatchObject({ purpose: 'refund' });
});

test('a refund that was turned away, and that an operator has seen was taken, is completed with that payment', async () => {
  const { merchant, paying } = await paid();
  desk.carrier.answer(TURNED_AWAY);
  const { refund_id } = await refunded(world, merchant, paying);
  const attempt = await desk.lastAttempt(refund_id, 'not_sent');
  const { deps } = world.gateway;
  const seen = { paid: true, providerReference: 'P-1', ...SAY };
  await decideAttempt(deps, attempt.id, seen);
  expect((await readBack(world, merchant, refund_id)).status).toBe('completed');
  await expect(decideAttempt(deps, attempt.id, seen)).rejects.toThrow('is closed');
  // What the upstream says about it later is not a second payment.
  await desk.hearOf(attempt, 'SUCCESSFUL');
  expect((await desk.attemptsOf(refund_id)).map(({ status }) => status)).toEqual(['approved']);
  await desk.expectSoundBooks();
});
