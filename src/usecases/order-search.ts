/**
 * Finds payments and payout lines for an operator, by whatever somebody on the phone knows of them.
 *
 * Invariant: what was searched is said: an order that is not found may be older.
 */

import { DAY_MS } from '../domain/durations.ts';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import type { LineSearch, PaymentSearch } from '../store/order-search.ts';
import type { FindDeps } from './archive-find.ts';

/** 30 days: where no index leads to what is looked for, a search reads no more than this unasked. */
const SEARCHED_MS = 30 * DAY_MS;

/** What a search found, and since when it looked. */
export interface FoundOrders<Order> {
  /** The newest first. */
  readonly orders: readonly Order[];
  /** From when on was searched (ms); undefined: from the first one on. */
  readonly from: number | undefined;
}

/** A page of payments: of one merchant all of them, of all merchants those of the last 30 days. */
export async function searchPayments(deps: FindDeps, search: PaymentSearch): Promise<FoundOrders<Payment>> {
  const from = search.merchantId === undefined ? since(deps, search) : search.from;
  return { orders: await deps.store.searchPayments({ ...search, from }), from };
}

/** A page of payout lines: those of the last 30 days. */
export async function searchLines(deps: FindDeps, search: LineSearch): Promise<FoundOrders<PayoutLine>> {
  const from = since(deps, search);
  return { orders: await deps.store.searchLines({ ...search, from }), from };
}

/**
 * Another payment or payout line, of the last 30 days, that an upstream's reference names already: a line of a statement that was
 * read twice, or the wrong one. A refund's reference names the payment that was refunded; for a refund nothing is looked up.
 */
export async function findOtherUnder(
  deps: FindDeps,
  { purpose, payment_id: own }: Pick<Attempt, 'purpose' | 'payment_id'>,
  upstreamReference: string,
): Promise<Payment | PayoutLine | undefined> {
  if (purpose === 'refund') return undefined;
  const search = { upstreamReference, limit: 2 };
  const { orders } = await (purpose === 'payment' ? searchPayments(deps, search) : searchLines(deps, search));
  return orders.find(({ id }) => id !== own);
}

function since({ clock }: FindDeps, { from, until }: PaymentSearch | LineSearch): number {
  return from ?? (until ?? clock.now()) - SEARCHED_MS;
}
