/**
 * What is stored: one record type per noun. Field names are the column names and, where a field travels, the wire names.
 *
 * Money is `bigint` minor units, instants are milliseconds since 1970 (UTC). `version` counts the guarded updates of a record: a
 * change that relied on an older version loses and is decided again.
 */

import type { Currency } from './currency.ts';
import type { LateReason, Reason } from './reason.ts';
import type { CodeGuard, TrafficLimit } from './traffic-limit.ts';
import type { TransferCause } from './transfer-cause.ts';

/** Every record lives in a shard; the shard is the first column of every key. */
export interface Keyed {
  readonly shard: number;
  readonly id: string;
}

/** A record that is updated: `version` counts its updates. */
export interface Versioned extends Keyed {
  readonly version: number;
}

/** SUSPENDED: every call of the merchant is refused (1004). */
export type MerchantStatus = 'ALLOWED' | 'SUSPENDED';

/** Amounts are decimal digits of minor units: a rule is stored as JSON, which has no exact integers. */
export interface FeeRule {
  /** The method that it applies to; absent: every method of payment without a rule of its own, and no payout. */
  readonly method?: PaymentMethod | PayoutFeeMethod;
  readonly currency: Currency;
  /** Parts per million: 25000 is 2.5 %. */
  readonly rate_ppm: number;
  readonly fixed_minor?: string;
  readonly min_minor?: string;
  readonly max_minor?: string;
}

/** Smallest and largest amount (minor units, decimal digits), by currency. */
export type AmountLimits = {
  readonly [currency in Currency]?: { readonly min?: string; readonly max?: string };
};

/** A merchant's look on the hosted page. */
export interface MerchantBrand {
  /** `#rrggbb`; the page keeps text readable whatever it is. */
  readonly colour?: string;
  /** The version of its logo, so that browsers may keep it for ever; absent: none. */
  readonly logo?: number;
}

/** What a merchant's operator may set. Absent means the default. */
export interface MerchantSettings {
  /** The currencies this merchant may use; absent: all. */
  readonly currencies?: readonly Currency[];
  /** From which amount (minor units, decimal digits) a wallet payment asks for a one-time code, by currency. */
  readonly code_thresholds?: { readonly [currency in Currency]?: string };
  /** Smallest and largest payment (minor units, decimal digits), by currency. */
  readonly limits?: AmountLimits;
  /** Smallest and largest payment by one method, by currency, in addition to `limits`: both apply. */
  readonly method_limits?: { readonly [method in PaymentMethod]?: AmountLimits };
  /** The methods that its customers may choose; absent: all that the gateway can carry out. */
  readonly methods?: readonly PaymentMethod[];
  /** How the hosted page shows the merchant. */
  readonly brand?: MerchantBrand;
  readonly fees?: readonly FeeRule[];
  /** When true, every session must say its scope (contract §3). */
  readonly scope_required?: boolean;
  /** The hour of the day (0 to 23) at which dated payouts run; absent: 6. */
  readonly payout_hour?: number;
  /** The time zone (IANA) of that hour and its day; absent: UTC. */
  readonly payout_time_zone?: string;
  /**
   * Maker and checker, by currency: a batch with occurrences of at least this amount (minor units, decimal digits, without fees)
   * waits for an operator's approval. Absent: none does.
   */
  readonly payout_approval_from?: { readonly [currency in Currency]?: string };
  /** Who covers the fees of its payments; absent: whoever collects says so. */
  readonly fee_covered_by?: FeeCoveredBy;
  /** When the funds of its payments become available; absent: whoever collects says so. */
  readonly delivery_behaviour?: DeliveryBehaviour;
  /** Hosts that notify and redirect URLs may name; absent or empty: any (contract §6). */
  readonly url_hosts?: readonly string[];
  /** Calls per window, by limit, in place of the contract's (contract §8). */
  readonly rate_limits?: { readonly [limit in TrafficLimit | CodeGuard]?: number };
}

