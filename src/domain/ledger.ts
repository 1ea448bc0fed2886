/**
 * The ledger: double entry, one transfer per line, per currency.
 *
 * A transfer debits one account and credits another by the same amount, so every line sums to zero by construction. A balance is
 * credits less debits. Customers' wallets and merchants' balances are what we owe: they are never negative. What upstreams hold
 * for us (`transit`) and what we put in (`float`) are the other side, which is negative.
 */

import type { AccountRef, Transfer } from './change.ts';
import type { Currency } from './currency.ts';
import { shardOf } from './ids.ts';
import type { Attempt, Payment } from './records.ts';
import type { PaymentCause } from './transfer-cause.ts';
import { shardOfWallet } from './wallet.ts';

/** A merchant's three balances: see `merchantAccount`. */
export type MerchantAccount = 'available' | 'reserved' | 'held';

/** A merchant's balance: `available` pays payouts, `reserved` waits for open ones, `held` awaits release. */
export function merchantAccount(merchantId: string, what: MerchantAccount, currency: Currency): AccountRef {
  return { shard: shardOf(merchantId), id: `${merchantId}:${what}:${currency}`, floored: true };
}

/** A customer's wallet or flash account. */
export function walletAccount(number: string): AccountRef {
  return { shard: shardOfWallet(number), id: number, floored: true };
}

/** Fees earned from merchants of that shard. */
export function feesAccount(shard: number, currency: Currency): AccountRef {
  return { shard, id: `fees:${currency}`, floored: false };
}

/** What an upstream has taken from customers and owes us. */
export function transitAccount(shard: number, connector: string, currency: Currency): AccountRef {
  return { shard, id: `transit:${connector}:${currency}`, floored: false };
}

/** Money put into the books from outside: opening balances and credits by the operator. */
export function floatAccount(shard: number, currency: Currency): AccountRef {
  return { shard, id: `float:${currency}`, floored: false };
}

/** Money paid out to merchants' own banks. */
export function settledAccount(shard: number, currency: Currency): AccountRef {
  return { shard, id: `bank:${currency}`, floored: false };
}

/** Money that arrived and belongs to no open payment: an operator must decide. */
export function suspenseAccount(shard: number, currency: Currency): AccountRef {
  return { shard, id: `suspense:${currency}`, floored: false };
}

/** What a payment brings its merchant: the amount, less the fee when the merchant covers it (contract §4). */
export function merchantShare(payment: Pick<Payment, 'amount_minor' | 'fee_minor' | 'fee_covered_by'>): bigint {
  return payment.fee_covered_by === 'buyer' ? payment.amount_minor : payment.amount_minor - payment.fee_minor;
}

/**
 * The transfers of an approved payment: the amount to the merchant, the fee to us, both from the same source.
 *
 * The buyer's fee comes on top of the amount; the merchant's is taken out of it (contract §4). `ids` are two fresh
 * transfer ids, made before deciding so that deciding twice writes the same.
 */
export function paymentTransfers(
  payment: Payment,
  source: AccountRef,
  ids: readonly [string, string],
  at: number,
): (Transfer & { readonly cause: PaymentCause })[] {
  const toMerchant = merchantShare(payment);
  const balance = payment.delivery_behaviour === 'direct_delivery' ? 'available' : 'held';
  const common = { shard: payment.shard, debit: source, currency: payment.currency, cause_id: payment.id, at };
  const transfers: (Transfer & { readonly cause: PaymentCause })[] = [];
  if (toMerchant > 0n) {
    const credit = merchantAccount(payment.merchant_id, balance, payment.currency);
    transfers.push({ id: ids[0], credit, amount_minor: toMerchant, cause: 'payment', ...common });
  }
  if (payment.fee_minor > 0n) {
    const credit = feesAccount(payment.shard, payment.currency);
    transfers.push({ id: ids[1], credit, amount_minor: payment.fee_minor, cause: 'fee', ...common });
  }
  return transfers;
}

/**
 * Money that an attempt moved without its order, in from a customer or out to a receiver: it is booked against suspense until an
 * operator decides.
 */
export function lateTransfer(attempt: Attempt, direction: 'in' | 'out', id: string, at: number): Transfer {
  const { shard, connector, currency } = attempt;
  const [upstream, suspense] = [transitAccount(shard, connector, currency), suspenseAccount(shard, currency)];
  return {
    shard,
    id,
    debit: direction === 'in' ? upstream : suspense,
    credit: direction === 'in' ? suspense : upstream,
    amount_minor: attempt.amount_minor,
    currency,
    cause: 'late_success',
    cause_id: attempt.payment_id,
    at,
  };
}
