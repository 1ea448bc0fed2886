/**
 * Why money moved, as the ledger keeps it and statements tell it (docs/statements.md).
 *
 * Invariant: a cause that has been written is never renamed: statements of years ago are read again.
 */

/** Why one line of the ledger moved its money. */
export type TransferCause =
  | PaymentCause
  /** A delivery that was held has been released. */
  | 'release'
  | 'payout_reserved'
  | 'payout'
  | 'payout_fee'
  | 'payout_returned'
  | 'refund_reserved'
  | 'refund'
  | 'refund_returned'
  /** Money that moved after its order had ended, until an operator decides. */
  | 'late_success'
  /** The operator's decision: kept, paid for, borne by the gateway, or given back. */
  | `late_${PaymentCause}`
  | 'late_payout'
  | 'late_payout_fee'
  | 'late_refund'
  | 'late_borne'
  | 'late_given_back'
  /** Money left for a merchant's bank. */
  | 'settlement'
  | 'balance_credit'
  | 'wallet_credit'
  | 'wallet_open'
  /** A sandbox merchant's opening balance. */
  | 'float';

/** The two parts of an approved payment: the merchant's share, and the gateway's. */
export type PaymentCause = 'payment' | 'fee';

/** The causes of what moves on a merchant's own balances, which a statement can show. */
export const MERCHANT_CAUSES = [
  'payment',
  'release',
  'refund_reserved',
  'refund',
  'refund_returned',
  'payout_reserved',
  'payout',
  'payout_fee',
  'payout_returned',
  'late_payment',
  'late_payout',
  'late_payout_fee',
  'late_refund',
  'settlement',
  'balance_credit',
  'float',
] as const satisfies readonly TransferCause[];
/** One of `MERCHANT_CAUSES`. */
export type MerchantCause = (typeof MERCHANT_CAUSES)[number];
