/**
 * The commit before the carrier is called takes effect, and its answer is lost: what follows is decided on rows that include it.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../../src/connectors/testing/scripted-upstream.ts';
import { type Change, guardedUpdate } from '../../src/domain/change.ts';
import type { PayoutLine, Refund } from '../../src/domain/outgoing-records.ts';
import type { Attempt } from '../../src/domain/records.ts';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { memoryLog } from '../../src/platform/testing/memory-log.ts';
import { CommitUnknown } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/store.ts';
import { settleOutgoingInquiry } from '../../src/usecases/attempt-outgoing.ts';
import { settleByInquiry } from '../../src/usecases/attempt-settle.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import { collectPayment } from '../../src/usecases/payment-collect.ts';
import { submitPayment } from '../../src/usecases/payment-submit.ts';
import { startLine } from '../../src/usecases/payout-start.ts';
import { startRefund } from '../../src/usecases/refund-start.ts';
import { capturesOf } from '../support/card-payments.ts';
import { BY_TOKEN, callerBy, callerOf, plainly, submitOf } from '../support/direct-calls.ts';
import { collect, numberEnding, payByPhone } from '../support/flows.ts';
import { type OutDesk, openOutDesk } from '../support/late-out-desk.ts';
import { availableOf, commitBatch, lineNow, openPayer, untilLine } from '../support/payout-lines.ts';
import { attemptOf } from '../support/phone-payments.ts';
import { minted, refunded } from '../support/refund-flows.ts';
import { type Said, TURNED_AWAY } from '../support/wavering-carrier.ts';
import { mint, type World } from '../support/world.ts';

const REFUSED: Reply = { status: 500, body: '{"code":"PAYEE_NOT_FOUND"}' };

let desk: OutDesk;
let world: World;
beforeAll(async () => {
  desk = await openOutDesk();
  ({ world } = desk);
});
afterAll(() => desk.close());

const opens = (change: Change): boolean => change.inserts?.some(({ table }) => table === 'attempt') === true;

/** Far enough ahead for the carrier to have noticed an attempt that it has turned away but taken. */
const ahead = (store: Partial<Store>): Deps => {
  const { deps } = world.gateway;
  return { ...deps, clock: manualClock(deps.clock.now() + 60_000), store: { ...deps.store, ...store } };
};

/** Another process hears that the upstream has refused the attempt. */
async function refuse(attempt: Attempt): Promise<void> {
  const { deps } = world.gateway;
  const answer = { kind: 'declined', reason: 'carrier_failed', providerReference: null } as const;
  const said = { answer, at: deps.clock.now() };
  if (attempt.purpose !== 'payment') await settleOutgoingInquiry(deps, attempt, said, 'hint');
  else await settleByInquiry(deps, attempt, undefined, said, 'hint');
}

/** Loses the answer of the first commit that opens an attempt; `meanwhile` happens before anything is read. */
function losing(meanwhile: () => Promise<void>): Partial<Store> {
  const { store } = world.gateway.deps;
  let isFirst = true;
  return {
    async commit(change) {
      const outcome = await store.commit(change);
      if (!isFirst || !opens(change)) return outcome;
      isFirst = false;
      await meanwhile();
      throw new CommitUnknown();
    },
  };
}

/** Loses the answer of the first commit that opens an attempt, which takes effect only once its order has been read. */
function late(read: 'payment' | 'payoutLine' | 'refund'): Partial<Store> {
  const { store } = world.gateway.deps;
  let lost: Change | undefined;
  let reading: Promise<unknown> = Promise.resolve();
  const get = async (shard: number, id: string): Promise<never> => {
    const row = store[read].get(shard, id);
    reading = row;
    return row as Promise<never>;
  };
  return {
    commit(change) {
      if (lost !== undefined || !opens(change)) return store.commit(change);
      lost = change;
      return Promise.reject(new CommitUnknown());
    },
    [read]: { ...store[read], get },
    attempt: {
      ...store.attempt,
      async get(shard, id) {
        await reading;
        if (lost !== undefined && opens(lost)) {
          const happens = lost;
          lost = {};
          expect(await store.commit(happens)).toBe('won');
        }
        return store.attempt.get(shard, id);
      },
    },
  };
}