/** A business that is paid. */
export interface Merchant extends Versioned {
  readonly name: string;
  readonly status: MerchantStatus;
  readonly settings: MerchantSettings;
  readonly created_at: number;
}

/** RETIRING: accepted until a certain time, because it is being replaced. */
export type CredentialStatus = 'ALLOWED' | 'RETIRING' | 'REVOKED';

/** A merchant credential. `id` is the public key id; only the SHA-256 of the secret is stored. */
export interface Credential extends Versioned {
  readonly merchant_id: string;
  readonly secret_hash: string;
  readonly status: CredentialStatus;
  /** While RETIRING: until when it is still accepted. */
  readonly retires_at: number | null;
  readonly expires_at: number | null;
  /** Caller addresses or CIDR ranges; null: any. */
  readonly allowed_addresses: readonly string[] | null;
  readonly created_at: number;
}

export type SessionStatus = 'ACTIVE' | 'CONSUMED';
export type SessionScope = 'collect' | 'payout';

/** An amount, a currency and a reference, bound to a short-lived token. Only the token's digest is stored. */
export interface Session extends Versioned {
  readonly merchant_id: string;
  readonly credential_id: string;
  readonly token_hash: string;
  readonly status: SessionStatus;
  /** The bound amount exactly as it was minted: responses and webhooks echo these bytes. */
  readonly amount: string;
  readonly amount_minor: bigint;
  readonly currency: Currency;
  readonly customer_reference: string;
  readonly scope: SessionScope | null;
  readonly device_fingerprint: string | null;
  /** How many payments were collected on it. */
  readonly payments: number;
  /** The payment whose submit is under way or has consumed the session. */
  readonly submitting_payment_id: string | null;
  readonly issued_at: number;
  readonly expires_at: number;
}

export type PaymentStatus =
  | 'pending'
  | 'processing'
  | 'pending_otp_verification'
  | 'pending_mobile_money_verification'
  | 'pendingBankProofUpload'
  | 'approved'
  | 'declined'
  | 'failed'
  | 'cancelled'
  | 'expired'
  | 'refunded';

export type PaymentMethod = 'wallet' | 'mobile_money' | 'card' | 'flash' | 'bank_transfer' | 'google_pay' | 'apple_pay';

/** The methods by which an upstream moves the money. */
export type UpstreamMethod = Extract<PaymentMethod, 'mobile_money' | 'card' | 'google_pay' | 'apple_pay'>;

export type FeeCoveredBy = 'buyer' | 'merchant';
export type DeliveryBehaviour = 'direct_delivery' | 'delayed_delivery';

/** A customer's intention to pay on a session, and what became of it. */
export interface Payment extends Versioned {
  readonly merchant_id: string;
  readonly session_id: string;
  readonly status: PaymentStatus;
  /** `none` until the customer has chosen at submit. */
  readonly method: PaymentMethod | 'none';
  readonly amount: string;
  readonly amount_minor: bigint;
  readonly currency: Currency;
  readonly customer_reference: string;
  readonly fee_minor: bigint;
  /** What the customer pays: the amount, plus the fee when the buyer covers it. */
  readonly total_minor: bigint;
  readonly fee_covered_by: FeeCoveredBy;
  readonly delivery_behaviour: DeliveryBehaviour;
  readonly notify_url: string | null;
  readonly success_redirect_url: string | null;
  readonly fail_redirect_url: string | null;
  /** The wallet that pays, once submitted. */
  readonly wallet_number: string | null;
  /** The phone that pays (E.164), once submitted. */
  readonly msisdn: string | null;
  readonly carrier: string | null;
  /** The card network's session that the hosted form fills: bound to this payment, used once. */
  readonly hosted_session_id: string | null;
  /** The account that a bank transfer goes to, once submitted. */
  readonly bank_account_id: string | null;
  /** The hosted page that it is paid on. */
  readonly checkout_id: string | null;
  readonly attempt_id: string | null;
  readonly provider_reference: string | null;
  /** Why it ended as it did: a code of `domain/reason.ts`. */
  readonly reason: Reason | null;
  /** How many webhook events it has had: the next one's sequence is one more. */
  readonly events: number;
  /** The language of texts that are sent to the customer. */
  readonly language: string;
  readonly created_at: number;
  readonly submitted_at: number | null;
  /** Set exactly when the status is final. */
  readonly completed_at: number | null;
  /** When delayed funds were released to the merchant; null: not yet, or delivered directly. */
  readonly released_at: number | null;
  /** What has been given back to the customer. */
  readonly refunded_minor: bigint;
  /** What is on its way back: refunds that are open. */
  readonly refunding_minor: bigint;
  /** When it expires if the customer does nothing. */
  readonly expires_at: number;
}

