/**
 * What tests of the API do again and again: a payment on a fresh session, a phone that answers, what is read of both.
 *
 * Invariant: nothing here sleeps or looks inside the gateway; it calls over HTTP, and moves the world's clock.
 */

import { expect } from 'vitest';
import type { BookLine } from '../../sandbox/carriers/book.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import type { Hook } from './receiver.ts';
import { until, untilLater } from './waiting.ts';
import { type Answer, collectBody, mint, openWorld, type World } from './world.ts';

/** A payment that has been collected, and the session that may submit it. */
export interface Paying {
  readonly token: string;
  readonly payment_id: string;
  readonly transaction_id: string;
  readonly reference: string;
}

/** A JSON object on the wire. */
export type Fields = Readonly<Record<string, unknown>>;

/** The Authorization value of a merchant's backend. */
export function bearerOf(merchant: Pick<MerchantCreated, 'key_id' | 'secret'>): string {
  return `${merchant.key_id}:${merchant.secret}`;
}

/** Another merchant in the same shard, so that more than the location of their rows keeps the two apart. */
export function neighbourOf(world: World, { merchant }: MerchantCreated): Promise<MerchantCreated> {
  return until(async () => {
    const other = await world.merchant('Librairie Goma');
    return other.merchant.shard === merchant.shard ? other : undefined;
  }, 2_000);
}

/** A payment on a session of its own. Without a method, the customer chooses at submit. */
export async function collect(
  world: World,
  merchant: MerchantCreated,
  options: { readonly method?: string; readonly body?: Fields; readonly minted?: Fields } = {},
): Promise<Paying> {
  const { token, reference } = await mint(world, merchant, options.minted);
  const made = await collectWith(world, token, options.method, options.body);
  return { ...made, token, reference };
}

/** A world without traffic limits, and a payment in it whose session outlives every test. */
export async function openPaying(): Promise<{
  world: World;
  merchant: MerchantCreated;
  bearer: string;
  paying: Paying;
}> {
  const world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  const merchant = await world.merchant();
  const paying = await collect(world, merchant, { minted: { ttl_seconds: 86_400 } });
  return { world, merchant, bearer: bearerOf(merchant), paying };
}

/** Another payment on an existing session. */
export async function collectWith(
  world: World,
  token: string,
  method = 'none',
  more: Fields = {},
): Promise<Pick<Paying, 'payment_id' | 'transaction_id'>> {
  const made = await world.call('POST', '/payments/collect', { bearer: token, body: collectBody(world, method, more) });
  expect(made.status, made.text).toBe(200);
  return { payment_id: made.json.payment_id, transaction_id: made.json.transaction_id };
}

/** Submits from a phone number. */
export function payByPhone(
  world: World,
  paying: Pick<Paying, 'token' | 'payment_id'>,
  msisdn: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = {
    payment_id: paying.payment_id,
    payment_method_id: 'mobile_money',
    mobile_money_phone_number: msisdn,
  };
  return world.call('POST', '/payments/submit', { bearer: paying.token, body, headers });
}

/** Submits from a wallet. */
export function payFromWallet(
  world: World,
  paying: Pick<Paying, 'token' | 'payment_id'>,
  wallet: { readonly number: string; readonly pin: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const body = {
    payment_id: paying.payment_id,
    payment_method_id: 'wallet',
    ewallet_number: wallet.number,
    ewallet_pin: wallet.pin,
  };
  return world.call('POST', '/payments/submit', { bearer: paying.token, body, headers });
}

let keys = 0;

/** The header of an Idempotency-Key that no other test uses. */
export function freshKey(): { 'idempotency-key': string } {
  keys += 1;
  return { 'idempotency-key': `key-${keys}` };
}

let numbers = 0;

/** A fresh Congolese number with these last two digits. */
export function numberEnding(ending: string): string {
  numbers += 1;
  return `+24381${String(numbers).padStart(5, '0')}${ending}`;
}

/** What the carrier really debited from that phone. */
export function debitsOf(world: World, msisdn: string): BookLine[] {
  return world.sandbox.book.lines({ msisdn: msisdn.slice(1) });
}

/** A prompt as the sandbox's phone shows it. */
export interface PromptSeen {
  readonly id: string;
  readonly amount: string;
  readonly currency: string;
  readonly status: string;
}

export async function phoneState(
  world: World,
  msisdn: string,
): Promise<{ prompts: PromptSeen[]; messages: { text: string; code: string | null }[] }> {
  const response = await fetch(`${world.sandboxUrl}/phone/${msisdn}/state`);
  return (await response.json()) as { prompts: PromptSeen[]; messages: { text: string; code: string | null }[] };
}

/** Answers the newest prompt on the phone; returns the phone's HTTP status. */
export async function answerPrompt(
  world: World,
  msisdn: string,
  answer: 'approve' | 'reject',
  pin = '0000',
): Promise<number> {
  const [prompt] = (await phoneState(world, msisdn)).prompts;
  const response = await fetch(`${world.sandboxUrl}/phone/${msisdn}/prompts/${prompt?.id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ answer, pin }),
  });
  await response.text();
  return response.status;
}

/** The newest code on that phone, once `count` have arrived. */
export async function codeOn(world: World, phone: string, count = 1): Promise<string> {
  return until(async () => {
    const codes = (await phoneState(world, phone)).messages.flatMap(({ code }) => code ?? []);
    return codes.length >= count ? codes[0] : undefined;
  });
}

/** Reads the payment's status. */
export async function statusOf(world: World, paying: Pick<Paying, 'token' | 'transaction_id'>): Promise<string> {
  const read = await world.call('GET', `/payments/status/${paying.transaction_id}`, { bearer: paying.token });
  expect(read.status, read.text).toBe(200);
  return read.json.status;
}

export async function detailOf(
  world: World,
  paying: Pick<Paying, 'token' | 'transaction_id'>,
): Promise<Answer['json']> {
  const read = await world.call('GET', `/payments/transaction/${paying.transaction_id}`, { bearer: paying.token });
  expect(read.status, read.text).toBe(200);
  return read.json;
}

export async function mobileStatusOf(
  world: World,
  paying: Pick<Paying, 'token' | 'payment_id'>,
): Promise<Answer['json']> {
  const path = `/payments/mobile-money/status/${paying.payment_id}`;
  const read = await world.call('GET', path, { bearer: paying.token });
  expect(read.status, read.text).toBe(200);
  return read.json;
}

/** Lets time pass until the payment has that status. */
export async function untilStatus(
  world: World,
  paying: Pick<Paying, 'token' | 'transaction_id'>,
  wanted: string,
  stepMs = 1_000,
): Promise<void> {
  await untilLater(world, async () => ((await statusOf(world, paying)) === wanted ? true : undefined), stepMs);
}

/** Every post about that transaction so far, including repeats of one event. */
export function postsAbout(world: World, transactionId: string): Hook[] {
  return world.receiver.hooks.filter(({ body }) => body.transaction_id === transactionId);
}

/**
 * The events told about that transaction so far, in order of first arrival. An event counts once even if it was posted again
 * because the clock leapt past its lease before its delivery was recorded.
 */
export function hooksAbout(world: World, transactionId: string): Hook[] {
  return [...new Map(postsAbout(world, transactionId).map((hook) => [hook.headers['webhook-id'], hook])).values()];
}
