/**
 * What is stored about money that goes out: payout batches, their lines, and refunds.
 *
 * The rules of `records.ts` hold here too: names are columns, money is `bigint` minor units, instants are milliseconds.
 */

import type { Currency } from './currency.ts';
import type { Reason } from './reason.ts';
import type { PaymentMethod, ReceiptMode, Versioned } from './records.ts';

/** When a batch pays: at once, on given dates, or on dates at a regular distance (contract §5). */
export type SendingType = 'immediate' | 'scheduled' | 'recurring';
/** The distance between the dates of a recurring batch. */
export type PayoutFrequency = 'daily' | 'weekly' | 'biweekly' | 'monthly';

/** Whom each occurrence of a batch pays; amounts are decimal digits of minor units, because it is stored as JSON. */
export interface Beneficiary {
  /** E.164; null for wallets. */
  readonly msisdn: string | null;
  readonly wallet_number: string | null;
  /** The route to the phone (as `PayoutLine.connector`), and its carrier as people know it; null for wallets. */
  readonly connector: string | null;
  readonly carrier: string | null;
  /** As the merchant wrote it. */
  readonly amount: string;
  readonly amount_minor: string;
  readonly fee_minor: string;
  /** The failed line that this pays again; absent: none. */
  readonly retry_of?: string;
}

/** `waiting`: for an operator (maker and checker). */
export type PayoutApproval = 'none' | 'waiting' | 'approved' | 'rejected';

/** One call to pay up to a hundred people, once or on dates. Its status follows from its lines, and is not stored. */
export interface PayoutBatch extends Versioned {
  readonly merchant_id: string;
  readonly customer_reference: string;
  readonly currency: Currency;
  readonly receipt_mode: ReceiptMode;
  readonly sending_type: SendingType;
  readonly notify_url: string;
  /** The merchant's words to the receivers. */
  readonly note: string | null;
  /** The language of sentences in webhooks. */
  readonly language: string;
  readonly beneficiaries: readonly Beneficiary[];
  /** One calendar date (ISO 8601) per occurrence, ascending; null: immediate. */
  readonly dates: readonly string[] | null;
  readonly frequency: PayoutFrequency | null;
  /** The hour and time zone of the dates: the merchant's when the batch was made. */
  readonly run_hour: number;
  readonly time_zone: string;
  readonly occurrences: number;
  /** The first occurrence that has not been run: from 1 to `occurrences`, and one more when all have. */
  readonly next_occurrence: number;
  /** When that occurrence runs; null: never, or not while the batch is paused or waits for approval. */
  readonly next_run_at: number | null;
  readonly approval: PayoutApproval;
  readonly paused_at: number | null;
  readonly cancelled_at: number | null;
  /** When the last line of the cancelled batch became final. */
  readonly closed_at: number | null;
  /** The batch whose failed lines this one pays again. */
  readonly retry_of: string | null;
  /** The credential that made it, or minted the session that did; null: it was made before this was recorded. */
  readonly credential_id: string | null;
  readonly created_at: number;
}

/** The status of a payout line, as its merchant reads it. */
export type PayoutStatus = 'pending' | 'processing' | 'completed' | 'failed';

/** One beneficiary of one occurrence. `id` is its transaction_id. */
export interface PayoutLine extends Versioned {
  readonly merchant_id: string;
  readonly batch_id: string;
  /** 1, 2, … within the batch. */
  readonly occurrence: number;
  /** 0 … 99: its place in the call. */
  readonly position: number;
  readonly scheduled_date: string | null;
  readonly status: PayoutStatus;
  readonly receipt_mode: ReceiptMode;
  readonly msisdn: string | null;
  readonly wallet_number: string | null;
  /** The name that the route to the phone gives (`Sender.route`): not the connector's own, which its attempts store. */
  readonly connector: string | null;
  readonly carrier: string | null;
  /** As the merchant wrote it. */
  readonly amount: string;
  readonly amount_minor: bigint;
  readonly fee_minor: bigint;
  readonly currency: Currency;
  readonly customer_reference: string;
  readonly notify_url: string;
  readonly note: string | null;
  readonly language: string;
  readonly attempt_id: string | null;
  /** An attempt that was no longer waited for, but was accepted, or has paid, all the same: nothing more may be sent. */
  readonly late_attempt_id: string | null;
  readonly provider_reference: string | null;
  /** Why it failed, or why it waits: a code of `domain/reason.ts`. */
  readonly reason: Reason | null;
  /** How many webhook events it has had. */
  readonly events: number;
  /** How often a start of its payment was tried, successfully or not. */
  readonly tries: number;
  /** Since when its amount and fee are in the merchant's reserved balance; null: not yet, or no longer. */
  readonly reserved_at: number | null;
  /** When its payment may start; the process that starts it first moves this on as a lease. Null: not yet due, or started. */
  readonly next_start_at: number | null;
  /** The batch that pays this line again. */
  readonly retried_by: string | null;
  /** The failed line that this one pays again. */
  readonly retry_of: string | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly completed_at: number | null;
}

/** The status of a refund, as its merchant reads it. */
export type RefundStatus = 'pending' | 'processing' | 'completed' | 'failed';

/** Money of an approved payment on its way back to the customer, by the method that paid. */
export interface Refund extends Versioned {
  readonly merchant_id: string;
  readonly payment_id: string;
  readonly status: RefundStatus;
  readonly method: PaymentMethod;
  /** As the merchant wrote it, or all that was left. */
  readonly amount: string;
  readonly amount_minor: bigint;
  /** How much of it was taken from what was still held for the payment. */
  readonly from_held_minor: bigint;
  readonly currency: Currency;
  /** The merchant's words. */
  readonly note: string | null;
  readonly msisdn: string | null;
  readonly wallet_number: string | null;
  /** Who sends it: as `PayoutLine.connector`, or the card network's name. */
  readonly connector: string | null;
  readonly carrier: string | null;
  readonly attempt_id: string | null;
  /** An attempt that was no longer waited for, but was accepted, or has paid, all the same: nothing more may be sent. */
  readonly late_attempt_id: string | null;
  readonly provider_reference: string | null;
  /** Why it failed, or why it waits. */
  readonly reason: Reason | null;
  readonly tries: number;
  /** When it may start; null: it has started, or a person executes it by hand. */
  readonly next_start_at: number | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly completed_at: number | null;
}