/** One line of a payment's timeline. Append-only; the status column is its summary. */
export interface PaymentHistory {
  readonly shard: number;
  readonly payment_id: string;
  /** The payment's version that this line belongs to. */
  readonly version: number;
  readonly status: PaymentStatus;
  readonly reason: Reason | null;
  readonly at: number;
}

/**
 * `challenged`: the issuer is challenging the customer, and no money can have moved. `authenticated`: the issuer has recognised
 * its customer, and money is being requested.
 */
export type AttemptStatus =
  | 'intended'
  | 'challenged'
  | 'authenticated'
  | 'waiting'
  | 'unknown'
  | 'approved'
  | 'declined'
  | 'not_sent';

/** What an attempt moves money for. */
export type AttemptPurpose = 'payment' | 'payout' | 'refund';

/** One try to move money at an upstream. Written before the network is called, settled by what the network says. */
export interface Attempt extends Versioned {
  readonly merchant_id: string;
  readonly purpose: AttemptPurpose;
  /** The id of what it moves money for: a payment's or a payout line's transaction_id, or a refund's id. */
  readonly payment_id: string;
  readonly connector: string;
  readonly method: UpstreamMethod;
  readonly status: AttemptStatus;
  /** The reference that the upstream knows it by: derived from the id, so that it is never sent under another. */
  readonly reference: string;
  /** The phone that pays or receives (E.164); null for cards. */
  readonly msisdn: string | null;
  /** The carrier's name as customers know it. */
  readonly carrier: string;
  /** What the upstream is asked for: the payment's total by this method, its fee included. */
  readonly amount_minor: bigint;
  readonly fee_minor: bigint;
  readonly currency: Currency;
  readonly provider_reference: string | null;
  readonly reason: Reason | LateReason | null;
  /** Where the issuer challenges the customer, sealed. Null before and after that, and for other methods. */
  readonly challenge: string | null;
  /** What the card network said of the customer's authentication, in its words. */
  readonly three_ds_status: string | null;
  /** Electronic commerce indicator (EMV 3-D Secure): two digits. */
  readonly eci: string | null;
  /** How often the inquiry round has asked the upstream since the attempt's own call. */
  readonly inquiries: number;
  /** When the upstream first said that it does not know the reference. */
  readonly not_found_at: number | null;
  /**
   * Which account of ours at the upstream it was sent by: another one's "not found" proves nothing. Null: made before this was
   * recorded.
   */
  readonly upstream_account: string | null;
  /** When the upstream is asked again; null: never, as the attempt has paid, cannot pay, or was asked about often enough. */
  readonly next_inquiry_at: number | null;
  readonly created_at: number;
  readonly settled_at: number | null;
}

/** How people receive a payout. */
export type ReceiptMode = 'mobile_money' | 'wallet';
/** What a fee on payouts is called in a fee rule. */
export type PayoutFeeMethod = `payout_${ReceiptMode}`;

