/**
 * Payments from phones, as their tests need them again and again: one whose prompt is out, its attempt, its callback.
 *
 * Invariant: the gateway is called over HTTP; only an attempt's row is read besides, for the address of its callback.
 */

import type { IncomingMessage } from 'node:http';
import { expect } from 'vitest';
import { shardOf } from '../../src/domain/ids.ts';
import type { Attempt } from '../../src/domain/records.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { collect, type Fields, hooksAbout, numberEnding, type Paying, payByPhone } from './flows.ts';
import type { Hook } from './receiver.ts';
import { until, untilLater } from './waiting.ts';
import type { World } from './world.ts';

/** A submitted payment whose prompt is on the phone. */
export async function pushed(
  world: World,
  merchant: MerchantCreated,
  ending: string,
  minted: Fields = {},
): Promise<Paying & { readonly msisdn: string }> {
  const paying = await collect(world, merchant, { method: 'mobile_money', minted });
  const msisdn = numberEnding(ending);
  const submitted = await payByPhone(world, paying, msisdn);
  expect(submitted.status, submitted.text).toBe(200);
  expect(submitted.json).toMatchObject({
    success: true,
    status: 'pending_mobile_money_verification',
    payment_id: paying.payment_id,
    transaction_id: paying.transaction_id,
    amount: '12.50',
    currency: 'usd',
    customer_reference: paying.reference,
    summary_code: 'lok000',
  });
  return { ...paying, msisdn };
}

/** The payment's attempt, once what the gateway has already told the customer is recorded in it. */
export async function attemptOf(world: World, paying: Pick<Paying, 'transaction_id'>): Promise<Attempt> {
  const { deps, store } = world.gateway;
  const shard = shardOf(paying.transaction_id);
  return until(async () => {
    const payment = await store.payment.get(shard, paying.transaction_id);
    const id = payment?.attempt_id ?? undefined;
    if (id === undefined) return undefined;
    await deps.acceptances.writtenOf(id);
    return store.attempt.get(shard, id);
  });
}

/** The log entries about this payment's money calls that left it in doubt whether money moves. */
export async function unsureOf(world: World, paying: Pick<Paying, 'transaction_id'>): Promise<unknown[]> {
  const { id } = await attemptOf(world, paying);
  const lines = world.log.lines.filter((line) => line.includes('attempt_unsure') && line.includes(id));
  return lines.map((line) => JSON.parse(line));
}

/** Calls back as the carrier does, and returns the gateway's HTTP status. */
export async function callBack(url: string, body: unknown, method: 'PUT' | 'POST' = 'PUT'): Promise<number> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.text();
  return response.status;
}

/** Resolves when the carrier has received `times` more POSTs (inquiries do not count), and so has drawn their faults. */
export function carrierAsked(world: World, times = 1): Promise<void> {
  const { server } = world.sandbox.app;
  let left = times;
  return new Promise((resolve) => {
    const listener = ({ method, url }: IncomingMessage): void => {
      if (method !== 'POST' || url?.startsWith('/mtn/') !== true) return;
      left -= 1;
      if (left > 0) return;
      server.off('request', listener);
      resolve();
    };
    server.on('request', listener);
  });
}

/** Ends the faults, and cuts calls that were dropped, which would otherwise hang by the machine's clock: they end unanswered. */
export function endDropped({ sandbox }: World): void {
  sandbox.faults.clear();
  sandbox.app.server.closeAllConnections();
}

/** The only webhook of a final payment; any others have had time to arrive. */
export async function onlyHook(world: World, paying: Pick<Paying, 'transaction_id'>): Promise<Hook> {
  // If the clock leapt while the webhook was posted, its lease must expire before it is posted again.
  const hook = await untilLater(world, async () => hooksAbout(world, paying.transaction_id)[0], 10_000);
  await world.gateway.courier.idle();
  expect(hooksAbout(world, paying.transaction_id)).toHaveLength(1);
  return hook;
}

/** Expects that our ledger adds up, and records of the carrier what the carrier's own book says it took, each order once. */
export async function expectBooksAgree(world: World, { merchant }: MerchantCreated): Promise<void> {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  const taken = world.sandbox.book.lines().filter(({ currency }) => currency === 'usd');
  expect(taken.every(({ times }) => times === 1)).toBe(true);
  const inTransit = await world.gateway.store.account.get(merchant.shard, 'transit:mtn-momo:usd');
  const minor = taken.reduce((sum, { amount }) => sum + BigInt(amount.replace('.', '')), 0n);
  expect(inTransit?.balance).toBe(-minor);
}
