/**
 * From a cart to the payment page, and afterwards the inquiry about the outcome.
 * Invariant: however often the button is pressed, a cart becomes one order; a purchase whose outcome is unknown is begun again
 * under its own id.
 */
import { randomUUID } from 'node:crypto';
import type { World } from '../world.ts';
import type { Desk, Known } from './account.ts';
import type { Carts, Terms } from './carts.ts';
import { decimalOf, totalOf } from './goods.ts';
import { type Addresses, type Answer, mintSession, openPaymentPage, type Purchase, readPayment } from './merchant.ts';
import { type Order, type Orders, stateOf } from './orders.ts';

export type ShopParts = {
  readonly world: World;
  readonly desk: Desk;
  readonly carts: Carts;
  readonly orders: Orders;
};

/** Why the gateway could not serve: its own message in the customer's language, or none if it did not answer. */
export type Trouble = { readonly message: string | undefined; readonly retryable: boolean };

export type Bought =
  | { readonly kind: 'opened'; readonly redirect_url: string }
  /** The same purchase was begun before: its own page shows its outcome. */
  | { readonly kind: 'begun'; readonly id: string }
  | { readonly kind: 'empty' }
  | { readonly kind: 'trouble'; readonly trouble: Trouble };

export type Wish = {
  readonly cart: string;
  readonly terms: Terms;
  readonly language: string;
  /** This shop's address as the customer's browser reaches it. */
  readonly root: string;
};

export async function buy(parts: ShopParts, known: Known, wish: Wish): Promise<Bought> {
  const { carts, orders, world } = parts;
  settleCart(parts, wish.cart);
  const lines = carts.lines(wish.cart);
  if (lines.length === 0) return { kind: 'empty' };
  const { currency } = wish.terms;
  const id = carts.draft(wish.cart, wish.terms);
  if (orders.get(id) !== undefined) return { kind: 'begun', id };
  const purchase = {
    ...wish.terms,
    id,
    reference: `BK-${id.slice(0, 8).toUpperCase()}`,
    amount: decimalOf(totalOf(lines, currency), currency),
    language: wish.language,
  };
  const addresses = { notify_url: `${known.shopUrl}/shop/webhooks`, return_url: `${wish.root}/shop/return/${id}` };
  const opened = await open(known, purchase, addresses);
  if (opened.kind !== 'done') {
    const trouble = troubleOf(opened);
    // The same call would be refused again, so the next press begins another purchase.
    if (!trouble.retryable) carts.finish(wish.cart, undefined);
    return { kind: 'trouble', trouble };
  }
  const redirect_url = inLanguage(opened.value.redirect_url, wish.language);
  orders.add({ ...purchase, ...opened.value, redirect_url, lines, at: world.now() });
  return { kind: 'opened', redirect_url };
}

/** The page follows the browser's language; a customer who chose another in the shop keeps that one. */
function inLanguage(address: string, language: string): string {
  const url = new URL(address);
  url.searchParams.set('lang', language);
  return url.href;
}

type Opened = { readonly session_token: string; readonly transaction_id: string; readonly redirect_url: string };

async function open({ account }: Known, purchase: Purchase, addresses: Addresses): Promise<Answer<Opened>> {
  const minted = await mintSession(account, purchase);
  if (minted.kind !== 'done') return minted;
  const { session_token } = minted.value;
  const opened = await openPaymentPage(account, purchase, session_token, addresses);
  if (opened.kind !== 'done') return opened;
  const { transaction_id, redirect_url } = opened.value;
  return { kind: 'done', value: { session_token, transaction_id, redirect_url } };
}

/** Empties a cart that has been paid; a purchase that ended otherwise stays in the cart, to be bought again. */
export function settleCart({ carts, orders }: ShopParts, cart: string | undefined): void {
  const order = orders.get(carts.begun(cart) ?? '');
  if (cart === undefined || order === undefined || stateOf(order) === 'waiting') return;
  carts.finish(cart, stateOf(order) === 'paid' ? order.lines : undefined);
}

/**
 * Asks the gateway about an order that is not paid yet. `hint` is a transaction id from an address, so it is untrusted, and the
 * gateway's answer must confirm it. Returns what went wrong, if anything did.
 */
export async function askAbout(parts: ShopParts, id: string, hint: string | undefined): Promise<Trouble | undefined> {
  const { desk, orders } = parts;
  const known = desk.known();
  const before = orders.get(id);
  if (known === undefined || before === undefined) return undefined;
  const trouble = stateOf(before) === 'waiting' ? await ask(parts, known, before, before.transaction_id) : undefined;
  const order = orders.get(id) ?? before;
  const mayLeadOn = hint !== undefined && hint !== order.transaction_id && !isPaid(order);
  if (mayLeadOn) await ask(parts, known, order, hint);
  return trouble;
}

function isPaid(order: Order): boolean {
  return stateOf(order) === 'paid' || stateOf(order) === 'refunded';
}

async function ask(parts: ShopParts, { account }: Known, order: Order, id: string): Promise<Trouble | undefined> {
  const { orders, world } = parts;
  let read = await readPayment(account, order.session_token, id);
  if (read.kind === 'refused' && sessionIsOver(read.code)) {
    const minted = await mintSession(account, { ...order, id: randomUUID() });
    if (minted.kind !== 'done') return troubleOf(minted);
    orders.renew(order.id, minted.value.session_token);
    read = await readPayment(account, minted.value.session_token, id);
  }
  if (read.kind !== 'done') return troubleOf(read);
  orders.answered(order.id, read.value, world.now());
  return undefined;
}

function sessionIsOver(code: string): boolean {
  return code === '1001' || code === '1005';
}

function troubleOf(answer: Exclude<Answer<never>, { kind: 'done' }>): Trouble {
  if (answer.kind !== 'refused') return { message: undefined, retryable: true };
  const { code, message, retryable } = answer;
  // Errors about using the gateway (14xx) are for programmers: no customer has an Idempotency-Key.
  return { message: code.startsWith('14') ? undefined : message, retryable };
}
