/**
 * The carts of those who look around, in memory, each known by the id in its cookie.
 * Invariant: memory is bounded, and a cart's draft names one order: the same things bought the same way are the same purchase, however often the button is pressed.
 */
import { randomBytes } from 'node:crypto';
import { type Currency, type Good, goods, type Line } from './goods.ts';
import type { Purchase } from './merchant.ts';

/** How the customer wants to pay, beside what: all of it is part of what the draft stands for. */
export type Terms = Pick<Purchase, 'fee_covered_by' | 'delivery_behaviour'> & { readonly currency: Currency };

export type Carts = {
  /** What the cart holds, in the order of the shop window; empty for an unknown id. */
  readonly lines: (id: string | undefined) => readonly Line[];
  /** Sets how many; 0 takes it out. Returns the cart's id: a new one where the one given is unknown. */
  readonly set: (id: string | undefined, good: Good, quantity: number) => string;
  /** Puts other lines in the place of what was there. */
  readonly fill: (id: string | undefined, lines: readonly Line[]) => string;
  /** The id of the purchase that the cart stands for under these terms, the same until something changes. */
  readonly draft: (id: string, terms: Terms) => string;
  /** The purchase that was begun last, whatever has changed since. */
  readonly begun: (id: string | undefined) => string | undefined;
  /** The purchase came to its end: the next one is another. What was bought leaves the cart, unless it changed since. */
  readonly finish: (id: string, bought: readonly Line[] | undefined) => void;
};

type Cart = { quantities: Map<Good, number>; draft: { readonly id: string; readonly of: string } | undefined };

const cartsKept = 1_000;
export const mostOfOne = 20;

/** 128 bits, so that nobody guesses another's cart or order. */
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
  /** The cart and its id; an id that we did not give is never taken over. */
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
