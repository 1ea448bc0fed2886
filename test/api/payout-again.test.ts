/**
 * A line that pays a failed one again, while that one was paid after all: nobody is paid twice, and no merchant pays twice.
 */

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { PayoutLine } from '../../src/domain/outgoing-records.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { readMigrations } from '../../src/store/migrate.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { archive, growOld } from '../support/archive-scenes.ts';
import { expectRefusal } from '../support/envelope.ts';
import { numberEnding } from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { availableOf, commitBatch, lineNow, openPayer, payoutHooks, untilLine } from '../support/payout-lines.ts';
import { rowsOf } from '../support/rows.ts';
import { type Said, TURNED_AWAY } from '../support/wavering-carrier.ts';
import type { World } from '../support/world.ts';

let desk: OutDesk;
let world: World;
beforeAll(async () => {
  desk = await openOutDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());

/** What has been logged about a line: the event, the failed line that it pays again, and an attempt. */
function logged(line: PayoutLine): unknown[][] {
  const found = world.log.lines.map((one) => JSON.parse(one)).filter((one) => one.transaction_id === line.id);
  return found.map(({ event, paid_again, attempt_id }) => [event, paid_again, attempt_id]);
}

describe('a line that pays a failed one again', () => {
  /** A retry line whose first attempt was turned away, so that it waits. */
  async function waiting(balance = 100_00n) {
    const payer = await openPayer(world, balance);
    const first = await desk.failed(payer);
    desk.carrier.answer(TURNED_AWAY);
    const again = await desk.retried(payer, first.line);
    const attempt = await desk.lastAttempt(again.id, 'not_sent');
    return { payer, first, again, attempt };
  }

  test('is paid by the failed line’s late money, and is not sent', async () => {
    const { payer, first, again } = await waiting();
    await desk.hearOf(first.attempt, 'SUCCESSFUL');
    await expect(desk.book(first.attempt, 'merchant')).rejects.toThrow(
      'may still be paid with this money: wait until it has ended',
    );
    const moved = await desk.movedBy(payer, () => untilLine(world, again, 'completed', 5_000));
    expect(moved).toEqual({ reserved: -10_00n, suspense: 10_00n });
    expect(await desk.attemptsOf(again.id)).toHaveLength(1);
    expect(logged(again)).toContainEqual(['payout_was_paid_before', first.line.id, first.attempt.id]);
    expect(await lineNow(world, first.line)).toMatchObject({ status: 'failed', late_attempt_id: first.attempt.id });
    const [late] = await desk.attemptsOf(first.line.id);
    expect(late?.reason).toBe('late_success_kept');
    expect((await lineNow(world, again)).provider_reference).toBe(late?.provider_reference);
    expect((await payoutHooks(world, again)).at(-1)?.body.status).toBe('completed');
    expect(await desk.listed()).not.toContain(first.attempt.id);
    expect(await availableOf(world, payer)).toBe(90_00n);
    await expect(desk.book(first.attempt, 'upstream')).rejects.toThrow('its order was completed with it');
    await desk.expectSoundBooks();
  });

  test.each<[Said, PayoutLine['status'], number]>([
    ['SUCCESSFUL', 'completed', 1],
    ['FAILED', 'processing', 2],
  ])('waits while the failed line may still pay, which then is %s', async (said, status, attempts) => {
    const payer = await openPayer(world, 100_00n);
    const { line, one: taken, two } = await desk.attemptedTwice(payer);
    await desk.hearOf(two, 'FAILED');
    desk.carrier.answer(TURNED_AWAY);
    const again = await desk.retried(payer, line);
    await desk.lastAttempt(again.id, 'not_sent');
    await desk.hearOf(taken, 'PENDING');
    await desk.passMinutes(30);
    expect(await desk.attemptsOf(again.id)).toHaveLength(1);
    const heldBack = logged(again).filter(([event]) => event === 'payout_held_back');
    expect(heldBack).toContainEqual(['payout_held_back', line.id, undefined]);
    // Looked at again after longer and longer, and not each time that a lease has run out.
    expect(heldBack.length).toBeLessThan(20);
    await expect(desk.book(taken, 'gateway')).rejects.toThrow('is waiting, and none of its money is in suspense');
    await desk.hearOf(taken, said);
    await untilLine(world, again, status, 30_000);
    expect(await desk.attemptsOf(again.id)).toHaveLength(attempts);
    await desk.expectSoundBooks();
  });

  test('is not sent if the failed line turns out to be paid while the retry is being sent', async () => {
    // All but 0.10 is reserved: that the rest is too little says nothing of a line that is.
    const { payer, first, again } = await waiting(10_10n);
    const { deps } = world.gateway;
    // The carrier's final answer comes between the read and the write.
    const commit: typeof deps.store.commit = async (change) => {
      if (change.inserts?.some(({ table }) => table === 'attempt')) await desk.hearOf(first.attempt, 'SUCCESSFUL');
      return deps.store.commit(change);
    };
    const leased = await lineNow(world, again);
    const merchant = await deps.store.merchant.get(payer.merchant.shard, payer.merchant.id);
    if (merchant === undefined) throw new Error('the merchant is gone');
    // A gateway that is ahead by as much as its carrier may take to notice what it has turned away.
    const clock = manualClock(deps.clock.now() + 60_000);
    await startLine({ ...deps, clock, store: { ...deps.store, commit } }, leased, merchant);
    expect(await lineNow(world, again)).toMatchObject({ status: 'completed', tries: 1 });
    expect(await desk.attemptsOf(again.id)).toHaveLength(1);
    expect(await availableOf(world, payer)).toBe(10n);
    await desk.expectSoundBooks();
  });

  test('is also paid by late money of the line two generations before', async () => {
    const { payer, first, again, attempt } = await waiting();
    await desk.passMinutes(2);
    await desk.hearOf(await desk.lastAttempt(again.id, 'waiting'), 'FAILED');
    expect(attempt.status).toBe('not_sent');
    desk.carrier.answer(TURNED_AWAY);
    const third = await desk.retried(payer, again);
    await desk.lastAttempt(third.id, 'not_sent');
    await desk.hearOf(first.attempt, 'SUCCESSFUL');
    await untilLine(world, third, 'completed', 5_000);
    expect(await desk.attemptsOf(third.id)).toHaveLength(1);
    expect(await availableOf(world, payer)).toBe(90_00n);
    await desk.expectSoundBooks();
  });

  test('that failed as well is not paid again once the first line was paid, and is charged to its merchant once', async () => {
    const { payer, first, again } = await waiting();
    await desk.passMinutes(2);
    const second = await desk.lastAttempt(again.id, 'waiting');
    await desk.hearOf(second, 'FAILED');
    await desk.hearOf(first.attempt, 'SUCCESSFUL');
    expectRefusal(await desk.retry(payer, again.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    expectRefusal(await desk.retry(payer, again.batch_id, [again.id]), 409, '1205', 'TAKEN_AFTER_ALL');
    await desk.hearOf(second, 'SUCCESSFUL');
    await desk.book(first.attempt, 'merchant');
    await expect(desk.book(second, 'merchant')).rejects.toThrow(`was paid by ${first.attempt.id}`);
    await desk.book(second, 'gateway');
    expect(await availableOf(world, payer)).toBe(89_90n);
    await desk.expectSoundBooks();
  });

  test('and was paid late as well is paid once more after the upstream has given the money of both back', async () => {
    const { payer, first, again } = await waiting();
    await desk.passMinutes(2);
    const second = await desk.lastAttempt(again.id, 'waiting');
    await desk.hearOf(second, 'FAILED');
    for (const attempt of [first.attempt, second]) await desk.hearOf(attempt, 'SUCCESSFUL');
    for (const attempt of [first.attempt, second]) await desk.book(attempt, 'upstream');
    for (const line of [first.line, again]) expect((await lineNow(world, line)).late_attempt_id).toBeNull();
    expect((await desk.retry(payer, again.batch_id)).status).toBe(200);
    await desk.expectSoundBooks();
  });

  test('is charged to its merchant once if the late money of both lines is booked at the same time', async () => {
    const { payer, first, again } = await waiting();
    await desk.passMinutes(2);
    const second = await desk.lastAttempt(again.id, 'waiting');
    await desk.hearOf(second, 'FAILED');
    for (const attempt of [first.attempt, second]) await desk.hearOf(attempt, 'SUCCESSFUL');
    const { deps } = world.gateway;
    let isFirst = true;
    const commit: typeof deps.store.commit = async (change) => {
      const comesFirst = isFirst;
      isFirst = false;
      if (comesFirst) await desk.book(first.attempt, 'merchant');
      return deps.store.commit(change);
    };
    const behind = { ...deps, store: { ...deps.store, commit } };
    const booked = bookLateMoney(behind, second.id, { to: 'merchant', by: 'bahati', why: 'they wrote' });
    await expect(booked).rejects.toThrow(`was paid by ${first.attempt.id}`);
    expect(await availableOf(world, payer)).toBe(89_90n);
    await desk.expectSoundBooks();
  });

  test('is not paid again even after the first line’s money has been booked, and years have passed', async () => {
    const { payer, first, again } = await waiting();
    await desk.passMinutes(2);
    const second = await desk.lastAttempt(again.id, 'waiting');
    await desk.hearOf(first.attempt, 'SUCCESSFUL');
    await growOld(world);
    await desk.hearOf(second, 'FAILED');
    await desk.book(first.attempt, 'merchant');
    await archive(world);
    expectRefusal(await desk.retry(payer, again.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    expect(await availableOf(world, payer)).toBe(89_90n);
    await desk.expectSoundBooks();
  });

  test.each([
    ['is found to have left', false, 100_00n],
    ['is being booked to its merchant', true, 89_90n],
  ])('is not made while the first line’s money %s', async (_, isBooked, available) => {
    const { payer, first, again } = await waiting();
    await desk.passMinutes(2);
    await desk.hearOf(await desk.lastAttempt(again.id, 'waiting'), 'FAILED');
    const { store } = world.gateway;
    const commit = store.commit.bind(store);
    const spy = vi.spyOn(store, 'commit').mockImplementation(async (change) => {
      if (!change.claims?.some(({ table }) => table === 'payout_batch')) return commit(change);
      spy.mockRestore();
      await desk.hearOf(first.attempt, 'SUCCESSFUL');
      if (isBooked) await desk.book(first.attempt, 'merchant');
      return commit(change);
    });
    expectRefusal(await desk.retry(payer, again.batch_id), 409, '1205', 'TAKEN_AFTER_ALL');
    expect(await availableOf(world, payer)).toBe(available);
    await desk.expectSoundBooks();
  });

  test('and was paid in time: the failed line’s late money is borne by the upstream or us, not the merchant', async () => {
    const { payer, first, again } = await waiting();
    await desk.passMinutes(2);
    await desk.hearOf(await desk.lastAttempt(again.id, 'waiting'), 'SUCCESSFUL');
    await desk.hearOf(first.attempt, 'SUCCESSFUL');
    await expect(desk.book(first.attempt, 'merchant')).rejects.toThrow(`was paid by ${again.id}`);
    await desk.book(first.attempt, 'upstream');
    expect(await availableOf(world, payer)).toBe(90_00n);
    await desk.expectSoundBooks();
  });

  test('and was paid in time, though archived since: the merchant does not bear the failed line’s late money', async () => {
    const { payer, first, again } = await waiting();
    await desk.passMinutes(2);
    await desk.hearOf(await desk.lastAttempt(again.id, 'waiting'), 'SUCCESSFUL');
    await desk.hearOf(first.attempt, 'SUCCESSFUL');
    await payoutHooks(world, again);
    await growOld(world);
    await archive(world);
    expect(await world.gateway.store.payoutLine.get(again.shard, again.id)).toBeUndefined();
    await expect(desk.book(first.attempt, 'merchant')).rejects.toThrow(`was paid by ${again.id}`);
    expect(await availableOf(world, payer)).toBe(90_00n);
    await desk.expectSoundBooks();
  });

  test('is recognised as one even if it was made before lines recorded what they pay again', async () => {
    const { first, again } = await waiting();
    // As the previous version left them: no line recorded, and money that has paid its order shown as if it waited.
    await rowsOf(world, 'update payout_line set retry_of = null where retry_of is not null');
    const paid = await openPayer(world, 100_00n);
    const [line] = await commitBatch(world, paid, [{ msisdn: numberEnding('42') }]);
    const paidBy = await desk.lastAttempt(line.id, 'waiting');
    await desk.hearOf(paidBy, 'SUCCESSFUL');
    await rowsOf(world, "update attempt set reason = 'late_success' where payment_id = $1", [line.id]);
    const wrong = await desk.paidLate(paid);
    const migration = readMigrations().find(({ name }) => name.startsWith('0013'))?.sql ?? '';
    const updates = migration
      .replaceAll(/--.*$/gm, '')
      .split(';')
      .filter((one) => one.trim().startsWith('update'));
    expect(updates).toHaveLength(2);
    for (const update of updates) await rowsOf(world, update);
    expect((await lineNow(world, again)).retry_of).toBe(first.line.id);
    const listed = await desk.listed();
    expect(listed).toContain(wrong.attempt.id);
    expect(listed).not.toContain(paidBy.id);
    await desk.hearOf(first.attempt, 'SUCCESSFUL');
    await untilLine(world, again, 'completed', 5_000);
    expect(await desk.attemptsOf(again.id)).toHaveLength(1);
  });
});
