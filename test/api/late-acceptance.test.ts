/**
 * A carrier turns a call away (503) and has taken it all the same, as it says later. Whatever has followed by then: no money
 * is sent or booked a second time where that can be known.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Attempt } from '../../src/domain/records.ts';
import { bookLateMoney } from '../../src/usecases/attempt-book.ts';
import { OperatorError } from '../../src/usecases/operator-error.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { callOffRefund } from '../../src/usecases/refund-decide.ts';
import { archive, growOld } from '../support/archive-scenes.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, collect, collectWith, numberEnding, payByPhone, payFromWallet, statusOf } from '../support/flows.ts';
import { givenBack } from '../support/late-verdict.ts';
import { availableOf, commitBatch, lineNow, openPayer } from '../support/payout-lines.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { minted, readBack, refund, refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { type Said, TURNED_AWAY, type WaveringCarrier } from '../support/wavering-carrier.ts';
import { NO_ANSWER, openWaveringDesk, type WaveringDesk } from '../support/wavering-desk.ts';
import type { World } from '../support/world.ts';

let desk: WaveringDesk;
let world: World;
let carrier: WaveringCarrier;
beforeAll(async () => {
  desk = await openWaveringDesk();
  ({ world, carrier } = desk);
});
afterAll(() => desk.close());

/** An order of whose two attempts the first was turned away, and has since been accepted; the second got no answer. */
async function acceptedBefore(order: string): Promise<{ readonly first: Attempt; readonly second: Attempt }> {
  await desk.untilAttempt(order, 1, 'unknown');
  const [first, second] = [await desk.attemptOf(order, 0), await desk.attemptOf(order, 1)];
  carrier.say(second.reference, 'cannot_tell');
  await desk.hearOf(first, 'PENDING');
  expect((await desk.attemptOf(order, 0)).status).toBe('waiting');
  return { first, second };
}

async function paidByPhone() {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money', minted });
  await payByPhone(world, paying, numberEnding('42'));
  await desk.hearOf(await attemptOf(world, paying), 'SUCCESSFUL');
  expect(await statusOf(world, paying)).toBe('approved');
  return { merchant, paying };
}

const passMinutes = async (count: number): Promise<void> => {
  await world.pass(60_000, count);
};

describe('a payout line', () => {
  async function sentTwice() {
    const payer = await openPayer(world, 100_00n);
    carrier.answer(TURNED_AWAY, NO_ANSWER);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    return { payer, line, ...(await acceptedBefore(line.id)) };
  }

  test('whose second attempt was not taken waits for the first, and is neither sent nor called off', async () => {
    const { payer, line, first, second } = await sentTwice();
    // For ten minutes the carrier cannot tell; then it does not know the second attempt.
    await passMinutes(10);
    carrier.say(second.reference, 'not_found');
    await desk.untilAttempt(line.id, 1, 'not_sent');
    expect(await lineNow(world, line)).toMatchObject({ status: 'processing', attempt_id: first.id });
    await cancelPayout(world.gateway.deps, line.batch_id, { by: 'amina', why: 'a test' });
    await passMinutes(5);
    expect(await desk.attemptsOf(line.id)).toHaveLength(2);
    carrier.say(first.reference, 'SUCCESSFUL');
    await until(async () => {
      await world.pass(60_000);
      return (await lineNow(world, line)).status === 'completed' ? true : undefined;
    });
    expect(await availableOf(world, payer)).toBe(89_90n);
  });

  test('whose second attempt was refused waits for the first, and cannot be retried', async () => {
    const { payer, line, first, second } = await sentTwice();
    carrier.say(second.reference, 'FAILED');
    await desk.untilAttempt(line.id, 1, 'declined');
    expect(await lineNow(world, line)).toMatchObject({ status: 'processing', attempt_id: first.id });
    const retry = () =>
      world.call('POST', `/internal/payouts/${line.batch_id}/retry`, { bearer: bearerOf(payer), body: {} });
    expectRefusal(await retry(), 409, '1205', 'NOT_RETRYABLE');
    // Neither has paid: now the line has failed, and its money is back.
    carrier.say(first.reference, 'FAILED');
    await desk.untilAttempt(line.id, 0, 'declined');
    expect((await lineNow(world, line)).status).toBe('failed');
    expect(await availableOf(world, payer)).toBe(100_00n);
    expect((await retry()).status).toBe(200);
  });
});

