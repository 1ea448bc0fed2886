/**
 * A drawing for each way to pay, for shops that show their own choice of them (`icon_url` of a transaction's `payment_methods`).
 *
 * They are signs and not logos: the brands of wallets, carriers and card networks have rules of their own about theirs.
 */

import { PAYMENT_METHODS } from '../domain/payment.ts';
import type { PaymentMethod } from '../domain/records.ts';
import type { PageAnswer } from '../messages/page.ts';

/** `/checkout/methods/wallet.svg`; http's `present.ts` names it. */
export const ICON_PATH = '/checkout/methods/:file';

/** A card that is held to a reader: waves. */
const HELD_TO = '<path d="M10.5 12.5a6 6 0 0 1 0 7M14.5 10a10.5 10.5 0 0 1 0 12M18.5 7.5a15 15 0 0 1 0 17"/>';

/** White lines of 2.2 on a tile of 32 by 32. */
const LINES: { readonly [method in PaymentMethod]: string } = {
  wallet:
    '<path d="M22 13V9.5H9.5a2.5 2.5 0 0 0 0 3.5H25v11H10a3 3 0 0 1-3-3v-9.5"/><circle cx="20.8" cy="18.5" r=".6"/>',
  mobile_money: '<rect x="10.5" y="5.5" width="11" height="21" rx="2.5"/><path d="M14.7 22.8h2.6"/>',
  card: '<rect x="5.5" y="9" width="21" height="14.5" rx="2.5"/><path d="M5.5 13.7h21M9.5 19h4.5"/>',
  flash: '<path d="M18 5.5 9 18h6.5L14 26.5 23 14h-6.5z"/>',
  bank_transfer: '<path d="M6 13 16 6.5 26 13zM9.5 16.5v5M16 16.5v5M22.5 16.5v5M6.5 25h19"/>',
  google_pay: HELD_TO,
  apple_pay: HELD_TO,
};

/** The drawing of a file's name; undefined if no way to pay is called so. Other sites may show it: it is the same for everybody. */
export function methodIcon(file: string): PageAnswer | undefined {
  const method = PAYMENT_METHODS.find((one) => file === `${one}.svg`);
  if (method === undefined) return undefined;
  return {
    status: 200,
    type: 'image/svg+xml',
    body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#0b6e4f"/><g fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round">${LINES[method]}</g></svg>`,
    headers: {
      'Cache-Control': 'public, max-age=86400',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cross-Origin-Resource-Policy': 'cross-origin',
    },
  };
}
