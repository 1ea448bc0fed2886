/**
 * A merchant under load whose customers pay by card and by Google Pay, and who gives money back: it keeps everything that it was
 * told, so that the gateway can be held to it.
 *
 * Invariant: every payment has a session of its own, and is refunded at most as much as it was paid.
 */
import { randomUUID } from 'node:crypto';
import type { Random } from '../../src/platform/platform.ts';
import { CARDS, signed } from './card-payments.ts';
import type { Receiver } from './receiver.ts';
import type { Merchant } from './shop.ts';
import { type ClientOptions, openClient, type Step } from './steady-client.ts';

/**
 * What the customer pays with, and how that payment may end. It fails if the process dies, or gives up waiting, before the request
 * for the money has reached the network, and nobody is there to ask for it again: the customer was told to wait, or has gone. A
 * challenge expires if the gateway is away for too long.
 */
const ENDINGS = {
  frictionless: ['approved', 'failed'],
  declined: ['declined', 'failed'],
  challenge: ['approved', 'failed', 'expired'],
  lost: ['approved', 'failed', 'expired'],
  google_pay: ['approved', 'failed'],
} as const;

export type CardKind = keyof typeof ENDINGS;

export interface CardRefund {
  readonly amount: string;
  /** Empty until it was acknowledged. */
  refund_id: string;
}

export interface CardOrder {
  readonly reference: string;
  readonly amount: string;
  readonly kind: CardKind;
  /** How it may end, before its refunds. */
  readonly endings: readonly string[];
  readonly steps: Step[];
  readonly refunds: CardRefund[];
  token: string;
  transaction_id: string;
}

export interface CardShop {
  readonly orders: readonly CardOrder[];
  /** Answers that no fault explains, and answers that differ from the first under the same key. */
  readonly wrongs: readonly string[];
  /** How often each call got each answer: for the report. */
  readonly seen: ReadonlyMap<string, number>;
  /** Sells, one order after the other, in each of `callers` loops, until `done` returns true. */
  run(callers: number, done: () => boolean): Promise<void>;
  /** Sends a step again, unchanged; records what differs. */
  replay(step: Step): Promise<void>;
  /** The status of a payment or refund, as the merchant's backend reads it; undefined if the gateway does not know it. */
  read(path: string): Promise<string | undefined>;
}

export interface CardShopOptions extends ClientOptions {
  readonly merchant: Merchant;
  readonly sandboxUrl: string;
  /** Is told how the payments end. */
  readonly receiver: Receiver;
  readonly random: Random;
  /** Drawn evenly. */
  readonly kinds: readonly CardKind[];
  /** The gateway's time, in milliseconds since 1970: a callback is dated. */
  readonly now: () => number;
}

/** A day, because the gateway's time passes faster, and the session's calls are repeated at the end. */
const SESSION_LIFE_S = 86_400;
/** 3 refunds of every payment. */
const REFUNDS = 3;
const CALLBACK_PATH = '/payments/card/3ds-callback';
/** What the gateway may answer to a submit that did not pay: declined at once, or ended before the answer was told. */
const REFUSED = new Set([402, 409]);

