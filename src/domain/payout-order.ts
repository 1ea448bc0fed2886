/**
 * What a merchant orders when it pays out, and the batch and lines made from it.
 *
 * Invariant: before a batch is made of an order, its beneficiaries are at most a hundred and all different, and its total is
 * within the limit; every occurrence of a batch pays the same beneficiaries, each by a line of its own.
 */

import type { Transfer } from './change.ts';
import { type Currency, exponentOf } from './currency.ts';
import { payoutFeeOf } from './fee.ts';
import type {
  Beneficiary,
  PayoutApproval,
  PayoutBatch,
  PayoutFrequency,
  PayoutLine,
  SendingType,
} from './outgoing-records.ts';
import { costOf, reserveTransfer, START_LEASE_MS } from './payout.ts';
import type { Merchant, ReceiptMode } from './records.ts';

/** The most beneficiaries of one call (specification, Limits). */
export const MAX_BENEFICIARIES = 100;
/** How often failed lines may be paid again, one batch after the other: each time the whole chain before is checked. */
export const MAX_PAID_AGAIN = 10;
/** The most that one occurrence pays in all, fees aside, in whole units of its currency (specification, Limits). */
const MAX_TOTAL = 1_000_000n;
/** The longest note to the receivers. */
export const MAX_NOTE = 160;

/** The hour and zone of dated payouts where the merchant has set none (contract §5). */
const RUN_HOUR = 6;
const RUN_ZONE = 'UTC';

/** The most that one occurrence pays in all, in minor units. */
export function totalMost(currency: Currency): bigint {
  return MAX_TOTAL * 10n ** BigInt(exponentOf(currency));
}

/** When a merchant's dated payouts run. */
export function runTimeOf({ settings }: Pick<Merchant, 'settings'>): Pick<PayoutBatch, 'run_hour' | 'time_zone'> {
  return { run_hour: settings.payout_hour ?? RUN_HOUR, time_zone: settings.payout_time_zone ?? RUN_ZONE };
}

/** A beneficiary, checked and routed; without a fee yet. */
export type OrderedLine = Pick<
  Beneficiary,
  'msisdn' | 'wallet_number' | 'connector' | 'carrier' | 'amount' | 'retry_of'
> & {
  readonly amountMinor: bigint;
};

/** What a call orders, once its fields are validated. */
export interface PayoutOrder {
  readonly customer_reference: string;
  readonly currency: Currency;
  readonly receipt_mode: ReceiptMode;
  readonly sending_type: SendingType;
  readonly notify_url: string;
  readonly note: string | null;
  readonly language: string;
  readonly lines: readonly OrderedLine[];
  /** One date per occurrence, ascending; null: at once. */
  readonly dates: readonly string[] | null;
  readonly frequency: PayoutFrequency | null;
  /** The batch whose failed lines are paid again. */
  readonly retry_of: string | null;
}

/** What one occurrence pays. */
export interface PayoutTotals {
  readonly amount_minor: bigint;
  readonly fee_minor: bigint;
}

/** The sum of the amounts and the sum of the fees, in minor units. */
export function totalsOf(beneficiaries: readonly Pick<Beneficiary, 'amount_minor' | 'fee_minor'>[]): PayoutTotals {
  let amount_minor = 0n;
  let fee_minor = 0n;
  for (const one of beneficiaries) {
    amount_minor += BigInt(one.amount_minor);
    fee_minor += BigInt(one.fee_minor);
  }
  return { amount_minor, fee_minor };
}

/** Whether an operator has to approve the batch first (maker and checker). Fees do not count. */
export function approvalFor(
  merchant: Pick<Merchant, 'settings'>,
  amountMinor: bigint,
  currency: Currency,
): PayoutApproval {
  const from = merchant.settings.payout_approval_from?.[currency];
  return from !== undefined && amountMinor >= BigInt(from) ? 'waiting' : 'none';
}

/** Whether occurrences are still to come. */
export function hasMore(
  batch: Pick<PayoutBatch, 'next_occurrence' | 'occurrences' | 'cancelled_at' | 'approval'>,
): boolean {
  const called = batch.cancelled_at !== null || batch.approval === 'rejected';
  return !called && batch.next_occurrence <= batch.occurrences;
}

