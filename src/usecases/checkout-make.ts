/**
 * Makes a hosted page together with the payment that it shows, or leads an open page to a further payment.
 *
 * Invariant: page and payment are written by one change. The ticket's secret is in the answer only; we keep its hash.
 */

import { type Change, guardedUpdate } from '../domain/change.ts';
import { ticketOf } from '../domain/checkout.ts';
import type { Checkout, Given } from '../domain/page-records.ts';
import type { Payment, Session } from '../domain/records.ts';
import { type Deps, newId } from './deps.ts';

/**
 * Which hosted page shows a payment: none, a new one with what the shop has given of its customer, or the one that the customer
 * has open.
 */
export type PageWanted = 'none' | { readonly given: Given } | { readonly led: Checkout };

/** A page that is about to be written together with a payment. */
export interface PageMade {
  readonly id: string | null;
  /** Where the customer opens it; only for a new page. */
  readonly url: string | undefined;
  /** What the payment's change also writes for the page; `led` is the open page, read anew. */
  writes(
    payment: { readonly id: string },
    session: Session,
    now: number,
    led: Checkout | undefined,
  ): Pick<Change, 'inserts' | 'updates'>;
}

/** The open page, read anew, and the payment to which another request has led it meanwhile. */
export interface PageNow {
  readonly checkout: Checkout | undefined;
  readonly leadsTo: Payment | undefined;
}

/** Reads the open page anew, if one is to be led to a further payment. */
export async function readPageNow(deps: Pick<Deps, 'store'>, wanted: PageWanted): Promise<PageNow> {
  if (wanted === 'none' || 'given' in wanted) return { checkout: undefined, leadsTo: undefined };
  const { led } = wanted;
  const checkout = await deps.store.checkout.get(led.shard, led.id);
  const isLed = checkout !== undefined && checkout.payment_id !== led.payment_id;
  return { checkout, leadsTo: isLed ? await deps.store.payment.get(checkout.shard, checkout.payment_id) : undefined };
}

const NO_PAGE: PageMade = { id: null, url: undefined, writes: () => ({}) };

/** Prepares a payment's page. Nothing is written here: the payment's change holds what `writes` returns. */
export function makePage(deps: Deps, wanted: PageWanted, shard: number): PageMade {
  if (wanted === 'none') return NO_PAGE;
  return 'given' in wanted ? newPage(deps, shard, wanted.given) : leadOn(wanted.led);
}

function newPage(deps: Deps, shard: number, given: Given): PageMade {
  const { given_msisdn, given_wallet_number, given_flash_number } = given;
  const id = newId(deps, 'chk', shard);
  const secret = pageSecret(deps);
  return {
    id,
    url: `${deps.publicUrl}/api/v1/payments/collect-redirect?ticket=${ticketOf({ id, secret })}`,
    writes: (payment, session, now) => ({
      inserts: [
        {
          table: 'checkout',
          row: {
            shard,
            id,
            version: 1,
            merchant_id: session.merchant_id,
            session_id: session.id,
            payment_id: payment.id,
            ticket_hash: deps.secrets.digest(secret),
            page_hash: null,
            opened_at: null,
            given_msisdn,
            given_wallet_number,
            given_flash_number,
            created_at: now,
            expires_at: session.expires_at,
          },
        },
      ],
    }),
  };
}

function leadOn({ id }: Checkout): PageMade {
  return {
    id,
    url: undefined,
    writes: (payment, _session, _now, led) => {
      if (led === undefined) throw new Error(`page ${id} is gone`);
      return { updates: [guardedUpdate('checkout', led, { payment_id: payment.id })] };
    },
  };
}

/** 256 bits in base64url, for a page's ticket or for its browser's key. */
export function pageSecret(deps: Pick<Deps, 'random'>): string {
  return Buffer.from(deps.random.bytes(32)).toString('base64url');
}