describe('a refund', () => {
  async function refundedTwice() {
    const { merchant, paying } = await paidByPhone();
    carrier.answer(TURNED_AWAY, NO_ANSWER);
    const { refund_id } = await refunded(world, merchant, paying);
    return { merchant, paying, refund_id, ...(await acceptedBefore(refund_id)) };
  }

  test('whose second attempt was refused waits for the first: no more is refunded than was paid', async () => {
    const { merchant, paying, refund_id, first, second } = await refundedTwice();
    carrier.say(second.reference, 'FAILED');
    await desk.untilAttempt(refund_id, 1, 'declined');
    expect((await readBack(world, merchant, refund_id)).status).toBe('processing');
    const again = await refund(world, merchant, { transaction_id: paying.transaction_id });
    expect(again.status, again.text).not.toBe(201);
    carrier.say(first.reference, 'SUCCESSFUL');
    await desk.untilAttempt(refund_id, 0, 'approved');
    expect((await readBack(world, merchant, refund_id)).status).toBe('completed');
  });

  test('whose second attempt has paid is completed by it, and what the first one pays as well is late', async () => {
    const { merchant, refund_id, first, second } = await refundedTwice();
    await desk.hearOf(second, 'SUCCESSFUL');
    expect((await readBack(world, merchant, refund_id)).status).toBe('completed');
    await desk.hearOf(first, 'SUCCESSFUL');
    expect((await desk.attemptsOf(refund_id)).map(({ status, reason }) => [status, reason])).toEqual([
      ['approved', 'late_success'],
      ['approved', null],
    ]);
    expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  });
});

test('a refund waits while the carrier cannot tell what became of one that was turned away, and called off', async () => {
  const { merchant, paying } = await paidByPhone();
  carrier.answer(TURNED_AWAY);
  const { refund_id: withdrawn } = await refunded(world, merchant, paying);
  await until(async () => ((await desk.attemptsOf(withdrawn))[0]?.status === 'not_sent' ? true : undefined));
  const { reference } = await desk.attemptOf(withdrawn, 0);
  carrier.say(reference, 'cannot_tell');
  await callOffRefund(world.gateway.deps, withdrawn, { by: 'amina', why: 'a test' }, { notTaken: true });
  const { refund_id } = await refunded(world, merchant, paying);
  await passMinutes(5);
  expect(await desk.attemptsOf(refund_id)).toEqual([]);
  carrier.say(reference, 'not_found');
  await desk.untilAttempt(refund_id, 0, 'waiting');
});

