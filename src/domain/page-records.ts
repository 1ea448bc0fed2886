/**
 * What is kept for the pages that customers see: the page itself, and what a merchant has put on it. As in `records.ts`.
 */

import type { Versioned } from './records.ts';

/** A hosted page. Of its ticket and of the cookie that follows only SHA-256 is kept. */
export interface Checkout extends Versioned {
  readonly merchant_id: string;
  readonly session_id: string;
  /** The payment that the page shows: a later one when the customer tries again. */
  readonly payment_id: string;
  readonly ticket_hash: string;
  /** Of the browser that opened it; null while nobody has. */
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
