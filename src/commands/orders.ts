/**
 * What searching payments and payout lines have in common: the options, and how a page ends.
 *
 * Invariant: a phone number is never shown whole, and a search that did not go back to the first order says so.
 */

import type { Currency } from '../domain/currency.ts';
import { maskPhone } from '../domain/phone.ts';
import { requireCurrency, requireId, requireMerchant, requireSpan } from '../usecases/operator-input.ts';
import type { FoundOrders } from '../usecases/order-search.ts';
import { requireNumber } from '../usecases/wallet-see.ts';
import { readLimit, readPhone, readTime } from './options.ts';
import { endOfPage, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/**
 * The options of `mbongo payment list` and `mbongo payout lines`, as they were written. `reference`: the merchant's, the
 * customer_reference. `wallet`: a wallet's or flash account's number. `upstreamReference`: ours or the upstream's, for the movement
 * of the money. `from` is included, `to` is not.
 */
export interface OrderOptions {
  readonly merchant?: string;
  readonly currency?: string;
  readonly reference?: string;
  readonly phone?: string;
  readonly wallet?: string;
  readonly upstreamReference?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly limit: string;
}

/** The options, read. */
interface Search {
  readonly merchantId: string | undefined;
  readonly currency: Currency | undefined;
  readonly reference: string | undefined;
  readonly msisdn: string | undefined;
  readonly walletNumber: string | undefined;
  readonly upstreamReference: string | undefined;
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly before: string | undefined;
  readonly limit: number;
}

/** @throws OperatorError when an option is wrong, or there is no such merchant. */
export async function readSearch({ deps }: Pick<Tools, 'deps'>, options: OrderOptions): Promise<Search> {
  const { merchant, currency, reference, phone, wallet, upstreamReference, after } = options;
  if (after !== undefined) requireId('txn', after, 'transaction');
  const from = options.from === undefined ? undefined : readTime(options.from);
  const until = options.to === undefined ? undefined : readTime(options.to);
  if (from !== undefined) requireSpan({ from, to: until ?? deps.clock.now() }, ', or before now if --to is left out');
  return {
    merchantId: merchant === undefined ? undefined : (await requireMerchant(deps, merchant)).id,
    currency: currency === undefined ? undefined : requireCurrency(currency),
    reference,
    msisdn: phone === undefined ? undefined : await readPhone(phone),
    walletNumber: wallet === undefined ? undefined : requireNumber(wallet),
    upstreamReference,
    from,
    until,
    before: after,
    limit: readLimit(options.limit),
  };
}

/** How a page ends: where the next one begins, or from when on was searched, unless that was asked for. */
export function endOfSearch(
  { orders, from }: FoundOrders<{ readonly id: string }>,
  search: Pick<Search, 'from' | 'limit'>,
): { readonly document: { readonly [name: string]: unknown }; readonly lines: readonly string[] } {
  const end = endOfPage(orders, search.limit);
  const document = { next: end.next, searched_from: from === undefined ? null : timeOf(from) };
  if (end.next !== null || from === undefined || search.from !== undefined) return { document, lines: end.lines };
  return { document, lines: [`Searched from ${timeOf(from)} on: --from searches further back.`] };
}

/** The phone, masked, or the account that pays or is paid; null: not known yet. */
export function partyOf(order: {
  readonly msisdn: string | null;
  readonly wallet_number: string | null;
}): string | null {
  return order.msisdn === null ? order.wallet_number : maskPhone(order.msisdn);
}
