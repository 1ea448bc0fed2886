/**
 * Refunds to phones: sent once by the carrier that took the money, whatever becomes of its answers.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { manualClock } from '../../src/platform/testing/manual-clock.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { executeRefund } from '../../src/usecases/refund-decide.ts';
import { createRefundDispatcher } from '../../src/usecases/refund-dispatch.ts';
import { detailOf, statusOf } from '../support/flows.ts';
import { createPayout, settled } from '../support/payout-flows.ts';
import {
  balancesOf,
  creditsOf,
  expectSound,
  paidByPhone,
  paidByWord,
  readBack,
  refund,
  refunded,
  refundHooks,
  untilRefund,
} from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { until, untilLater } from '../support/waiting.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  await expectSound(world);
  await world.close();
});

const attemptsOf = (refundId: string): Promise<{ status: string; connector: string; method: string }[]> =>
  rowsOf(world, 'select status, connector, method from attempt where payment_id = $1 order by id', [refundId]);

describe('a refund to a phone', () => {
  beforeAll(async () => {
    merchant = await world.merchant();
  });

  test('goes back to the number that paid, once, and is told', async () => {
    const paid = await paidByPhone(world, merchant, '01');
    const atCarrier = async () => {
      const { json } = await world.call('GET', `/payments/mobile-money/status/${paid.payment_id}`, {
        bearer: paid.token,
      });
      return json.data.payment_info;
    };
    const before = await atCarrier();
    const made = await refunded(world, merchant, paid);
    expect(made).toMatchObject({ status: 'pending', method: 'mobile_money', by_hand: false, completed_at: null });
    expect(await balancesOf(world, merchant)).toEqual({ reserved: 12_50n });
    // Recorded, before time leaps over the call.
    await until(async () => (await attemptsOf(made.refund_id))[0]);
    const done = await untilRefund(world, merchant, made.refund_id, 'completed');
    expect(done).toMatchObject({ message: 'The money has been given back.', refunded_amount: '12.50' });
    expect(creditsOf(world, paid.msisdn)).toMatchObject([{ amount: '12.50', currency: 'usd', times: 1 }]);
    expect(await attemptsOf(made.refund_id)).toEqual([
      { status: 'approved', connector: 'mtn-momo-disbursement', method: 'mobile_money' },
    ]);
    expect(await balancesOf(world, merchant)).toEqual({});
    expect(await statusOf(world, paid)).toBe('refunded');
    expect(await atCarrier()).toEqual(before);
    expect(await refundHooks(world, paid, 1)).toHaveLength(1);
    expect(JSON.stringify(done)).not.toContain(paid.msisdn.slice(4));
  });

  test('in two parts, and the second is all that was left', async () => {
    const paid = await paidByPhone(world, merchant, '01');
    const first = await refunded(world, merchant, paid, { amount: '5.00' });
    const second = await refunded(world, merchant, paid);
    expect(second.amount).toBe('7.50');
    for (const { refund_id } of [first, second]) await untilRefund(world, merchant, refund_id, 'completed');
    expect(creditsOf(world, paid.msisdn).map(({ amount, times }) => [amount, times])).toEqual(
      expect.arrayContaining([
        ['5.00', 1],
        ['7.50', 1],
      ]),
    );
    expect(await detailOf(world, paid)).toMatchObject({ status: 'refunded', refunded_amount: '12.50' });
    const hooks = await refundHooks(world, paid, 2);
    expect(hooks.map(({ raw }) => JSON.parse(raw).amount).sort()).toEqual(['5.00', '7.50']);
  });

  test('that is in progress limits the next one', async () => {
    const paid = await paidByWord(world, merchant, '04');
    await refunded(world, merchant, paid, { amount: '12.00' });
    const body = { transaction_id: paid.transaction_id };
    expect((await refund(world, merchant, { ...body, amount: '0.51' })).json.error_code).toBe('1202');
    await refunded(world, merchant, paid, { amount: '0.50' });
    // Nothing is left, and yet it may come back: refused for the sum, and not for the state.
    expect((await refund(world, merchant, body)).json.error_code).toBe('1202');
    expect(await statusOf(world, paid)).toBe('approved');
  });

  test('holds its carrier’s place no longer than the carrier takes to answer', async () => {
    const { deps } = world.gateway;
    const orders = [await paidByWord(world, merchant, '04'), await paidByWord(world, merchant, '04')];
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    const ids: string[] = [];
    for (const paid of orders) ids.push((await refunded(world, merchant, paid)).refund_id);
    for (const id of ids) await until(async () => (await attemptsOf(id)).find(({ status }) => status === 'not_sent'));
    world.sandbox.faults.clear();
    const clock = manualClock(deps.clock.now() + 600_000);
    const due = await deps.store.refund.leaseDue(clock.now(), clock.now() + 60_000, 100);
    const ours = due.filter(({ id }) => ids.includes(id));
    expect(ours).toHaveLength(2);
    let release = (): void => undefined;
    const isBack = new Promise<void>((done) => {
      release = done;
    });
    // For a while, the carrier's answer cannot be written.
    const commit: typeof deps.store.commit = async (change) => {
      if (change.inserts?.some(({ table }) => table === 'attempt') !== true) await isBack;
      return deps.store.commit(change);
    };
    const limits = { atReceiver: 1, inAll: 1, waitingAtReceiver: 10, waitingInAll: 10 };
    const dispatcher = createRefundDispatcher({ ...deps, clock, store: { ...deps.store, commit } }, limits);
    for (const one of ours) expect(dispatcher.offer(one)).toBe(true);
    for (const id of ids) await until(async () => (await attemptsOf(id)).length === 2 || undefined);
    release();
    await dispatcher.close();
    for (const id of ids) expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(['not_sent', 'waiting']);
  });

  test('whose answer was lost is inquired about, and was sent once', async () => {
    const paid = await paidByPhone(world, merchant, '01');
    world.sandbox.faults.set('mtn', { answer_lost_rate: 1 });
    const made = await refunded(world, merchant, paid);
    await until(async () => {
      const [attempt] = await attemptsOf(made.refund_id);
      return attempt?.status === 'unknown' ? true : undefined;
    }, 4_000);
    expect((await readBack(world, merchant, made.refund_id)).status).toBe('processing');
    world.sandbox.faults.clear();
    await untilRefund(world, merchant, made.refund_id, 'completed');
    expect(creditsOf(world, paid.msisdn)).toMatchObject([{ times: 1 }]);
    expect(await attemptsOf(made.refund_id)).toHaveLength(1);
  });

  test('waits while the carrier is down, its money reserved, and is sent when it is back', async () => {
    const own = await world.merchant();
    const paid = await paidByPhone(world, own, '01');
    world.sandbox.faults.set('mtn', { refuse_rate: 1 });
    const made = await refunded(world, own, paid);
    const waiting = await untilLater(world, async () => {
      const read = await readBack(world, own, made.refund_id);
      return read.message.startsWith('The refund waits') ? read : undefined;
    });
    expect(waiting).toMatchObject({ status: 'pending', failure: null });
    await world.pass(60_000);
    expect(await balancesOf(world, own)).toEqual({ reserved: 12_50n });
    world.sandbox.faults.clear();
    await untilRefund(world, own, made.refund_id, 'completed', 10_000);
    expect(creditsOf(world, paid.msisdn)).toMatchObject([{ times: 1 }]);
    const attempts = await attemptsOf(made.refund_id);
    expect(attempts.map(({ status }) => status)).toEqual([...Array(attempts.length - 1).fill('not_sent'), 'approved']);
    expect(await balancesOf(world, own)).toEqual({});
  });

  test.each([
    ['02', 'payee_unknown'],
    ['03', 'payee_blocked'],
  ])('that the carrier refuses (%s) fails: its money is back, and can be refunded again', async (ending, code) => {
    const own = await world.merchant();
    const paid = await paidByWord(world, own, ending);
    const made = await refunded(world, own, paid, { amount: '12.50' });
    const failed = await untilRefund(world, own, made.refund_id, 'failed');
    expect(failed).toMatchObject({ failure: { code }, refunded_amount: '0.00' });
    expect(failed.message).toContain(failed.failure.message);
    expect(await balancesOf(world, own)).toEqual({ available: 12_50n });
    expect(await statusOf(world, paid)).toBe('approved');
    expect(creditsOf(world, paid.msisdn)).toEqual([]);
    await world.gateway.courier.idle();
    expect(
      await rowsOf(world, 'select type from webhook_event where transaction_id = $1', [paid.transaction_id]),
    ).toEqual([{ type: 'payment.approved' }]);
    await refunded(world, own, paid, { amount: '12.50' });
  });

  test('that is never answered can be settled by an operator, with a reference that names no other one', async () => {
    const neverAnswered = async () => {
      const own = await world.merchant();
      const paid = await paidByWord(world, own, '04');
      const { refund_id } = await refunded(world, own, paid);
      await untilRefund(world, own, refund_id, 'processing');
      const open = "select id from attempt where payment_id = $1 and status = 'waiting'";
      const id = await untilLater(world, async () => {
        const [found] = await rowsOf<{ id: string }>(world, open, [refund_id]);
        return found?.id;
      });
      return { own, paid, refund_id, id };
    };
    const [one, two] = [await neverAnswered(), await neverAnswered()];
    const settle = ({ id }: typeof one, providerReference: string) =>
      decideAttempt(world.gateway.deps, id, { paid: true, providerReference, by: 'amina', why: 'statement' });
    await settle(one, 'REF-9');
    expect(await readBack(world, one.own, one.refund_id)).toMatchObject({
      status: 'completed',
      provider_reference: 'REF-9',
    });
    expect(await statusOf(world, one.paid)).toBe('refunded');
    expect(await balancesOf(world, one.own)).toEqual({});
    await expect(settle(two, 'ref-9')).rejects.toThrow(
      `ref-9 is the reference of ${one.id}, approved, for ${one.refund_id}: if one movement is for both`,
    );
    expect(await statusOf(world, two.paid)).toBe('approved');
    await settle(two, 'REF-9/2');
    expect(await statusOf(world, two.paid)).toBe('refunded');
  });

  test('is not given back by hand with the reference by which another one was settled, nor the other way round', async () => {
    const { deps } = world.gateway;
    const SAY = { by: 'amina', why: 'statement' };
    const turnedAway = async () => {
      const own = await world.merchant();
      const paid = await paidByWord(world, own, '04');
      world.sandbox.faults.set('mtn', { refuse_rate: 1 });
      const { refund_id } = await refunded(world, own, paid);
      const id = await until(async () => {
        const found = await rowsOf<{ id: string; status: string }>(
          world,
          'select id, status from attempt where payment_id = $1',
          [refund_id],
        );
        return found.find(({ status }) => status === 'not_sent')?.id;
      });
      world.sandbox.faults.clear();
      return { paid, refund_id, id };
    };
    const execute = ({ refund_id }: { readonly refund_id: string }, reference: string) =>
      executeRefund(deps, refund_id, { reference, notTaken: true }, SAY);
    const settle = ({ id }: { readonly id: string }, providerReference: string) =>
      decideAttempt(deps, id, { paid: true, providerReference, ...SAY });
    const [one, two, three] = [await turnedAway(), await turnedAway(), await turnedAway()];
    await settle(one, 'PORTAL-1');
    await expect(execute(two, 'portal 1')).rejects.toThrow(
      `portal 1 is the reference of ${one.id}, approved, for ${one.refund_id}: if one movement is for both`,
    );
    await execute(two, 'PORTAL-2');
    await expect(settle(three, 'PORTAL-2')).rejects.toThrow('PORTAL-2 already names 12.50 usd for ');
    // Nor with one that the carrier itself has named, whatever it has sent under it.
    const paid = await paidByPhone(world, merchant, '01');
    const sent = await refunded(world, merchant, paid);
    await untilRefund(world, merchant, sent.refund_id, 'completed');
    await paidByPhone(world, merchant, '01');
    const { json, text } = await createPayout(world, merchant);
    expect(json.success, text).toBe(true);
    await settled(world, merchant, json.batch_id);
    for (const order of [sent.refund_id, json.beneficiaries[0].transaction_id]) {
      const named = "select id, provider_reference from attempt where payment_id = $1 and status = 'approved'";
      const [theirs] = await rowsOf<{ id: string; provider_reference: string }>(world, named, [order]);
      for (const say of [settle, execute]) {
        await expect(say(three, theirs?.provider_reference ?? '')).rejects.toThrow(
          `is the reference of ${theirs?.id}, approved, for ${order}: if one movement is for both`,
        );
      }
    }
    expect(await statusOf(world, three.paid)).toBe('approved');
  });
});
