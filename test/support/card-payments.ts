/**
 * Payments by card, as their tests need them again and again: a filled form, a submit, an answered challenge, its callback.
 *
 * Invariant: the card is typed at the card network, through its own controls; the gateway never sees it.
 */

import { createHmac, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { BookLine } from '../../sandbox/carriers/book.ts';
import { shardOf } from '../../src/domain/ids.ts';
import { openCardForm } from '../../src/usecases/card-form.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import type { Fields, Paying } from './flows.ts';
import { type Answer, collectBody, mint, type World } from './world.ts';

/** Test cards (contract §11 and the sandbox's start page). */
export const CARDS = {
  frictionless: '5123450000000008',
  challenge: '4508750015741019',
  declined: '5111111111111118',
  lost: '4000000000000119',
  not_enrolled: '2223000000000023',
  rejected: '4012000033330026',
  no_funds: '5200000000000007',
  expired: '5200000000000015',
  by_expiry: '2223000000000007',
} as const;

export type CardName = keyof typeof CARDS;

export interface CardPaying extends Paying {
  /** The hosted form's session. */
  readonly form: string;
}

/** A collect by card. */
export async function collectByCard(
  world: World,
  merchant: MerchantCreated,
  options: { readonly body?: Fields; readonly minted?: Fields } = {},
): Promise<CardPaying> {
  const { token, reference } = await mint(world, merchant, options.minted);
  const made = await collectCardWith(world, token, options.body);
  return { ...made, token, reference };
}

export async function collectCardWith(
  world: World,
  token: string,
  more: Fields = {},
): Promise<Omit<CardPaying, 'token' | 'reference'>> {
  const body = collectBody(world, 'card', { cardnet_payment_method: 'HOSTED_SESSION', ...more });
  const made = await world.call('POST', '/payments/collect', { bearer: token, body });
  expect(made.status, made.text).toBe(200);
  const { payment_id, transaction_id, session_id } = made.json;
  return { payment_id, transaction_id, form: session_id };
}

/** Types a card into the hosted form. */
export async function fillForm(world: World, form: string, card: CardName): Promise<void> {
  const filled = await control(world, `sessions/${form}`, {
    number: CARDS[card],
    expiry_month: '01',
    expiry_year: '39',
    security_code: '100',
  });
  expect(filled.status, filled.text).toBe(200);
}

export function submitCard(
  world: World,
  paying: Pick<CardPaying, 'token' | 'payment_id' | 'form'>,
  more: { readonly body?: Fields; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const body = {
    payment_id: paying.payment_id,
    payment_method_id: 'card',
    cardnet_payment_method: 'HOSTED_SESSION',
    session_id: paying.form,
    ...more.body,
  };
  return world.call('POST', '/payments/submit', { bearer: paying.token, body, headers: more.headers ?? {} });
}

/** A collected payment whose form holds that card. */
export async function readyToPay(
  world: World,
  merchant: MerchantCreated,
  card: CardName,
  options: Parameters<typeof collectByCard>[2] = {},
): Promise<CardPaying> {
  const paying = await collectByCard(world, merchant, options);
  await fillForm(world, paying.form, card);
  return paying;
}

/** A payment whose customer is at the issuer's challenge. */
export async function challenged(
  world: World,
  merchant: MerchantCreated,
  card: CardName = 'challenge',
  options: Parameters<typeof collectByCard>[2] = {},
): Promise<CardPaying> {
  const paying = await readyToPay(world, merchant, card, options);
  const submitted = await submitCard(world, paying);
  expect(submitted.status, submitted.text).toBe(202);
  return paying;
}

/** The fields that the browser would post, as the network makes them. */
export type CallbackFields = Readonly<Record<string, string>>;

/** Answers the issuer's challenge; returns the fields that the browser would post. */
export async function answerChallenge(
  world: World,
  paying: Pick<Paying, 'transaction_id'>,
  result: 'pass' | 'fail' | 'cancel',
): Promise<CallbackFields> {
  const answered = await control(world, `challenges/${paying.transaction_id}`, { result });
  expect(answered.status, answered.text).toBe(200);
  return JSON.parse(answered.text) as CallbackFields;
}

const CALLBACK_PATH = '/api/v1/payments/card/3ds-callback';

/** Posts a callback as JSON, as a program does. */
export function postCallback(
  world: World,
  fields: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return world.call('POST', CALLBACK_PATH, { body: fields, headers });
}

/** Posts a callback as a form, as the customer's browser does. */
export function postForm(
  world: World,
  fields: CallbackFields,
  query = '',
): Promise<{ status: number; text: string; location: string | null }> {
  return fetch(world.url + CALLBACK_PATH + query, {
    method: 'POST',
    body: new URLSearchParams(fields),
    redirect: 'manual',
  }).then(async (answer) => ({
    status: answer.status,
    text: await answer.text(),
    location: answer.headers.get('location'),
  }));
}

const SECRET = 'sandbox-cardnet-callback-secret';

/** Signs a callback as the contract says; computed here independently. */
export function signed(fields: {
  readonly order_id: string;
  readonly transaction_id: string;
  readonly result: string;
  readonly timestamp: string;
  readonly nonce: string;
}): CallbackFields {
  const { timestamp, nonce, order_id, transaction_id, result } = fields;
  const text = `${timestamp}.${nonce}.${order_id}.${transaction_id}.${result}`;
  return { ...fields, signature: createHmac('sha256', SECRET).update(text).digest('hex') };
}

/** A correctly signed callback, dated now, about that payment. */
export function callbackFor(
  world: World,
  paying: Pick<CardPaying, 'transaction_id'>,
  more: Partial<Parameters<typeof signed>[0]> = {},
): CallbackFields {
  return signed({
    order_id: paying.transaction_id,
    transaction_id: paying.transaction_id,
    result: 'AUTHENTICATED',
    timestamp: String(Math.floor(world.clock.now() / 1000)),
    nonce: randomUUID(),
    ...more,
  });
}

/** The debits that the network really made for that payment. */
export function capturesOf(world: World, paying: Pick<Paying, 'transaction_id'>): BookLine[] {
  return linesOf(world, paying).filter(({ kind }) => kind === 'debit');
}

/** The credits that the network really made for that payment. */
export function creditsOnCard(world: World, paying: Pick<Paying, 'transaction_id'>): BookLine[] {
  return linesOf(world, paying).filter(({ kind }) => kind === 'credit');
}

function linesOf({ sandbox }: World, { transaction_id: order }: Pick<Paying, 'transaction_id'>): BookLine[] {
  return sandbox.book.lines({}).filter(({ carrier, reference }) => carrier === 'cardnet' && reference === order);
}

async function control(world: World, path: string, body: unknown): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${world.sandboxUrl}/control/cardnet/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Changes the amount of an order's session behind the gateway's back. */
export async function tamper(world: World, paying: Pick<Paying, 'transaction_id'>, amount: string): Promise<void> {
  const done = await control(world, 'attacks', { order_id: paying.transaction_id, tamper_amount: amount });
  expect(done.status, done.text).toBe(200);
}

/** Opens a form for a payment whose customer has only just chosen to pay by card, as the hosted page does; returns its name. */
export async function openFormOf(world: World, { transaction_id: id }: Paying): Promise<string> {
  const { deps } = world.gateway;
  const shard = shardOf(id);
  const payment = await deps.store.payment.get(shard, id);
  const session = await deps.store.session.caller(shard, payment?.session_id ?? '');
  const owner = await deps.store.merchant.get(shard, payment?.merchant_id ?? '');
  if (session === undefined || owner === undefined) throw new Error('the rows are there');
  const caller = { kind: 'session', session, merchant: owner, fingerprint: undefined } as const;
  return (await openCardForm(deps, caller, id)).hosted_session_id ?? '';
}