describe.each(['payout line', 'refund'] as const)('a %s whose call was turned away', (order) => {
  async function turnedAway() {
    const id = order === 'refund' ? await refundTurnedAway() : await lineTurnedAway();
    await until(async () => ((await desk.attemptsOf(id))[0]?.status === 'not_sent' ? true : undefined));
    return { id, first: await desk.attemptOf(id, 0) };
  }

  async function lineTurnedAway() {
    const payer = await openPayer(world, 100_00n);
    carrier.answer(TURNED_AWAY);
    const [{ id }] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    return id;
  }

  async function refundTurnedAway() {
    const { merchant, paying } = await paidByPhone();
    carrier.answer(TURNED_AWAY);
    return (await refunded(world, merchant, paying)).refund_id;
  }

  test('is not sent again within a minute of the call’s end: until then “not found” proves nothing', async () => {
    const { id, first } = await turnedAway();
    // The call took long, or the clock has been set right meanwhile.
    const slow = "update attempt set created_at = created_at - interval '1 minute' where id = $1";
    await rowsOf(world, slow, [first.id]);
    await world.pass(5_000, 11);
    await world.pass(4_999);
    expect(carrier.asked([first.reference])).toBeGreaterThan(0);
    expect(await desk.attemptsOf(id)).toHaveLength(1);
    await desk.untilAttempt(id, 1, 'waiting');
  });

  test('is not sent again while the carrier cannot tell what became of it', async () => {
    const { id, first } = await turnedAway();
    carrier.say(first.reference, 'cannot_tell');
    await passMinutes(10);
    expect(await desk.attemptsOf(id)).toHaveLength(1);
    carrier.say(first.reference, 'not_found');
    await desk.untilAttempt(id, 1, 'waiting');
  });

  test('goes on with it if the carrier has taken it', async () => {
    const { id, first } = await turnedAway();
    carrier.say(first.reference, 'PENDING');
    await world.pass(5_000, 2);
    expect(await desk.attemptsOf(id)).toMatchObject([{ status: 'waiting' }]);
  });
});

test('a declined payment that its carrier paid without a callback, and while unreachable for two days, is found', async () => {
  const paying = await collect(world, await world.merchant(), { method: 'mobile_money' });
  await payByPhone(world, paying, numberEnding('42'));
  const attempt = await desk.attemptOf(paying.transaction_id, 0);
  await desk.hearOf(attempt, 'FAILED');
  expect(await statusOf(world, paying)).toBe('failed');
  carrier.say(attempt.reference, 'cannot_tell');
  const passDay = async (): Promise<void> => {
    await world.pass(3 * 60 * 60_000, 8);
  };
  await passDay();
  await passDay();
  expect((await desk.attemptOf(paying.transaction_id, 0)).status).toBe('declined');
  carrier.say(attempt.reference, 'SUCCESSFUL');
  await passDay();
  await passDay();
  expect((await attemptOf(world, paying)).reason).toBe('late_success');
});