describe('a payout line', () => {
  test.each<[Said, PayoutLine['status'], Attempt['status']]>([
    ['PENDING', 'processing', 'waiting'],
    ['SUCCESSFUL', 'completed', 'approved'],
  ])('whose earlier attempt is meanwhile known to be %s: nothing more is sent', async (said, status, earlier) => {
    const payer = await openPayer(world, 100_00n);
    desk.carrier.answer(TURNED_AWAY);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    const one = await desk.lastAttempt(line.id, 'not_sent');
    const deps = ahead(losing(() => desk.hearOf(one, said)));
    const { outcome, written } = await startLine(deps, await lineNow(world, line), payer.merchant);
    await written;
    expect(outcome).toBe('not_called');
    expect((await desk.attemptsOf(line.id)).map((attempt) => attempt.status)).toEqual([earlier, 'not_sent']);
    expect(await lineNow(world, line)).toMatchObject({ status, attempt_id: one.id });
    await desk.hearOf(one, 'SUCCESSFUL');
    expect((await lineNow(world, line)).status).toBe('completed');
    expect(await availableOf(world, payer)).toBe(89_90n);
    await desk.expectSoundBooks();
  });

  test('that pays a failed one again, which is meanwhile known to be paid: it is not sent, but paid by that money', async () => {
    const payer = await openPayer(world, 100_00n);
    const first = await desk.failed(payer);
    desk.carrier.answer(TURNED_AWAY);
    const again = await desk.retried(payer, first.line);
    await desk.lastAttempt(again.id, 'not_sent');
    const deps = ahead(losing(() => desk.hearOf(first.attempt, 'SUCCESSFUL')));
    const { outcome, written } = await startLine(deps, await lineNow(world, again), payer.merchant);
    await written;
    expect(outcome).toBe('not_called');
    await untilLine(world, again, 'completed', 5_000);
    expect((await desk.attemptsOf(again.id)).map(({ status }) => status)).toEqual(['not_sent', 'not_sent']);
    expect(await availableOf(world, payer)).toBe(90_00n);
    await desk.expectSoundBooks();
  });

  test('that pays a failed one again, which meanwhile may yet be paid: it is not sent, and waits for that one', async () => {
    const payer = await openPayer(world, 100_00n);
    const { line, one, two } = await desk.attemptedTwice(payer);
    await desk.hearOf(two, 'FAILED');
    desk.carrier.answer(TURNED_AWAY);
    const again = await desk.retried(payer, line);
    await desk.lastAttempt(again.id, 'not_sent');
    const deps = ahead(losing(() => desk.hearOf(one, 'PENDING')));
    const { outcome, written } = await startLine(deps, await lineNow(world, again), payer.merchant);
    await written;
    expect(outcome).toBe('not_called');
    await desk.hearOf(one, 'SUCCESSFUL');
    await untilLine(world, again, 'completed', 30_000);
    expect((await desk.attemptsOf(again.id)).map(({ status }) => status)).toEqual(['not_sent', 'not_sent']);
    expect(await availableOf(world, payer)).toBe(90_00n);
    await desk.expectSoundBooks();
  });

  test('that was read before its own commit took effect: it ends with its carrier’s answer', async () => {
    const payer = await openPayer(world, 100_00n);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }], { nextStartAt: null });
    desk.carrier.answer(REFUSED);
    const { written } = await startLine(ahead(late('payoutLine')), line, payer.merchant);
    await written;
    expect((await desk.attemptsOf(line.id)).map(({ status }) => status)).toEqual(['declined']);
    expect(await lineNow(world, line)).toMatchObject({ status: 'failed', reserved_at: null });
    await desk.expectSoundBooks();
  });

  test('whose commit was lost is sent although its merchant has nothing left: its own money is reserved', async () => {
    const payer = await openPayer(world, 10_10n);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }], { nextStartAt: null });
    const { store } = world.gateway.deps;
    let isFirst = true;
    const commit: Store['commit'] = async (change) => {
      if (!isFirst) return store.commit(change);
      isFirst = false;
      throw new CommitUnknown();
    };
    const { written } = await startLine(ahead({ commit }), line, payer.merchant);
    await written;
    expect((await desk.attemptsOf(line.id)).map(({ status }) => status)).toEqual(['waiting']);
    expect((await lineNow(world, line)).status).toBe('processing');
    await desk.expectSoundBooks();
  });

  test('that another process has leased since is left to that process', async () => {
    const payer = await openPayer(world, 10_10n);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }], { nextStartAt: null });
    const { clock, store } = world.gateway.deps;
    const next_start_at = clock.now() + 24 * 3_600_000;
    expect(await store.commit({ updates: [guardedUpdate('payout_line', line, { next_start_at })] })).toBe('won');
    expect(await startLine(ahead({}), line, payer.merchant)).toMatchObject({ outcome: 'not_called' });
    expect(await desk.attemptsOf(line.id)).toEqual([]);
    expect(await lineNow(world, line)).toMatchObject({ status: 'pending', next_start_at });
  });

  test('that another process has ended before its own commit is found: nothing is sent', async () => {
    const payer = await openPayer(world, 100_00n);
    desk.carrier.answer(TURNED_AWAY);
    const [line] = await commitBatch(world, payer, [{ msisdn: numberEnding('42') }]);
    await desk.lastAttempt(line.id, 'not_sent');
    const deps = ahead(losing(async () => refuse(await desk.lastAttempt(line.id, 'intended'))));
    expect(await startLine(deps, await lineNow(world, line), payer.merchant)).toMatchObject({ outcome: 'not_called' });
    expect(await lineNow(world, line)).toMatchObject({ status: 'failed', tries: 2 });
    await desk.expectSoundBooks();
  });
});

