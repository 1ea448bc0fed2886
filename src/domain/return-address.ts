/**
 * Addresses of shops that browsers are sent back to.
 *
 * Invariant: the shop's own address stays as it is but for what the shop needs to know, which its query says once; whatever the
 * address, what comes out fits into a header.
 */

import { isPaid } from './payment.ts';
import type { Payment } from './records.ts';

/** The page that sends a customer back to a shop that gave no address for it. It shows no payment, and anybody may open it. */
export const RETURNED_PATH = '/checkout/closed/returned';

/**
 * Whether an address, including its fragment, holds only characters that a browser keeps in place: no blanks, no control
 * characters, no backslashes. Letters of any script are fine: they are escaped when the address is written.
 */
export function isPlainAddress(address: string): boolean {
  return !/[\p{Z}\p{Cc}\\]/u.test(address);
}

/**
 * Sets fields of an address's query, before its fragment: fields of the same names, which whoever made the payment may have put there,
 * are dropped, so that a shop that reads the first of two is not told somebody else's. Written as a browser would send it, because
 * it goes into headers too.
 */
export function withQuery(address: string, fields: { readonly [name: string]: string }): string {
  const hash = address.indexOf('#');
  const [base, fragment] = hash < 0 ? [address, ''] : [address.slice(0, hash), address.slice(hash)];
  const mark = base.indexOf('?');
  const [path, query] = mark < 0 ? [base, ''] : [base.slice(0, mark), base.slice(mark + 1)];
  const pairs = query.split('&').flatMap((pair) => withoutFields(pair, fields) ?? []);
  if (pairs.at(-1) === '') pairs.pop();
  pairs.push(String(new URLSearchParams(fields)));
  return new URL(`${path}?${pairs.join('&')}${fragment}`).href;
}

/** A pair of a query without those parts that give a field; undefined if nothing is left. Some shops read `;` like `&`. */
function withoutFields(pair: string, fields: { readonly [name: string]: string }): string | undefined {
  // The mark in front keeps the parser from dropping a question mark that begins a name.
  const names = (part: string): string[] => [...new URLSearchParams(`&${part}`).keys()];
  const kept = pair.split(';').filter((part) => !names(part).some((name) => Object.hasOwn(fields, name)));
  return kept.length === 0 ? undefined : kept.join(';');
}

/**
 * Where to send a payment's customer back to: the shop's success address if the payment was paid, or `mayBePaid`, and its failure
 * address otherwise. `transaction_id` and `status` are set in its query (contract §4). Undefined if the shop gave no such address.
 *
 * Shops treat an arrival at their success address as a paid order. So an unpaid one goes there only when money may have moved, or has
 * come too late to count, because then the shop has to check, and must not ask for it again.
 */
export function shopAddress(payment: Payment, { mayBePaid = false } = {}): string | undefined {
  const given = isPaid(payment) || mayBePaid ? payment.success_redirect_url : payment.fail_redirect_url;
  return given === null ? undefined : withQuery(given, { transaction_id: payment.id, status: payment.status });
}
