/**
 * The visitors' carts, in memory, each known by the id in its cookie.
 * Invariant: memory is bounded, and a cart's draft names one order: the same goods on the same terms are the same purchase,
 * however often the button is pressed.
 */
import { randomBytes } from 'node:crypto';
import { type Currency, type Good, goods, type Line } from './goods.ts';
import type { Purchase } from './merchant.ts';

/** How the customer wants to pay; together with the goods, the terms identify a draft. */
export type Terms = Pick<Purchase, 'fee_covered_by' | 'delivery_behaviour'> & { readonly currency: Currency };

export type Carts = {
  /** What the cart holds, in the order of the shop window; empty for an unknown id. */
  readonly lines: (id: string | undefined) => readonly Line[];
  /** Sets a quantity; 0 removes the good. Returns the cart's id: a new one if the given id is unknown. */
  readonly set: (id: string | undefined, good: Good, quantity: number) => string;
  /** Replaces the cart's lines. */
  readonly fill: (id: string | undefined, lines: readonly Line[]) => string;
  /** The id of the purchase that the cart represents under these terms, the same until something changes. */
  readonly draft: (id: string, terms: Terms) => string;
  /** The purchase that was begun last, whatever has changed since. */
  readonly begun: (id: string | undefined) => string | undefined;
  /** Ends the purchase: the next one is a new one. What was bought leaves the cart, unless the cart has changed since. */
  readonly finish: (id: string, bought: readonly Line[] | undefined) => void;
};

type Cart = { quantities: Map<Good, number>; draft: { readonly id: string; readonly of: string } | undefined };

const cartsKept = 1_000;
export const mostOfOne = 20;

/** 128 bits, so that nobody can guess another customer's cart or order. */
function newId(): string {
  return randomBytes(16).toString('hex');
}

export function createCarts(): Carts {
  const carts = new Map<string, Cart>();

  const known = (id: string | undefined): Cart | undefined => (id === undefined ? undefined : carts.get(id));
  const linesOf = (cart: Cart | undefined): readonly Line[] =>
    goods.flatMap((good) => {
      const quantity = cart?.quantities.get(good) ?? 0;
      return quantity > 0 ? [{ good, quantity }] : [];
    });
  /** The cart and its id; an id that the shop did not issue is never adopted. */
  const open = (id: string | undefined): [string, Cart] => {
    const cart = known(id) ?? { quantities: new Map(), draft: undefined };
    const name = id !== undefined && carts.has(id) ? id : newId();
    carts.delete(name);
    carts.set(name, cart);
    const oldest = carts.keys().next().value;
    if (carts.size > cartsKept && oldest !== undefined) carts.delete(oldest);
    return [name, cart];
  };

  return {
    lines: (id) => linesOf(known(id)),
    set: (id, good, quantity) => {
      const [name, cart] = open(id);
      cart.quantities.set(good, Math.min(Math.max(quantity, 0), mostOfOne));
      return name;
    },
    fill: (id, lines) => {
      const [name, cart] = open(id);
      cart.quantities = new Map(lines.map(({ good, quantity }) => [good, quantity]));
      return name;
    },
    draft: (id, terms) => {
      const [, cart] = open(id);
      const of = JSON.stringify([linesOf(cart), terms.currency, terms.fee_covered_by, terms.delivery_behaviour]);
      if (cart.draft?.of !== of) cart.draft = { id: newId(), of };
      return cart.draft.id;
    },
    begun: (id) => known(id)?.draft?.id,
    finish: (id, bought) => {
      const cart = known(id);
      if (cart === undefined) return;
      cart.draft = undefined;
      if (JSON.stringify(bought) === JSON.stringify(linesOf(cart))) cart.quantities.clear();
    },
  };
}
