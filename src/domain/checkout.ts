/**
 * The hosted page: its ticket, and how long it lives.
 *
 * Invariant: a ticket starts a page once. The browser that opens it gets a key of its own, and from then on the ticket opens
 * nothing (decision 10).
 */

import { DAY_MS } from './durations.ts';
import { isId } from './ids.ts';
import type { Checkout } from './page-records.ts';

/**
 * Milliseconds for which the browser that opened a page keeps it once nothing new can be started on it: a transfer's proof may
 * come seven days later, and the decision about it after that.
 */
export const PAGE_LIFE_MS = 14 * DAY_MS;

/** 256 bits in base64url. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** The page's id, and the secret that opens it once: 256 bits in base64url. */
export interface TicketParts {
  readonly id: string;
  readonly secret: string;
}

/** The ticket in the page's address: the page's id and the secret that opens it once. */
export function ticketOf({ id, secret }: TicketParts): string {
  return `${id}.${secret}`;
}

/** The parts of a ticket; undefined for anything that we cannot have made. */
export function ticketParts(text: string): TicketParts | undefined {
  const dot = text.indexOf('.');
  const id = text.slice(0, Math.max(0, dot));
  const secret = text.slice(dot + 1);
  return isId('chk', id) && SECRET.test(secret) ? { id, secret } : undefined;
}

/** Whether the page may still be looked at by the browser that opened it. */
export function isKept(checkout: Checkout, now: number): boolean {
  return now < checkout.expires_at + PAGE_LIFE_MS;
}
