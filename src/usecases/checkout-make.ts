/**
 * Makes a hosted page with the payment that it shows, or leads an open one to a further payment.
 *
 * Invariant: page and payment are written by one change. The ticket's secret is in the answer only; of it a hash is kept.
 */

import type { Change } from '../domain/change.ts';
import { ticketOf } from '../domain/checkout.ts';
import type { Checkout, Given } from '../domain/page-records.ts';
import type { Payment, Session } from '../domain/records.ts';
import { type Deps, newId } from './deps.ts';

/**
 * Whether a payment is shown on a hosted page: on none, on a new one that knows what the shop has said of its customer, or on
 * the one that the customer has before him.
 */
export type PageWanted = 'none' | { readonly given: Given } | { readonly led: Checkout };

/** A page that a payment is about to be written with. */
export interface PageMade {
  readonly id: string | null;
  /** Where the customer opens it; only of a new one. */
  readonly url: string | undefined;
  /** What the payment's change holds besides; `led` is the page that is led on, as it is now. */
  writes(
    payment: { readonly id: string },
    session: Session,
    now: number,
    led: Checkout | undefined,
  ): Pick<Change, 'inserts' | 'updates'>;
}

/** A page that is to be led on, as it is, and the payment that somebody has led it to meanwhile. */
export interface PageNow {
  readonly checkout: Checkout | undefined;
  readonly leadsTo: Payment | undefined;
}

/** Reads anew the page that is to be led on, if one is. */
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
      const { shard, version } = led;
      return { updates: [{ table: 'checkout', shard, id, version, row: { payment_id: payment.id } }] };
    },
  };
}

/** 256 bits in base64url: what opens a page, once or from then on. */
export function pageSecret(deps: Pick<Deps, 'random'>): string {
  return Buffer.from(deps.random.bytes(32)).toString('base64url');
}
