/**
 * Refunds to cards, Google Pay and Apple Pay: made by the network under the order that paid, once.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { callbackFor, creditsOnCard, postCallback, readyToPay, submitCard } from '../support/card-payments.ts';
import { type Paying, statusOf, untilStatus } from '../support/flows.ts';
import {
  balancesOf,
  expectSound,
  minted,
  readBack,
  refund,
  refunded,
  refundHooks,
  untilRefund,
  untilTurnedAway,
} from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { until } from '../support/waiting.ts';
import { collectBody, mint, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterEach(() => world.sandbox.faults.clear());
afterAll(async () => {
  // The credit made behind the gateway's back, below.
  await expectSound(world, ['book_unknown']);
  await world.close();
});

async function paidByCard(own: MerchantCreated): Promise<Paying> {
  const paying = await readyToPay(world, own, 'frictionless', { minted });
  const submitted = await submitCard(world, paying);
  expect(submitted.json.status, submitted.text).toBe('approved');
  return paying;
}

async function paidByToken(own: MerchantCreated, method: 'google_pay' | 'apple_pay'): Promise<Paying> {
  const { token, reference } = await mint(world, own, minted);
  const body = collectBody(world, method, { native_pay_token: 'tok_approved', native_pay_token_type: 'x' });
  const { json, text } = await world.call('POST', '/payments/collect', { bearer: token, body });
  expect(json.transaction_id, text).toBeDefined();
  const paying = { token, reference, payment_id: json.payment_id, transaction_id: json.transaction_id };
  await untilStatus(world, paying, 'approved');
  return paying;
}

describe('a refund to a card', () => {
  beforeAll(async () => {
    merchant = await world.merchant();
  });

  test('in two parts: the network’s book shows each once, and check-status says so', async () => {
    const paid = await paidByCard(merchant);
    const first = await refunded(world, merchant, paid, { amount: '5.00' });
    expect(first).toMatchObject({ status: 'pending', method: 'card', by_hand: false });
    await untilRefund(world, merchant, first.refund_id, 'completed');
    const check = () => world.call('GET', `/payments/check-status/${paid.transaction_id}`, { bearer: paid.token });
    expect((await check()).json).toMatchObject({ status: 'approved', upstream_status: 'PARTIALLY_REFUNDED' });
    const rest = await refunded(world, merchant, paid);
    await untilRefund(world, merchant, rest.refund_id, 'completed');
    expect((await check()).json).toMatchObject({ status: 'refunded', upstream_status: 'REFUNDED' });
    expect(creditsOnCard(world, paid).map(({ amount, times }) => [amount, times])).toEqual([
      ['5.00', 1],
      ['7.50', 1],
    ]);
    expect(await refundHooks(world, paid, 2)).toHaveLength(2);
    expect(await balancesOf(world, merchant)).toEqual({});
  });

  test.each(['google_pay', 'apple_pay'] as const)('of %s goes the same way', async (method) => {
    const paid = await paidByToken(merchant, method);
    const { refund_id } = await refunded(world, merchant, paid);
    expect(await untilRefund(world, merchant, refund_id, 'completed')).toMatchObject({ method });
    expect(creditsOnCard(world, paid)).toMatchObject([{ amount: '12.50', times: 1 }]);
    expect(await statusOf(world, paid)).toBe('refunded');
  });

  test('whose answer was lost is inquired about under its own transaction, and was made once', async () => {
    const paid = await paidByCard(merchant);
    world.sandbox.faults.set('cardnet', { answer_lost_rate: 1 });
    const { refund_id } = await refunded(world, merchant, paid, { amount: '5.00' });
    await untilRefund(world, merchant, refund_id, 'processing');
    world.sandbox.faults.clear();
    await untilRefund(world, merchant, refund_id, 'completed', 5_000);
    expect(creditsOnCard(world, paid)).toMatchObject([{ amount: '5.00', times: 1 }]);
    expect(await statusOf(world, paid)).toBe('approved');
  });

  test('that never reached the network is sent again, under another transaction, once that is certain', async () => {
    const paid = await paidByCard(merchant);
    world.sandbox.faults.set('cardnet', { error_rate: 1 });
    const { refund_id } = await refunded(world, merchant, paid);
    const attempts = () =>
      rowsOf<{ status: string }>(world, 'select status from attempt where payment_id = $1', [refund_id]);
    await until(async () => ((await attempts())[0]?.status === 'unknown' ? true : undefined), 4_000);
    world.sandbox.faults.clear();
    await untilRefund(world, merchant, refund_id, 'completed', 30_000);
    expect((await attempts()).map(({ status }) => status).sort()).toEqual(['approved', 'not_sent']);
    expect(creditsOnCard(world, paid)).toMatchObject([{ times: 1 }]);
  });

  test('that the network is too busy for waits, and is sent when the network has time', async () => {
    const paid = await paidByCard(merchant);
    world.sandbox.faults.set('cardnet', { refuse_rate: 1 });
    const { refund_id } = await refunded(world, merchant, paid);
    await untilTurnedAway(world, refund_id);
    expect((await readBack(world, merchant, refund_id)).status).toBe('pending');
    world.sandbox.faults.clear();
    await untilRefund(world, merchant, refund_id, 'completed', 5_000);
    expect(creditsOnCard(world, paid)).toMatchObject([{ times: 1 }]);
  });

  test('that the network finds invalid fails, and its money is back', async () => {
    const own = await world.merchant();
    const paid = await paidByCard(own);
    // Credited at the network itself, behind the gateway’s back.
    await fetch(
      `${world.sandboxUrl}/cardnet/api/rest/version/100/merchant/TESTMBONGO/order/${paid.transaction_id}/transaction/portal-1`,
      {
        method: 'PUT',
        headers: {
          authorization: `Basic ${Buffer.from('merchant.TESTMBONGO:sandbox-cardnet-password').toString('base64')}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ apiOperation: 'REFUND', transaction: { amount: '12.50', currency: 'USD' } }),
      },
    ).then((answer) => expect(answer.status).toBe(201));
    const { refund_id } = await refunded(world, own, paid);
    const failed = await untilRefund(world, own, refund_id, 'failed');
    expect(failed).toMatchObject({ failure: { code: 'carrier_failed' }, refunded_amount: '0.00' });
    expect(await balancesOf(world, own)).toEqual({ available: 12_50n });
    expect(creditsOnCard(world, paid)).toMatchObject([{ times: 1 }]);
  });

  test('is not a payment: a callback that names its transaction changes nothing', async () => {
    const paid = await paidByCard(merchant);
    const { refund_id } = await refunded(world, merchant, paid, { amount: '1.00' });
    await untilRefund(world, merchant, refund_id, 'completed');
    const [attempt] = await rowsOf<{ id: string }>(world, 'select id from attempt where payment_id = $1', [refund_id]);
    const fields = callbackFor(world, paid, { transaction_id: attempt?.id ?? '' });
    expect((await postCallback(world, fields)).status).toBeLessThan(500);
    expect(await statusOf(world, paid)).toBe('approved');
    expect((await refund(world, merchant, { transaction_id: paid.transaction_id, amount: '11.51' })).status).toBe(402);
  });
});
