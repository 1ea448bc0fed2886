/**
 * A merchant under load: pays order after order over HTTP, and keeps everything that it was told, so that the gateway
 * can be held to it.
 *
 * Invariant: every order has a reference and, for mobile money, a number of its own, so that books can be compared.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../../src/platform/platform.ts';
import { type Answer, type ClientOptions, openClient, type Step } from './steady-client.ts';

export interface Merchant {
  readonly merchant_id: string;
  readonly key_id: string;
  readonly secret: string;
  readonly webhook_secret: string;
}

export interface ShopWallet {
  readonly number: string;
  readonly pin: string;
}

export interface Order {
  readonly reference: string;
  readonly amount: string;
  /** The wallet that pays; undefined for mobile money. */
  readonly wallet: ShopWallet | undefined;
  /** The number that pays, of this order alone; undefined for a wallet. */
  readonly msisdn: string | undefined;
  /** How it must end. */
  readonly ending: 'approved' | 'failed' | 'cancelled';
  readonly steps: Step[];
  token: string;
  payment_id: string;
  transaction_id: string;
}

export interface Shop {
  readonly orders: readonly Order[];
  /** Answers that no fault explains, and answers that differ from the first under the same key. */
  readonly wrongs: readonly string[];
  /** How often each call got each answer: for the report. */
  readonly seen: ReadonlyMap<string, number>;
  /** Pays orders, one after the other, in each of `callers` loops, until `done` returns true. */
  run(callers: number, done: () => boolean): Promise<void>;
  /** Pays one order up to the end of its submit; `order` overrides what would be drawn. */
  pay(order?: Partial<Pick<Order, 'msisdn' | 'wallet' | 'ending' | 'amount'>>): Promise<Order>;
  /** Sends a step again, unchanged; records what differs. */
  replay(step: Step): Promise<void>;
  /** The payment's status read; undefined if the gateway no longer knows the payment or its session. */
  status(order: Order): Promise<{ status: string; text: string } | undefined>;
}

export interface ShopOptions extends ClientOptions {
  readonly merchant: Merchant;
  readonly wallets: readonly ShopWallet[];
  readonly notifyUrl: string;
  readonly random: Random;
  /** Endings of mobile-money numbers, drawn evenly; `wallet` pays from a wallet. */
  readonly kinds: readonly (keyof typeof ENDINGS | 'wallet')[];
  /** Keeps the numbers of several shops in one world apart: 0 to 9. */
  readonly shop?: number;
  /** How long each caller of `run` rests after an order, so that what is tested has the processor, too; not at all if absent. */
  readonly restMs?: number;
}

/** How payments of these numbers end (contract §11). */
const ENDINGS = {
  '01': 'approved',
  '02': 'failed',
  '03': 'cancelled',
  '05': 'approved',
  '07': 'approved',
  '08': 'approved',
} as const;

export function openShop(options: ShopOptions): Shop {
  const client = openClient(options);
  const orders: Order[] = [];

  const pay: Shop['pay'] = async (wanted = {}) => {
    const order: Order = { ...drawOrder(options, orders.length), ...wanted };
    orders.push(order);
    const take = async (path: string, bearer: string, body: object): Promise<Record<string, string>> => {
      const key = `${order.reference}-${order.steps.length}`;
      const step: Step = { path, bearer, key, body: JSON.stringify(body) };
      order.steps.push(step);
      return doneOr(step, await client.post(step));
    };
    const { key_id, secret } = options.merchant;
    const minted = await take('/internal/sessions/create', `${key_id}:${secret}`, mintBody(order));
    order.token = minted.session_token ?? '';
    const collected = await take('/payments/collect', order.token, collectBody(order, options.notifyUrl));
    order.payment_id = collected.payment_id ?? '';
    order.transaction_id = collected.transaction_id ?? '';
    await take('/payments/submit', order.token, submitBody(order));
    return order;
  };

  return {
    ...client,
    orders,
    pay,
    async run(callers, done) {
      const caller = async (): Promise<void> => {
        while (!done()) {
          await pay().catch((error: Error) => client.wrongs.push(error.message));
          if (options.restMs !== undefined) await pause(options.restMs);
        }
      };
      await Promise.all(Array.from({ length: callers }, caller));
    },
    async status(order) {
      const { status, text } = await client.get(`/payments/status/${order.transaction_id}`, order.token);
      if (status === 404 || status === 401) return undefined;
      if (status !== 200) throw new Error(`a status read answered ${status} ${text}`);
      return { status: (JSON.parse(text) as { status: string }).status, text };
    },
  };
}

function drawOrder({ random, kinds, wallets, shop = 0 }: ShopOptions, number: number): Order {
  const kind = kinds[random.below(kinds.length)] ?? 'wallet';
  return {
    reference: `order-${shop}-${number}`,
    amount: `${1 + random.below(20)}.${String(random.below(100)).padStart(2, '0')}`,
    wallet: kind === 'wallet' ? wallets[random.below(wallets.length)] : undefined,
    msisdn: kind === 'wallet' ? undefined : `+24381${shop}${String(number).padStart(4, '0')}${kind}`,
    ending: kind === 'wallet' ? 'approved' : ENDINGS[kind],
    steps: [],
    token: '',
    payment_id: '',
    transaction_id: '',
  };
}

function mintBody({ amount, reference }: Order) {
  return { amount, currency: 'usd', customer_reference: reference };
}

function collectBody({ wallet }: Order, notifyUrl: string) {
  return {
    payment_method: methodOf(wallet),
    user_info: 'full',
    payment_method_info: 'full',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    notify_url: notifyUrl,
    ...(wallet && { wallet_number: wallet.number, wallet_pin: wallet.pin }),
  };
}

function submitBody({ wallet, msisdn, payment_id }: Order) {
  return {
    payment_id,
    payment_method_id: methodOf(wallet),
    ...(wallet && { ewallet_number: wallet.number, ewallet_pin: wallet.pin }),
    ...(msisdn !== undefined && { mobile_money_phone_number: msisdn }),
  };
}

function methodOf(wallet: ShopWallet | undefined): string {
  return wallet === undefined ? 'mobile_money' : 'wallet';
}

function doneOr(step: Step, { status, text }: Answer): Record<string, string> {
  if (status >= 300) throw new Error(`${step.path} answered ${status} ${text}`);
  return JSON.parse(text) as Record<string, string>;
}