export function openCardShop(options: CardShopOptions): CardShop {
  const client = openClient(options);
  const orders: CardOrder[] = [];
  const { merchant, sandboxUrl } = options;
  const credential = `${merchant.key_id}:${merchant.secret}`;

  const read: CardShop['read'] = async (path) => {
    const { status, text } = await client.get(path, credential);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`${path} answered ${status} ${text}`);
    return (JSON.parse(text) as { status: string }).status;
  };
  const network = async (path: string, body: object): Promise<void> => {
    const answer = await fetch(`${sandboxUrl}/control/cardnet/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`the card network answered ${path} with ${answer.status}`);
  };

  /** One call of an order under a key of its own; returns its answer, or undefined for a refusal that may occur. */
  const take = async (order: CardOrder, path: string, bearer: string, body: object) => {
    const step: Step = { path, bearer, key: `${order.reference}-${order.steps.length}`, body: JSON.stringify(body) };
    order.steps.push(step);
    const { status, text } = await client.post(step);
    if (REFUSED.has(status)) return undefined;
    if (status >= 300) throw new Error(`${path} answered ${status} ${text}`);
    return JSON.parse(text) as Record<string, string>;
  };

  const payByForm = async (order: CardOrder, card: keyof typeof CARDS): Promise<void> => {
    const body = { cardnet_payment_method: 'HOSTED_SESSION', ...collectBody('card', options.receiver.url) };
    const { payment_id, transaction_id, session_id } = must(await take(order, '/payments/collect', order.token, body));
    order.transaction_id = transaction_id ?? '';
    await network(`sessions/${session_id}`, {
      number: CARDS[card],
      expiry_month: '01',
      expiry_year: '39',
      security_code: '100',
    });
    const form = { payment_id, payment_method_id: 'card', cardnet_payment_method: 'HOSTED_SESSION', session_id };
    const submitted = await take(order, '/payments/submit', order.token, form);
    if (submitted?.redirect_url === undefined) return;
    await network(`challenges/${order.transaction_id}`, { result: 'pass' });
    await callBack(order);
  };
  /** The customer's browser comes back once. If that is lost, the inquiry round finds out. */
  const callBack = async (order: CardOrder): Promise<void> => {
    const { transaction_id } = order;
    const timestamp = String(Math.floor(options.now() / 1000));
    const about = { order_id: transaction_id, transaction_id, result: 'AUTHENTICATED', timestamp, nonce: randomUUID() };
    await fetch(`${await options.url()}/api/v1${CALLBACK_PATH}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(signed(about)),
    }).then(
      (answer) => answer.text(),
      () => undefined,
    );
  };
  const payByToken = async (order: CardOrder): Promise<void> => {
    const token = { native_pay_token: 'tok_approved', native_pay_token_type: 'google' };
    const body = { ...token, ...collectBody('google_pay', options.receiver.url) };
    const collected = must(await take(order, '/payments/collect', order.token, body));
    order.transaction_id = collected.transaction_id ?? '';
  };
  const giveBack = async (order: CardOrder, refund: CardRefund): Promise<void> => {
    order.refunds.push(refund);
    const body = { transaction_id: order.transaction_id, amount: refund.amount };
    const made = await take(order, '/internal/refunds', credential, body);
    refund.refund_id = must(made).refund_id ?? '';
  };

  const sell = async (): Promise<void> => {
    const order = drawOrder(options, orders.length);
    orders.push(order);
    const { amount, reference, kind } = order;
    const bound = { amount, currency: 'usd', customer_reference: reference, ttl_seconds: SESSION_LIFE_S };
    order.token = must(await take(order, '/internal/sessions/create', credential, bound)).session_token ?? '';
    await (kind === 'google_pay' ? payByToken(order) : payByForm(order, kind));
    const told = await options.receiver.about(order.transaction_id);
    if (told.body.status !== 'approved') return;
    // They are under way at once: the network must make each of them, and make it once.
    const parts = partsOf(amount).map((part): CardRefund => ({ amount: part, refund_id: '' }));
    await Promise.all(parts.map((part) => giveBack(order, part)));
  };

  return {
    ...client,
    orders,
    read,
    async run(callers, done) {
      const caller = async (): Promise<void> => {
        while (!done()) await sell().catch((error: Error) => client.wrongs.push(error.message));
      };
      await Promise.all(Array.from({ length: callers }, caller));
    },
  };
}

function drawOrder({ random, kinds }: CardShopOptions, number: number): CardOrder {
  const kind = kinds[random.below(kinds.length)] ?? 'frictionless';
  return {
    reference: `card-order-${number}`,
    amount: `${1 + random.below(20)}.${String(random.below(100)).padStart(2, '0')}`,
    kind,
    endings: ENDINGS[kind],
    steps: [],
    refunds: [],
    token: '',
    transaction_id: '',
  };
}

function collectBody(payment_method: string, notify_url: string) {
  return {
    payment_method,
    user_info: 'full',
    payment_method_info: 'full',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    notify_url,
  };
}

/** `REFUNDS` amounts that differ, and together are less than the given one. */
function partsOf(amount: string): string[] {
  const share = Math.floor(Number(amount.replace('.', '')) / (REFUNDS + 1));
  return Array.from({ length: REFUNDS }, (_, n) => textOf(share - n));
}

function textOf(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

function must<T>(answer: T | undefined): T {
  if (answer === undefined) throw new Error('a call was refused that must not be');
  return answer;
}