describe('a payment whose submit was turned away', () => {
  test.each<[Said, string]>([
    ['SUCCESSFUL', 'approved'],
    ['PENDING', 'pending_mobile_money_verification'],
  ])('and that the carrier reports as %s is %s, and is not submitted again', async (said, status) => {
    const { paying, first } = await desk.turnedAway();
    await desk.hearOf(first, said);
    expect(await statusOf(world, paying)).toBe(status);
    expectRefusal(await payByPhone(world, paying, numberEnding('42')), 401, '1001', 'SESSION_CONSUMED');
    expect(await desk.attemptsOf(paying.transaction_id)).toHaveLength(1);
  });

  const bookToMerchant = ({ id }: Attempt) =>
    bookLateMoney(world.gateway.deps, id, { to: 'merchant', by: 'amina', why: 'a test' });

  /** A payment that was submitted again, refused, and then paid by both attempts: too late. */
  async function paidLateTwice() {
    const { paying, first } = await desk.turnedAway();
    await world.clock.advance(1);
    expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(200);
    const second = await desk.attemptOf(paying.transaction_id, 1);
    await desk.hearOf(second, 'FAILED');
    expect(await statusOf(world, paying)).toBe('failed');
    for (const attempt of [first, second]) await desk.hearOf(attempt, 'SUCCESSFUL');
    return { first, second };
  }

  /** A payment whose session was paid from a wallet before it was paid too. */
  async function paidOtherwise() {
    const merchant = await world.merchant();
    const { paying, first } = await desk.turnedAway(merchant);
    const other = { ...paying, ...(await collectWith(world, paying.token, 'none')) };
    expect((await payFromWallet(world, other, await world.wallet())).json.status).toBe('approved');
    expect(await statusOf(world, paying)).toBe('cancelled');
    await desk.hearOf(first, 'SUCCESSFUL');
    return { first, other, merchant };
  }

  test('and which has failed is credited to its merchant once, whichever of its attempts paid late', async () => {
    const { first, second } = await paidLateTwice();
    const booked = await Promise.allSettled([first, second].map(bookToMerchant));
    expect(booked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const attempt of [first, second]) await expect(bookToMerchant(attempt)).rejects.toThrow(OperatorError);
  });

  /** Two payments of one session, submitted some time apart, and both paid too late: one was turned away, the other refused. */
  async function bothPaidLate(apartMs: number) {
    const { paying, first } = await desk.turnedAway();
    await world.clock.advance(apartMs);
    const other = { ...paying, ...(await collectWith(world, paying.token, 'mobile_money')) };
    expect((await payByPhone(world, other, numberEnding('42'))).status).toBe(200);
    const second = await desk.attemptOf(other.transaction_id, 0);
    await desk.hearOf(second, 'FAILED');
    for (const attempt of [first, second]) await desk.hearOf(attempt, 'SUCCESSFUL');
    expect([await statusOf(world, paying), await statusOf(world, other)]).toEqual(['cancelled', 'failed']);
    return [first, second] as const;
  }

  test.each([
    ['earlier', 0],
    ['later', 1],
  ] as const)(
    'and another of its session, both paid late, are credited to their merchant once: the %s one of the two',
    async (_, at) => {
      const both = await bothPaidLate(60_000);
      await bookToMerchant(both[at]);
      await expect(bookToMerchant(both[1 - at] as Attempt)).rejects.toThrow(`was paid by ${both[at].id}`);
    },
  );

  test('and another of its session, both paid late, are credited to their merchant once, if booked at the same time', async () => {
    const both = await bothPaidLate(0);
    const { deps } = world.gateway;
    const held: (() => void)[] = [];
    // Both have found the order unpaid before either is written.
    const commit: typeof deps.store.commit = async (change) => {
      await new Promise<void>((go) => {
        held.push(go);
        if (held.length >= 2) for (const each of held) each();
      });
      return deps.store.commit(change);
    };
    const together = { ...deps, store: { ...deps.store, commit } };
    const booked = await Promise.allSettled(
      both.map(({ id }) => bookLateMoney(together, id, { to: 'merchant', by: 'amina', why: 'a test' })),
    );
    expect(booked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = booked.find(({ status }) => status === 'rejected');
    expect(refused).toMatchObject({ reason: { message: expect.stringContaining('was paid by') } });
  });

  test('and whose session was paid otherwise is not credited to its merchant a second time, even if that was refunded', async () => {
    const { first, other, merchant } = await paidOtherwise();
    await expect(bookToMerchant(first)).rejects.toThrow(`was paid by ${other.transaction_id}`);
    await refunded(world, merchant, other);
    expect(await statusOf(world, other)).toBe('refunded');
    await expect(bookToMerchant(first)).rejects.toThrow(`was paid by ${other.transaction_id}`);
  });

  test('and which has failed is credited to its merchant once, even after years', async () => {
    const { first, second } = await paidLateTwice();
    await bookToMerchant(first);
    await growOld(world);
    await archive(world);
    await expect(bookToMerchant(second)).rejects.toThrow(`was paid by ${first.id}`);
  });

  test('and whose session was paid otherwise years ago is not credited, nor is one that has been archived', async () => {
    const { first } = await paidOtherwise();
    await world.gateway.courier.idle();
    await growOld(world);
    await archive(world);
    await expect(bookToMerchant(first)).rejects.toThrow('was paid by');
    await rowsOf(
      world,
      `with gone as (delete from payment where id = (select payment_id from attempt where id = $1) returning *)
       insert into archive.payment select * from gone`,
      [first.id],
    );
    await expect(bookToMerchant(first)).rejects.toThrow('has been archived: return the money to the payer');
    await bookLateMoney(world.gateway.deps, first.id, givenBack(first.id));
  });
});
