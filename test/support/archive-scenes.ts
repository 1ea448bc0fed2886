/**
 * A merchant with a past, for tests of the archive: payments with every outcome, a refund, a batch, and some that never ended.
 *
 * Invariant: the past is read over HTTP, as a merchant reads it, so that any difference is one that a merchant would see.
 */

import { expect } from 'vitest';
import { type Archived, runArchive } from '../../src/usecases/archive-run.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { answerChallenge, challenged, postCallback } from './card-payments.ts';
import { bearerOf, collect, numberEnding, payByPhone } from './flows.ts';
import { fund } from './payout-batches.ts';
import { createPayout, lines, settled } from './payout-flows.ts';
import { paidByPhone, paidByWallet, refunded, untilRefund } from './refund-flows.ts';
import { mint, type World } from './world.ts';

export const DAY = 24 * 60 * 60_000;

/** The parts of the past, by transaction, refund and batch ids. */
export interface Past {
  readonly merchant: MerchantCreated;
  /** Final, and delivered. */
  readonly over: readonly string[];
  /** Still open, or held. */
  readonly open: readonly string[];
  /** The reference of two payments: the older is held, the newer over. */
  readonly reference: string;
  readonly refundId: string;
  readonly refundedId: string;
  readonly batchId: string;
  readonly lineIds: readonly string[];
}

/** Makes the past, and lets it end. */
export async function makePast(world: World): Promise<Past> {
  const merchant = await world.merchant();
  await fund(world, merchant, 1_000_00n);
  const wallet = await paidByWallet(world, merchant);
  const given = await paidByWallet(world, merchant);
  const refund = await refunded(world, merchant, given, { amount: '2.50' });
  const phone = await paidByPhone(world, merchant, '01');
  const back = await paidByPhone(world, merchant, '01');
  const carried = await refunded(world, merchant, back);
  await untilRefund(world, merchant, carried.refund_id, 'completed');
  const expired = await collect(world, merchant);
  const held = await paidByWallet(world, merchant, { delivery_behaviour: 'delayed_delivery' });
  const asked = await collect(world, merchant, { method: 'mobile_money', minted: { ttl_seconds: 86_400 } });
  await payByPhone(world, asked, numberEnding('04'));
  // Ids made at the same instant have no order.
  await world.clock.advance(1);
  const card = await challenged(world, merchant, 'challenge', { minted: { customer_reference: held.reference } });
  await postCallback(world, await answerChallenge(world, card, 'pass'));
  const sent = await createPayout(world, merchant, { beneficiaries: lines(3) });
  expect(sent.status, sent.text).toBe(200);
  const batchId: string = sent.json.batch_id;
  await settled(world, merchant, batchId);
  // Payments that were only collected expire.
  await world.leap(2 * 60 * 60_000);
  await world.gateway.courier.idle();
  return {
    merchant,
    over: [wallet, given, phone, back, expired, card].map(({ transaction_id: id }) => id),
    open: [held, asked].map(({ transaction_id: id }) => id),
    reference: held.reference,
    refundId: refund.refund_id,
    refundedId: carried.refund_id,
    batchId,
    lineIds: sent.json.beneficiaries.map(({ transaction_id: id }: { transaction_id: string }) => id),
  };
}

/** Fourteen months pass, and their days are closed. */
export async function growOld(world: World): Promise<void> {
  await world.leap(426 * DAY);
  // Closing days waits for a leap of the clock to settle, and closes a year's days at a time.
  await world.pass(61_000, 4);
}

/** Archives without pauses. */
export function archive(
  world: World,
  more: { readonly months?: number; readonly dry?: boolean } = {},
): Promise<Archived> {
  const { months = 12, dry = false } = more;
  return runArchive(world.gateway.deps, { months, dry, rest: () => Promise.resolve() });
}

/** Everything that the merchant can read of its past, by path. */
export async function readAll(world: World, past: Past): Promise<ReadonlyMap<string, string>> {
  const { merchant, over, open, reference, lineIds, refundId, refundedId, batchId } = past;
  const { token } = await mint(world, merchant);
  const bearer = bearerOf(merchant);
  const answers = new Map<string, string>();
  const read = async (path: string, by: string): Promise<{ text: string; json: ReturnType<typeof JSON.parse> }> => {
    const answer = await world.call('GET', path, { bearer: by });
    answers.set(path, `${answer.status} ${answer.text.replace(/"request_id":"[^"]*"/, '')}`);
    return answer;
  };
  for (const id of [...over, ...open, ...lineIds]) {
    await read(`/payments/status/${id}`, token);
    await read(`/payments/transaction/${id}`, token);
    await read(`/internal/transactions/${id}`, bearer);
    await read(`/payments/cardnet/status/${id}`, token);
    await read(`/payments/check-status/${id}`, token);
  }
  await read(`/payments/check-status/${reference}`, token);
  for (const id of [refundId, refundedId]) await read(`/internal/refunds/${id}`, bearer);
  await read(`/internal/payouts/${batchId}`, bearer);
  for (const list of [
    'payouts?',
    'payouts?limit=1&',
    'transactions?',
    'transactions?limit=2&',
    'transactions?status=approved&',
    'refunds?',
    'refunds?limit=1&',
    'refunds?status=completed&',
    `refunds?transaction_id=${over[1]}&`,
    'events?',
    'events?limit=3&',
  ]) {
    let cursor = '';
    do {
      const { json } = await read(`/internal/${list}${cursor}`, bearer);
      cursor = json.next_cursor === null || json.next_cursor === undefined ? '' : `cursor=${json.next_cursor}`;
      for (const { event_id } of list === 'events?' ? json.events : [])
        await read(`/internal/events/${event_id}`, bearer);
    } while (cursor !== '');
  }
  const from = new Date(world.clock.now() - 40 * DAY).toISOString();
  const to = new Date(world.clock.now() + 20 * DAY).toISOString();
  await read(`/internal/statement?currency=usd&from=${from}&to=${to}`, bearer);
  await read('/internal/balances', bearer);
  return answers;
}
