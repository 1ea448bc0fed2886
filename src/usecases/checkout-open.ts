/**
 * Opens a hosted page: once by its ticket, and then by the key of the browser that used the ticket.
 *
 * Invariant: of two browsers that present the same ticket one gets the page. An unknown ticket, an altered one and another
 * merchant's are answered alike.
 */

import { revise } from '../domain/change.ts';
import { isKept, ticketParts } from '../domain/checkout.ts';
import { isId, shardOf } from '../domain/ids.ts';
import type { Checkout } from '../domain/page-records.ts';
import { pageSecret } from './checkout-make.ts';
import type { Deps } from './deps.ts';
import { commitDecision } from './perform.ts';

export type Opening =
  /** `key`: a new key to set in the browser; undefined if the browser has it already. */
  | { readonly kind: 'open'; readonly checkout: Checkout; readonly key: string | undefined }
  /** The ticket would open the page, but no person is visiting it. */
  | { readonly kind: 'closed'; readonly checkout: Checkout }
  | { readonly kind: 'used' | 'over' | 'unknown' };

const UNKNOWN: Opening = { kind: 'unknown' };

/**
 * Opens a page by the ticket in its address. `keyOf` gives the browser's key for a page, if it has one; `visits` is false for
 * requests without a person behind them, such as a link preview.
 */
export async function openByTicket(
  deps: Deps,
  ticket: string,
  keyOf: (id: string) => string | undefined,
  visits: boolean,
): Promise<Opening> {
  const parts = ticketParts(ticket);
  if (parts === undefined) return UNKNOWN;
  const key = keyOf(parts.id);
  const fresh = pageSecret(deps);
  const read = (): Promise<Checkout | undefined> => deps.store.checkout.get(shardOf(parts.id), parts.id);
  return commitDecision(deps.store, read, (checkout) => {
    const now = deps.clock.now();
    const hash = deps.secrets.digest(parts.secret);
    if (checkout === undefined || !deps.secrets.equal(checkout.ticket_hash, hash)) return { answer: UNKNOWN };
    if (isKeyOf(deps, checkout, key) && isKept(checkout, now)) {
      return { answer: { kind: 'open', checkout, key: undefined } };
    }
    if (checkout.page_hash !== null) return { answer: { kind: 'used' } };
    if (checkout.expires_at <= now) return { answer: { kind: 'over' } };
    if (!visits) return { answer: { kind: 'closed', checkout } };
    const row = { page_hash: deps.secrets.digest(fresh), opened_at: now };
    const { update, after } = revise('checkout', checkout, row);
    return { change: { updates: [update] }, answer: { kind: 'open', checkout: after, key: fresh } };
  });
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
