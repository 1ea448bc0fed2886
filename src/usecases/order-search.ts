/**
 * Finds payments, payout lines and attempts for an operator, by whatever somebody on the phone knows of them.
 *
 * Invariant: what was searched is said: an order that is not found may be older.
 */

import { DAY_MS } from '../domain/durations.ts';
import type { PayoutLine } from '../domain/outgoing-records.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import type { LineSearch, PaymentSearch } from '../store/order-search.ts';
import type { NamedQuestion } from '../store/upstream-span.ts';
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
 * Another attempt of the last 30 days that an upstream's reference names already: a line of a statement that was read twice, or the
 * wrong one. Other upstreams, and banks, may use the same reference for something else.
 */
export function findNamed(deps: FindDeps, question: Omit<NamedQuestion, 'from'>): Promise<Attempt | undefined> {
  return deps.store.attemptNamed({ ...question, from: since(deps, {}) });
}

function since({ clock }: FindDeps, { from, until }: Pick<PaymentSearch, 'from' | 'until'>): number {
  return from ?? (until ?? clock.now()) - SEARCHED_MS;
}