/** The id of a batch, who makes it and when (milliseconds), and when it first runs. */
export interface BatchOrigin {
  readonly shard: number;
  readonly id: string;
  /** The credential that makes it, or that minted the session that does. */
  readonly credentialId: string;
  /** When the first occurrence runs; null: at once. */
  readonly firstRunAt: number | null;
  readonly now: number;
}

/** The batch of an order: with today's fees, and waiting for an operator if it has to be approved. */
export function batchOf(merchant: Merchant, order: PayoutOrder, origin: BatchOrigin): PayoutBatch {
  const beneficiaries = order.lines.map((line) => beneficiaryOf(merchant, order, line));
  const approval = approvalFor(merchant, totalsOf(beneficiaries).amount_minor, order.currency);
  const startsNow = order.dates === null && approval === 'none';
  return {
    shard: origin.shard,
    id: origin.id,
    version: 1,
    merchant_id: merchant.id,
    customer_reference: order.customer_reference,
    currency: order.currency,
    receipt_mode: order.receipt_mode,
    sending_type: order.sending_type,
    notify_url: order.notify_url,
    note: order.note,
    language: order.language,
    beneficiaries,
    dates: order.dates,
    frequency: order.frequency,
    ...runTimeOf(merchant),
    occurrences: order.dates?.length ?? 1,
    next_occurrence: startsNow ? 2 : 1,
    next_run_at: approval === 'none' ? origin.firstRunAt : null,
    approval,
    paused_at: null,
    cancelled_at: null,
    closed_at: null,
    retry_of: order.retry_of,
    credential_id: origin.credentialId,
    created_at: origin.now,
  };
}

function beneficiaryOf(merchant: Merchant, order: PayoutOrder, line: OrderedLine): Beneficiary {
  const { amountMinor, ...known } = line;
  const fee = payoutFeeOf(merchant, order.receipt_mode, amountMinor, order.currency);
  return { amount_minor: amountMinor.toString(), fee_minor: fee.toString(), ...known };
}

/**
 * The lines of one occurrence, as they are made: nothing reserved, nothing due. `ids` are their transaction_ids, one for each
 * beneficiary.
 */
export function linesOf(batch: PayoutBatch, occurrence: number, ids: readonly string[], now: number): PayoutLine[] {
  return batch.beneficiaries.map((beneficiary, position) => ({
    shard: batch.shard,
    id: ids[position] ?? missing(),
    version: 1,
    merchant_id: batch.merchant_id,
    batch_id: batch.id,
    occurrence,
    position,
    scheduled_date: batch.dates?.[occurrence - 1] ?? null,
    status: 'pending',
    receipt_mode: batch.receipt_mode,
    msisdn: beneficiary.msisdn,
    wallet_number: beneficiary.wallet_number,
    connector: beneficiary.connector,
    carrier: beneficiary.carrier,
    amount: beneficiary.amount,
    amount_minor: BigInt(beneficiary.amount_minor),
    fee_minor: BigInt(beneficiary.fee_minor),
    currency: batch.currency,
    customer_reference: batch.customer_reference,
    notify_url: batch.notify_url,
    note: batch.note,
    language: batch.language,
    attempt_id: null,
    late_attempt_id: null,
    provider_reference: null,
    reason: null,
    // The event that announces the line.
    events: 1,
    tries: 0,
    reserved_at: null,
    next_start_at: null,
    retried_by: null,
    retry_of: beneficiary.retry_of ?? null,
    created_at: now,
    started_at: null,
    completed_at: null,
  }));
}

/** Throws: the caller made fewer ids than the batch has lines. */
export function missing(): never {
  throw new Error('each line needs an id');
}

/**
 * Lines whose money is reserved in the change that writes them; they are leased to the process that commits it, which starts
 * them.
 */
export function reserved(
  lines: readonly PayoutLine[],
  transferIds: readonly string[],
  now: number,
): { readonly lines: PayoutLine[]; readonly transfers: Transfer[] } {
  return {
    lines: lines.map((line) => ({ ...line, reserved_at: now, next_start_at: now + START_LEASE_MS })),
    transfers: lines.map((line, at) => reserveTransfer(line, transferIds[at] ?? missing(), now)),
  };
}

/** What lines cost together, fees included. */
export function costOfLines(lines: readonly PayoutLine[]): bigint {
  return lines.reduce((sum, line) => sum + costOf(line), 0n);
}