describe('a refund', () => {
  async function paid() {
    const merchant = await world.merchant();
    const paying = await collect(world, merchant, { method: 'mobile_money', minted });
    await payByPhone(world, paying, numberEnding('42'));
    await desk.hearOf(await attemptOf(world, paying), 'SUCCESSFUL');
    return { merchant, paying };
  }

  async function waiting({ merchant, paying }: Awaited<ReturnType<typeof paid>>) {
    desk.carrier.answer(TURNED_AWAY);
    const { refund_id } = await refunded(world, merchant, paying);
    const one = await desk.lastAttempt(refund_id, 'not_sent');
    const now = async () => {
      const refund = await world.gateway.store.refund.get(merchant.merchant.shard, refund_id);
      if (refund === undefined) throw new Error('the refund is gone');
      return refund;
    };
    return { one, now };
  }

  test.each<[Said, Refund['status'], Attempt['status']]>([
    ['PENDING', 'processing', 'waiting'],
    ['SUCCESSFUL', 'completed', 'approved'],
  ])('whose earlier attempt is meanwhile known to be %s: nothing more is sent', async (said, status, earlier) => {
    const { one, now } = await waiting(await paid());
    const { outcome, written } = await startRefund(ahead(losing(() => desk.hearOf(one, said))), await now());
    await written;
    expect(outcome).toBe('not_called');
    expect((await desk.attemptsOf(one.payment_id)).map((attempt) => attempt.status)).toEqual([earlier, 'not_sent']);
    expect(await now()).toMatchObject({ status, attempt_id: one.id });
    await desk.hearOf(one, 'SUCCESSFUL');
    expect((await now()).status).toBe('completed');
    await desk.expectSoundBooks();
  });

  test('that comes after a failed one, which is meanwhile known to be paid: it is held back', async () => {
    const { merchant, paying } = await paid();
    const { refund_id } = await refunded(world, merchant, paying);
    const tried = await desk.lastAttempt(refund_id, 'waiting');
    await desk.hearOf(tried, 'FAILED');
    const { one, now } = await waiting({ merchant, paying });
    const deps = ahead(losing(() => desk.hearOf(tried, 'SUCCESSFUL')));
    const { outcome, written } = await startRefund(deps, await now());
    await written;
    expect(outcome).toBe('not_called');
    await desk.passMinutes(10);
    expect((await desk.attemptsOf(one.payment_id)).map(({ status }) => status)).toEqual(['not_sent', 'not_sent']);
    expect((await now()).status).toBe('pending');
    await desk.expectSoundBooks();
  });

  test('that was read before its own commit took effect: it ends with its carrier’s answer', async () => {
    const { now } = await waiting(await paid());
    desk.carrier.answer(REFUSED);
    const { written } = await startRefund(ahead(late('refund')), await now());
    await written;
    expect((await now()).status).toBe('failed');
    await desk.expectSoundBooks();
  });

  test('that another process has ended before its own commit is found: nothing is sent', async () => {
    const { one, now } = await waiting(await paid());
    const meanwhile = async () => refuse(await desk.lastAttempt(one.payment_id, 'intended'));
    expect(await startRefund(ahead(losing(meanwhile)), await now())).toMatchObject({ outcome: 'not_called' });
    expect(await now()).toMatchObject({ status: 'failed', tries: 2 });
    await desk.expectSoundBooks();
  });
});

test('a payment that was read before its own commit took effect is pending again if the carrier is down', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money', minted });
  const { store } = world.gateway.deps;
  const { shard } = merchant.merchant;
  const caller = await callerOf(world, merchant, paying);
  const command = submitOf(paying, { method: 'mobile_money', msisdn: numberEnding('42') });
  desk.carrier.answer(TURNED_AWAY);
  const deps = { ...world.gateway.deps, store: { ...store, ...late('payment') } };
  const submitted = submitPayment(deps, caller, command, plainly);
  await expect(submitted).rejects.toMatchObject({ code: 1404 });
  const after = { status: 'pending', attempt_id: null, submitted_at: null };
  expect(await store.payment.get(shard, paying.transaction_id)).toMatchObject(after);
  expect((await store.session.caller(shard, caller.session.id))?.submitting_payment_id).toBeNull();
});

