/** What is stored for the pages that customers see: the page itself, and what a merchant has put on it. As in `records.ts`. */

import type { Versioned } from './records.ts';

/** What a shop said about its customer with the collect: the page offers it, and asks only for what is missing (contract §4). */
export interface Given {
  /** E.164. */
  readonly given_msisdn: string | null;
  readonly given_wallet_number: string | null;
  readonly given_flash_number: string | null;
}

/** A hosted page. Only the SHA-256 of its ticket, and of the cookie that follows, is stored. */
export interface Checkout extends Versioned, Given {
  readonly merchant_id: string;
  readonly session_id: string;
  /** The payment that the page shows: a later one when the customer tries again. */
  readonly payment_id: string;
  readonly ticket_hash: string;
  /** The hash of the opening browser's cookie; null: not opened yet. */
  readonly page_hash: string | null;
  readonly opened_at: number | null;
  readonly created_at: number;
  readonly expires_at: number;
}

/** A merchant's logo; `id` is the merchant's. */
export interface MerchantLogo extends Versioned {
  readonly content_type: string;
  /** Base64. */
  readonly content: string;
  readonly created_at: number;
}