/** A one-time code; `id` is the payment's. Only a keyed hash of the code is stored. */
export interface OneTimeCode extends Versioned {
  readonly code_hash: string;
  /** The phone it was sent to (E.164). */
  readonly sent_to: string;
  readonly resends: number;
  /** The account's `changes` when its PIN was verified for this code. */
  readonly account_changes: number;
  /** When codes were tried, newest last, within the limit's window (milliseconds). */
  readonly tries: readonly number[];
  readonly expires_at: number;
  readonly created_at: number;
}

export type WalletKind = 'wallet' | 'flash';

/**
 * What a limit counts: how often something was tried or sent recently, and the lock that came of it. The columns are named after the
 * first such limit, on wrong PINs; `LimitCounter` lists the others.
 */
export interface LimitCount {
  /** How many wrong PINs or codes in a row, or how many texts in the present span. */
  readonly pin_failures: number;
  /** When a PIN or code was last wrong (milliseconds); null: not since the last right one. Of texts: when their span began. */
  readonly pin_failed_at: number | null;
  /** Until when every further try is refused (milliseconds); null: nothing is locked. */
  readonly locked_until: number | null;
}

/** A customer's wallet or flash account; `id` is its number. Its money is in the ledger account of the same id. */
export interface Wallet extends Versioned, LimitCount {
  readonly kind: WalletKind;
  readonly currency: Currency;
  readonly phone: string;
  /** Empty: no PIN opens it, until an operator sets one. */
  readonly pin_hash: string;
  /** How often an operator has changed its PIN or phone. */
  readonly changes: number;
  readonly created_at: number;
}

/**
 * The counter of a limit, in a row of its own (table `pin_guard`). It counts one of four things:
 * - PINs tried for a number that is no account, as wrong PINs are counted for an account, so that nobody learns which numbers exist.
 *   `id` is a keyed hash of what was entered, which may be anything.
 * - wrong PINs in a session, for whatever accounts: `id` is the session's.
 * - wrong one-time codes of an account, over all of its payments: `id` is a keyed hash of its number.
 * - texts sent for an account: `id` is a keyed hash of its number, too.
 */
export interface LimitCounter extends Versioned, LimitCount {
  readonly pin_failed_at: number;
}

/** A ledger account: a projection of the transfers that name it. */
export interface Account extends Keyed {
  readonly currency: Currency;
  readonly balance: bigint;
  /** Whether the balance may never go below zero. */
  readonly floored: boolean;
}

/** One movement of money between two accounts: its two sides sum to zero by construction. */
export interface LedgerTransfer extends Keyed {
  readonly debit_shard: number;
  readonly debit_account: string;
  readonly credit_shard: number;
  readonly credit_account: string;
  readonly amount_minor: bigint;
  readonly currency: Currency;
  readonly cause: TransferCause;
  /** The payment, refund or command that moved it. */
  readonly cause_id: string;
  readonly at: number;
}

/** Something a database remembers about itself; `id` is its name. All settings are in shard 0. */
export interface Setting extends Versioned {
  readonly value: string;
}

/**
 * A remembered reply, or the name of a command that has been carried out. `id` is a keyed hash of what names the call (scope,
 * route and Idempotency-Key; a card callback's identity), or `command:` and the command's name.
 */
export interface IdempotencyRecord extends Versioned {
  /** Keyed HMAC of the request's canonical JSON. */
  readonly request_hash: string;
  /** The reply's HTTP status; 102 while the first run has begun and has no reply yet. */
  readonly status: number;
  /** The response body, sealed; empty while there is none. */
  readonly body: string;
  readonly created_at: number;
}

/** One change made by an operator's command. */
export interface JournalEntry extends Versioned {
  /** The command, without its options: `attempt book`. */
  readonly verb: string;
  /** Who gave the command: the user that their machine knows, after the name that they stated, if any: `claire, as root`. */
  readonly said_by: string;
  /** The reason that they stated, if any. */
  readonly why: string | null;
  /** The ids of what was made, changed or moved, and of its owners, sorted. */
  readonly about: readonly string[];
  readonly created_at: number;
}