test('a payment that another process has ended before its own commit is found is not asked for', async () => {
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { method: 'mobile_money', minted });
  const { store } = world.gateway.deps;
  const caller = await callerOf(world, merchant, paying);
  const command = submitOf(paying, { method: 'mobile_money', msisdn: numberEnding('42') });
  const meanwhile = async () => refuse(await attemptOf(world, paying));
  const deps = { ...world.gateway.deps, store: { ...store, ...losing(meanwhile) } };
  // It looks again after a tenth of a second.
  const submitted = expect(submitPayment(deps, caller, command, plainly)).rejects.toMatchObject({ code: 1001 });
  await Promise.all([submitted, world.clock.advance(100)]);
  const { reference } = await desk.lastAttempt(paying.transaction_id, 'declined');
  expect(desk.carrier.wasCalled(reference)).toBe(false);
  expect((await store.payment.get(merchant.merchant.shard, paying.transaction_id))?.status).toBe('failed');
  await desk.expectSoundBooks();
});

describe('a payment whose earlier attempt', () => {
  test.each<[Said, Record<string, unknown>, string]>([
    ['PENDING', { code: 1404, retryable: true }, 'waiting'],
    ['SUCCESSFUL', { code: 1110 }, 'approved'],
  ])('is meanwhile known to be %s: nothing more is asked for', async (said, refusal, earlier) => {
    const merchant = await world.merchant();
    const paying = await collect(world, merchant, { method: 'mobile_money', minted });
    const command = submitOf(paying, { method: 'mobile_money', msisdn: numberEnding('42') });
    const submit = async (store: Partial<Store>): Promise<Reply> =>
      submitPayment(ahead(store), await callerOf(world, merchant, paying), command, plainly);
    desk.carrier.answer(TURNED_AWAY);
    await expect(submit({})).rejects.toMatchObject({ code: 1404 });
    const one = await desk.lastAttempt(paying.transaction_id, 'not_sent');
    await expect(submit(losing(() => desk.hearOf(one, said)))).rejects.toMatchObject(refusal);
    const attempts = await desk.attemptsOf(paying.transaction_id);
    expect(attempts.map(({ status }) => status)).toEqual([earlier, 'not_sent']);
    expect(attempts.map(({ reference }) => desk.carrier.wasCalled(reference))).toEqual([true, false]);
    if (said === 'PENDING') {
      await submit({});
      await desk.hearOf(one, 'SUCCESSFUL');
      const paid = await world.gateway.deps.store.payment.get(one.shard, one.payment_id);
      expect(paid).toMatchObject({ status: 'approved', attempt_id: one.id });
    }
    await desk.expectSoundBooks();
  });

  test('has meanwhile paid: the token of another payment of its session is not sent', async () => {
    const merchant = await world.merchant();
    const paying = await collect(world, merchant, { method: 'mobile_money', minted });
    desk.carrier.answer(TURNED_AWAY);
    expect((await payByPhone(world, paying, numberEnding('42'))).status).toBe(502);
    const one = await desk.lastAttempt(paying.transaction_id, 'not_sent');
    const deps = ahead(losing(() => desk.hearOf(one, 'SUCCESSFUL')));
    const caller = await callerOf(world, merchant, paying);
    await collectPayment(deps, caller, BY_TOKEN, plainly);
    await world.gateway.background.idle();
    const [, other] = await world.gateway.store.payment.ofSession(one.shard, caller.session.id);
    expect(other).toMatchObject({ method: 'google_pay', status: 'failed' });
    expect(capturesOf(world, { transaction_id: other?.id ?? '' })).toEqual([]);
    await desk.expectSoundBooks();
  });
});

test('a collect that is in doubt stays so if a fault of ours keeps it from looking, and the fault is logged', async () => {
  const merchant = await world.merchant();
  const { token } = await mint(world, merchant);
  const { attempt } = world.gateway.store;
  const get = () => Promise.reject(new TypeError('a fault of ours'));
  const log = memoryLog(world.clock);
  const deps = { ...ahead({ ...losing(async () => {}), attempt: { ...attempt, get } }), log };
  const collecting = collectPayment(deps, await callerBy(world, merchant, token), BY_TOKEN, plainly);
  await expect(collecting).rejects.toThrow(CommitUnknown);
  expect(log.lines.join()).toMatch(/a fault of ours.*"event":"lookup_failed"/);
});
