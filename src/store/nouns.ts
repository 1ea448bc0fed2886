/**
 * The reads of the store, by noun, and what they return.
 *
 * Invariant: a read returns a record as it was committed, read after the call, except `merchant.at` and those named `recent`:
 * these answer from memory, and a change that relies on them guards the version.
 */

import type { CredentialWithStanding, SessionWithStanding } from '../domain/credential.ts';
import type { Touched } from '../domain/journal.ts';
import type { PayoutBatch, PayoutLine, Refund } from '../domain/outgoing-records.ts';
import type { Checkout, MerchantLogo } from '../domain/page-records.ts';
import type {
  Account,
  Attempt,
  Credential,
  IdempotencyRecord,
  JournalEntry,
  LimitCounter,
  Merchant,
  OneTimeCode,
  Payment,
  PaymentHistory,
  Setting,
  Wallet,
} from '../domain/records.ts';
import type { BankAccount, Proof, ProofFile, ProofStatus } from '../domain/transfer-records.ts';
import type { TransferReference } from '../domain/transfer-reference.ts';
import type { EventStatus, WebhookAttempt, WebhookEvent, WebhookSecret } from '../domain/webhook-records.ts';
import type { AttemptReads } from './attempt-reads.ts';
import type { JournalFilter } from './journal-reads.ts';
import type { PayoutBatchReads } from './payout-batch-reads.ts';
import type { PayoutLists } from './payout-list-reads.ts';
import type { RefundFilter } from './refund-reads.ts';
import type { DueBatch } from './round-reads.ts';

