/**
 * What tests of payouts do again and again: a body, a session that may send, a batch that has settled.
 *
 * Invariant: everything goes over HTTP, as a merchant's backend would do it.
 */

import { expect } from 'vitest';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { bearerOf, type Fields, hooksAbout } from './flows.ts';
import { untilLater } from './waiting.ts';
import { type Answer, mint, type World } from './world.ts';

/** A number of the carrier that every world has; its ending has no scripted behaviour, so that payouts to it are paid. */
export function payee(n: number): string {
  return `+24381${String(1_000_000 + n * 100 + 50).slice(-7)}`;
}

/** `count` mobile-money lines, each to a number of its own. */
export function lines(count: number, amount = '2.00'): { phone_number: string; amount: string }[] {
  return Array.from({ length: count }, (_, n) => ({ phone_number: payee(n), amount }));
}

export function payoutBody(world: World, more: Fields = {}): Fields {
  return {
    customer_reference: 'salaries-11',
    currency: 'usd',
    receipt_mode: 'mobile_money',
    notify_url: world.receiver.url,
    beneficiaries: lines(1),
    ...more,
  };
}

/** Sends under a fresh session, as a merchant's backend does. */
export async function sendPayout(world: World, merchant: MerchantCreated, more: Fields = {}): Promise<Answer> {
  const { token } = await mint(world, merchant, { scope: 'payout' });
  return world.call('POST', '/payments/send', { bearer: token, body: payoutBody(world, more) });
}

/** Sends with the merchant's credential instead. */
export function createPayout(world: World, merchant: MerchantCreated, more: Fields = {}): Promise<Answer> {
  return world.call('POST', '/internal/payouts', { bearer: bearerOf(merchant), body: payoutBody(world, more) });
}

export function readBatch(world: World, merchant: MerchantCreated, path: string): Promise<Answer> {
  return world.call('GET', `/internal/payouts/${path}`, { bearer: bearerOf(merchant) });
}

/** Lets time pass until no line of the batch is open; returns the batch. */
export function settled(world: World, merchant: MerchantCreated, batchId: string): Promise<Answer['json']> {
  return untilLater(world, async () => {
    const { json, text, status } = await readBatch(world, merchant, batchId);
    expect(status, text).toBe(200);
    return json.pending_count === 0 ? json : undefined;
  });
}

/** Waits for a line's webhook of that status. */
export function hookOf(world: World, transactionId: string, status: string) {
  return untilLater(world, async () => hooksAbout(world, transactionId).find(({ body }) => body.status === status));
}

/** The details of a refusal, each as its field and code. */
export function faultsOf({ json }: Answer): string[] {
  return (json.details ?? []).map((detail: { field: string; code: string }) => `${detail.field} ${detail.code}`);
}

/** The merchant's available and reserved balances in US dollars, in minor units. */
export async function balances(world: World, { merchant }: MerchantCreated) {
  const accounts = await world.gateway.store.accounts.ofMerchant(merchant.shard, merchant.id);
  const of = (what: string): bigint => accounts.find(({ id }) => id === `${merchant.id}:${what}:usd`)?.balance ?? 0n;
  return { available: of('available'), reserved: of('reserved') };
}
