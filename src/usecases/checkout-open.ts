/**
 * Opens a hosted page: once by its ticket, and then by the key of the browser that used the ticket.
 *
 * Invariant: of two browsers that present the same ticket one gets the page. An unknown ticket, an altered one and another
 * merchant's are answered alike.
 */

import { revise } from '../domain/change.ts';
import { isKept, type TicketParts, ticketParts } from '../domain/checkout.ts';
import { isId, shardOf } from '../domain/ids.ts';
import type { Checkout } from '../domain/page-records.ts';
import { pageSecret } from './checkout-make.ts';
import type { Deps } from './deps.ts';
import { commitOrFind } from './perform.ts';

/** What a ticket, or a browser's key, opens. */
export type Opening =
  /** The browser has the page's key. */
  | { readonly kind: 'open'; readonly checkout: Checkout }
  /** Nobody has opened the page yet: `openForGood` does. */
  | { readonly kind: 'unopened'; readonly checkout: Checkout }
  | Closed;

/** `used`: another browser has the page. `over`: its time has passed. */
export interface Closed {
  readonly kind: 'used' | 'over' | 'unknown';
}

const UNKNOWN: Closed = { kind: 'unknown' };

/** What a ticket opens. `keyOf` gives the browser's key for a page, if it has one. Writes nothing. */
export async function openByTicket(
  deps: Deps,
  ticket: string,
  keyOf: (id: string) => string | undefined,
): Promise<Opening> {
  const parts = ticketParts(ticket);
  if (parts === undefined) return UNKNOWN;
  return judge(deps, parts, await readCheckout(deps, parts), keyOf(parts.id));
}

/** A page that a browser has just opened with its ticket, which opens nothing from now on. */
export interface OpenedForGood {
  readonly kind: 'open';
  readonly checkout: Checkout;
  /** What the browser keeps from now on. */
  readonly key: string;
}

/**
 * Uses the ticket up, for a person's browser. It is called only when there is a page to show: a customer who gets no key can never
 * open the page again.
 */
export async function openForGood(deps: Deps, ticket: string): Promise<OpenedForGood | Closed> {
  const parts = ticketParts(ticket);
  if (parts === undefined) return UNKNOWN;
  const key = pageSecret(deps);
  const hash = deps.secrets.digest(key);
  return commitOrFind<Checkout | undefined, OpenedForGood | Closed>(
    deps,
    () => readCheckout(deps, parts),
    (found) => {
      // Its own key is found where the answer to this very commit was lost.
      const opening = judge(deps, parts, found, key);
      if (opening.kind === 'open') return { answer: { ...opening, key } };
      if (opening.kind !== 'unopened') return { answer: opening };
      const row = { page_hash: hash, opened_at: deps.clock.now() };
      const { update, after } = revise('checkout', opening.checkout, row);
      return { change: { updates: [update] }, answer: { kind: 'open', checkout: after, key } };
    },
  );
}

function readCheckout({ store }: Deps, { id }: TicketParts): Promise<Checkout | undefined> {
  return store.checkout.get(shardOf(id), id);
}

function judge(deps: Deps, parts: TicketParts, checkout: Checkout | undefined, key: string | undefined): Opening {
  const now = deps.clock.now();
  const hash = deps.secrets.digest(parts.secret);
  if (checkout === undefined || !deps.secrets.equal(checkout.ticket_hash, hash)) return UNKNOWN;
  if (isKeyOf(deps, checkout, key) && isKept(checkout, now)) return { kind: 'open', checkout };
  if (checkout.page_hash !== null) return { kind: 'used' };
  return checkout.expires_at <= now ? { kind: 'over' } : { kind: 'unopened', checkout };
}

/** The page that the browser's key opens; undefined if it opens none, or none any more. */
export async function openByKey(deps: Deps, id: string, key: string | undefined): Promise<Checkout | undefined> {
  if (!isId('chk', id) || key === undefined) return undefined;
  const checkout = await deps.store.checkout.get(shardOf(id), id);
  if (checkout === undefined || !isKeyOf(deps, checkout, key)) return undefined;
  return isKept(checkout, deps.clock.now()) ? checkout : undefined;
}

function isKeyOf(deps: Deps, checkout: Checkout, key: string | undefined): boolean {
  if (key === undefined || checkout.page_hash === null) return false;
  return deps.secrets.equal(checkout.page_hash, deps.secrets.digest(key));
}