/** Which webhook events to list, in the order of their ids; `from` (ms) is of `created_at`. */
export interface EventFilter {
  readonly merchantId?: string | undefined;
  readonly status?: EventStatus | undefined;
  /** Inclusive. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  /** The last event of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Which wallets and flash accounts to list. */
export interface WalletFilter {
  /** E.164. */
  readonly phone?: string | undefined;
  readonly currency?: string | undefined;
  /** Only those after this number. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Which proofs of bank transfers to list. */
export interface ProofFilter {
  readonly merchantId?: string | undefined;
  readonly status?: ProofStatus | undefined;
  /** The last proof of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Reads by noun. Times are milliseconds since 1970; a row that is not there is `undefined`. */
export interface Nouns {
  readonly session: {
    /** The session, if its merchant and credential are there too. */
    caller(shard: number, id: string): Promise<SessionWithStanding | undefined>;
  };
  readonly credential: {
    caller(shard: number, id: string): Promise<CredentialWithStanding | undefined>;
    list(merchantId: string): Promise<Credential[]>;
  };
  readonly merchant: {
    get(shard: number, id: string): Promise<Merchant | undefined>;
    /** In the order of their ids, those after `after`; all of them if no limit is named. */
    list(page?: { readonly after?: string | undefined; readonly limit?: number | undefined }): Promise<Merchant[]>;
    /** The merchant at this version or a newer one, from memory where possible. */
    at(shard: number, id: string, version: number): Promise<Merchant | undefined>;
  };
  readonly payment: {
    get(shard: number, id: string): Promise<Payment | undefined>;
    /**
     * The payment as this process last wrote it, while it is open; perhaps older than the database's. Only for callers that guard
     * its version and read again when they lose.
     */
    recent(shard: number, id: string): Payment | undefined;
    /** In the order of their ids, which is that of their creation. */
    ofSession(shard: number, sessionId: string): Promise<Payment[]>;
    history(shard: number, id: string): Promise<PaymentHistory[]>;
    /** The merchant's newest payment under this reference of its own. */
    newest(shard: number, merchantId: string, reference: string): Promise<Payment | undefined>;
    /**
     * Payments that wait for the customer and whose time is up, and was not before `after`: pending, waiting for a code or for a
     * proof.
     */
    toExpire(now: number, limit: number, after?: number): Promise<Payment[]>;
  };
  readonly attempt: AttemptReads & {
    get(shard: number, id: string): Promise<Attempt | undefined>;
    /** The attempt as this process wrote it last; see `payment.recent`. */
    recent(shard: number, id: string): Attempt | undefined;
    /** All card attempts of a payment, in the order of their ids. */
    ofCardPayment(shard: number, paymentId: string): Promise<Attempt[]>;
    /**
     * A payment's mobile-money attempts that a carrier turned away (`not_sent`), and those of which the carrier later said that
     * it had taken them, or the money; in the order of their ids.
     */
    turnedAway(shard: number, paymentId: string): Promise<Attempt[]>;
    /** Open attempts, in the order of their ids, which is that of their creation; only those after `after`, if it is given. */
    listOpen(limit: number, after?: string): Promise<Attempt[]>;
    /**
     * Leases attempts with a due inquiry, each to one caller until `leaseUntil`, and returns them as leased. Attempts at the
     * connectors in `except` are skipped.
     */
    leaseDue(now: number, leaseUntil: number, limit: number, except?: readonly string[]): Promise<Attempt[]>;
  };
  readonly code: {
    /** A payment's one-time code. */
    get(shard: number, paymentId: string): Promise<OneTimeCode | undefined>;
  };
  readonly wallet: {
    get(shard: number, number: string): Promise<Wallet | undefined>;
    /** In the order of their numbers. Reads every wallet if a phone is named that has few. */
    list(filter: WalletFilter): Promise<Wallet[]>;
  };
  readonly limitCounter: {
    get(shard: number, id: string): Promise<LimitCounter | undefined>;
    /** Deletes counters that last counted something before this instant; returns how many. */
    reap(before: number, limit: number): Promise<number>;
  };
  readonly account: { get(shard: number, id: string): Promise<Account | undefined> };
  readonly transferReference: { get(shard: number, id: string): Promise<TransferReference | undefined> };
  readonly accounts: {
    /** A merchant's accounts, in the order of their ids. */
    ofMerchant(shard: number, merchantId: string): Promise<Account[]>;
  };
  readonly event: {
    get(shard: number, id: string): Promise<WebhookEvent | undefined>;
    list(filter: EventFilter): Promise<WebhookEvent[]>;
    /** Leases waiting events that are due, each to one caller until `leaseUntil`, and returns them as leased. */
    leaseDue(now: number, leaseUntil: number, limit: number): Promise<WebhookEvent[]>;
  };
  readonly webhookAttempts: { ofEvent(shard: number, eventId: string): Promise<WebhookAttempt[]> };
  readonly webhookSecret: {
    /** A merchant's secrets, whatever their status. */
    ofMerchant(shard: number, merchantId: string): Promise<WebhookSecret[]>;
  };
  readonly bankAccount: {
    get(shard: number, id: string): Promise<BankAccount | undefined>;
    /** A merchant's accounts, closed ones too, in the order of their ids. */
    ofMerchant(shard: number, merchantId: string): Promise<BankAccount[]>;
  };
  readonly proof: {
    get(shard: number, id: string): Promise<Proof | undefined>;
    ofPayment(shard: number, paymentId: string): Promise<Proof[]>;
    /** Proofs of the same file, by its digest. */
    ofDigest(shard: number, digest: string): Promise<Proof[]>;
    /** In the order of their ids; of all merchants if none is named. */
    list(filter: ProofFilter): Promise<Proof[]>;
  };
  readonly payoutLine: {
    get(shard: number, id: string): Promise<PayoutLine | undefined>;
    /**
     * Leases lines that may start, each to one caller until `leaseUntil`, and returns them as leased. Lines of the connectors in
     * `except` are skipped; there `wallet` stands for lines to wallets.
     */
    leaseDue(now: number, leaseUntil: number, limit: number, except?: readonly string[]): Promise<PayoutLine[]>;
    /** Makes a connector's lines due now that have been tried and wait for the next try; returns how many. */
    retryNow(connector: string, now: number, limit: number): Promise<number>;
  };
  /** What merchants read of their payouts. */
  readonly payouts: PayoutLists;
  readonly payoutBatch: PayoutBatchReads & {
    get(shard: number, id: string): Promise<PayoutBatch | undefined>;
    /**
     * Batches whose next occurrence is due, interleaved: the first of each merchant and receipt mode, then the second of each.
     * Those of suspended merchants wait; those in `except` (a merchant_id, a blank, a receipt_mode) are skipped.
     */
    toRun(now: number, limit: number, except?: readonly string[]): Promise<DueBatch[]>;
    /** Cancelled batches that may still have open lines. */
    toClose(now: number, limit: number): Promise<PayoutBatch[]>;
  };
  readonly refund: {
    get(shard: number, id: string): Promise<Refund | undefined>;
    /** A payment's refunds, in the order of their ids. */
    ofPayment(shard: number, paymentId: string): Promise<Refund[]>;
    /** In the order of their ids; of all merchants if none is named. */
    list(filter: RefundFilter): Promise<Refund[]>;
    /**
     * Leases refunds that may start, each to one caller until `leaseUntil`, and returns them as leased. Those of the connectors in
     * `except` are skipped.
     */
    leaseDue(now: number, leaseUntil: number, limit: number, except?: readonly string[]): Promise<Refund[]>;
  };
  readonly proofFile: { get(shard: number, id: string): Promise<ProofFile | undefined> };
  readonly checkout: { get(shard: number, id: string): Promise<Checkout | undefined> };
  readonly merchantLogo: { get(shard: number, merchantId: string): Promise<MerchantLogo | undefined> };
  /** What operators' commands did, in the order of their ids. */
  readonly journal: {
    list(filter: JournalFilter): Promise<JournalEntry[]>;
    /** The merchants that these records belong to; records that name no merchant are left out. */
    ownersOf(records: readonly Touched[]): Promise<string[]>;
  };
  /** What the database remembers about itself; all in shard 0. */
  readonly setting: { get(shard: number, id: string): Promise<Setting | undefined> };
  readonly idempotency: {
    get(shard: number, id: string): Promise<IdempotencyRecord | undefined>;
    /** Deletes records made before this instant; returns how many. */
    reap(before: number, limit: number): Promise<number>;
  };
}
