/**
 * Money that leaves for a refund after that has failed: it is listed until a person decides who bears it.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { callOffRefund } from '../../src/usecases/refund-decide.ts';
import { archive, DAY, growOld } from '../support/archive-scenes.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, collect, numberEnding, payByPhone } from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { minted, readBack, refund, refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { TURNED_AWAY } from '../support/wavering-carrier.ts';
import type { World } from '../support/world.ts';

let desk: OutDesk;
let world: World;
beforeAll(async () => {
  desk = await openOutDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());
const inEnglish = (merchant: MerchantCreated) => ({
  bearer: bearerOf(merchant),
  headers: { 'accept-language': 'en' },
});

describe('a refund that failed, and was paid after that', () => {
  async function refundFailed() {
    const merchant = await world.merchant();
    const paying = await collect(world, merchant, { method: 'mobile_money', minted });
    await payByPhone(world, paying, numberEnding('42'));
    await desk.hearOf(await attemptOf(world, paying), 'SUCCESSFUL');
    const { refund_id } = await refunded(world, merchant, paying);
    const attempt = await desk.lastAttempt(refund_id, 'waiting');
    await desk.hearOf(attempt, 'FAILED');
    return { merchant, paying, refund_id, attempt };
  }

  async function refundedLate() {
    const failed = await refundFailed();
    await desk.hearOf(failed.attempt, 'SUCCESSFUL');
    const again = () => refund(world, failed.merchant, { transaction_id: failed.paying.transaction_id });
    return { ...failed, again };
  }

  test('is charged to its merchant, once', async () => {
    const { merchant, refund_id, attempt, again } = await refundedLate();
    expect(await desk.listed()).toContain(attempt.id);
    const read = await world.call('GET', `/internal/refunds/${refund_id}`, inEnglish(merchant));
    expect(read.json).toMatchObject({ status: 'failed', taken_after_all: true });
    expect(read.json.message).toContain('Do not send the money another way.');
    expectRefusal(await again(), 402, '1202', 'REFUND_UNDER_WAY');
    await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
    const moved = await desk.movedBy(merchant, () => desk.book(attempt, 'merchant'));
    expect(moved).toEqual({ available: -12_50n, suspense: 12_50n });
    expectRefusal(await again(), 402, '1202', 'REFUND_UNDER_WAY');
    expect((await readBack(world, merchant, refund_id)).status).toBe('failed');
    await desk.expectSoundBooks();
  });

  describe('after two tries', () => {
    /** A refund whose first try was turned away by its carrier, which now has the second. */
    async function triedTwice() {
      const merchant = await world.merchant();
      const paying = await collect(world, merchant, { method: 'mobile_money', minted });
      await payByPhone(world, paying, numberEnding('42'));
      await desk.hearOf(await attemptOf(world, paying), 'SUCCESSFUL');
      await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
      desk.carrier.answer(TURNED_AWAY);
      const { refund_id } = await refunded(world, merchant, paying);
      const one = await desk.lastAttempt(refund_id, 'not_sent');
      await desk.passMinutes(2);
      return { merchant, one, two: await desk.lastAttempt(refund_id, 'waiting') };
    }

    test('is not charged to its merchant if the other one has returned the money in time', async () => {
      const { merchant, one, two } = await triedTwice();
      for (const tried of [two, one]) await desk.hearOf(tried, 'SUCCESSFUL');
      await expect(desk.book(one, 'merchant')).rejects.toThrow('is completed, so it was paid without this money');
      const moved = await desk.movedBy(merchant, () => desk.book(one, 'gateway'));
      expect(moved).toEqual({ suspense: 12_50n, fees: -12_50n });
      await desk.expectSoundBooks();
    });

    test('is booked to nobody while the other one is open: the refund may still be paid with it', async () => {
      const { merchant, one, two } = await triedTwice();
      await desk.hearOf(one, 'SUCCESSFUL');
      for (const to of ['merchant', 'gateway'] as const)
        await expect(desk.book(one, to)).rejects.toThrow('may still be paid with this money');
      const moved = await desk.movedBy(merchant, () => desk.hearOf(two, 'FAILED'));
      expect(moved).toEqual({ reserved: -12_50n, suspense: 12_50n });
      await desk.expectSoundBooks();
    });

    test('and paid by both, is charged to its merchant once', async () => {
      const { one, two } = await triedTwice();
      await desk.hearOf(two, 'FAILED');
      for (const tried of [one, two]) await desk.hearOf(tried, 'SUCCESSFUL');
      await desk.book(two, 'merchant');
      await expect(desk.book(one, 'merchant')).rejects.toThrow(`was paid by ${two.id}`);
      await desk.book(one, 'upstream');
      await desk.expectSoundBooks();
    });
  });

  test('and which the upstream has taken back can be made again', async () => {
    const { attempt, again } = await refundedLate();
    await desk.book(attempt, 'upstream');
    const made = await again();
    expect(made.status, made.text).toBe(201);
    await desk.lastAttempt(made.json.refund_id, 'waiting');
    await desk.expectSoundBooks();
  });

  test.each([
    ['is booked first', undefined],
    ['is borne by us', 'gateway'],
  ] as const)(
    'as has another refund of the payment: its merchant is charged for one, whether the other %s',
    async (_, to) => {
      const { merchant, paying, attempt } = await refundFailed();
      const { refund_id: second } = await refunded(world, merchant, paying);
      const other = await desk.lastAttempt(second, 'waiting');
      await desk.hearOf(other, 'FAILED');
      for (const one of [attempt, other]) await desk.hearOf(one, 'SUCCESSFUL');
      if (to !== undefined) await desk.book(other, to);
      const moved = await desk.movedBy(merchant, () => desk.book(attempt, 'merchant'));
      expect(moved).toEqual({ available: -12_50n, suspense: 12_50n });
      if (to === undefined) await expect(desk.book(other, 'merchant')).rejects.toThrow('more of');
      await desk.expectSoundBooks();
    },
  );

  test('is not charged to its merchant if another refund has returned the money', async () => {
    const { merchant, paying, attempt } = await refundFailed();
    desk.carrier.answer(TURNED_AWAY);
    const { refund_id: second } = await refunded(world, merchant, paying);
    await desk.lastAttempt(second, 'not_sent');
    await desk.hearOf(attempt, 'SUCCESSFUL');
    await expect(desk.book(attempt, 'merchant')).rejects.toThrow('more of');
    await callOffRefund(world.gateway.deps, second, { by: 'amina', why: 'it has been paid' }, { notTaken: true });
    await desk.book(attempt, 'merchant');
    await desk.expectSoundBooks();
  });

  test('is named in its merchant’s statement by the payment’s reference, though all of it has been archived since', async () => {
    const { merchant, paying, refund_id, attempt } = await refundedLate();
    await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
    await world.gateway.courier.idle();
    await growOld(world);
    await desk.book(attempt, 'merchant');
    await archive(world);
    const live = 'select id from refund where id = $1 union all select id from payment where id = $2';
    expect(await rowsOf(world, live, [refund_id, paying.transaction_id])).toEqual([]);
    const from = new Date(world.gateway.deps.clock.now() - DAY).toISOString();
    const statement = await world.call('GET', `/internal/statement?currency=usd&from=${from}`, inEnglish(merchant));
    expect(statement.json.lines).toMatchObject([
      { cause: 'late_refund', amount: '-12.50', refund_id, customer_reference: paying.reference },
    ]);
    await desk.expectSoundBooks();
  });
});
