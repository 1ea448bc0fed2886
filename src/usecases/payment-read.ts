/**
 * Reads payments: any live session of a merchant, and its credential, may read any of that merchant's payments (contract §3, §9).
 *
 * Invariant: another merchant's payment, a tampered id and an unknown one are answered alike (1204).
 */

import type { CarrierOfCountry } from '../connectors/connector.ts';
import { isId, shardOf } from '../domain/ids.ts';
import { isPaid } from '../domain/payment.ts';
import type { Payment, PaymentHistory, PaymentMethod } from '../domain/records.ts';
import { Refusal, refuseUnknownPayment } from '../domain/refusal.ts';
import { isChoosable, priceBy } from '../domain/submission.ts';
import { findAttempt, findPayment, findTimeline } from './archive-find.ts';
import { type Bank, banksOf } from './bank-config.ts';
import type { Reader } from './callers.ts';
import type { Deps } from './deps.ts';
import { bankAccountsFor, offeredWith } from './method-reach.ts';
import { type LatePayment, readLatePayments } from './paid-aside.ts';
import { isTransientFailure } from './perform.ts';

/** The payment behind an opaque payment_id. @throws Refusal 1204. */
export async function readByPaymentId(deps: Deps, caller: Reader, paymentId: string): Promise<Payment> {
  const id = deps.secrets.openPaymentId(paymentId);
  if (id === undefined) throw refuseUnknownPayment('payment_id', paymentId);
  return readOwn(deps, caller, id);
}

/** The transaction_id of the caller's payment of that id, of either kind; undefined if there is none, or it cannot be read. */
export async function findTransactionOf(deps: Deps, caller: Reader, id: string): Promise<string | undefined> {
  try {
    return (await readByAnyId(deps, caller, id)).id;
  } catch (error) {
    // The refusal that was to name the payment is answered all the same.
    if (!(error instanceof Refusal || isTransientFailure(error))) deps.log.error('lookup_failed', {}, error);
    return undefined;
  }
}

/** A payment, as its status at the carrier is read. */
export interface CarrierRead {
  readonly payment: Payment;
  /** Its reference at the carrier: the carrier's own, or else the one that we sent; null before, or without, a carrier. */
  readonly reference: string | null;
  /** When it ended at the carrier; a later refund does not change that. */
  readonly endedAt: number | null;
  /** Money that came too late for the order, unless the payment has been paid. */
  readonly late: readonly LatePayment[];
}

/** A payment with its reference and end at the carrier; the attempt is read only if the payment's row lacks them. */
export async function readAtCarrier(deps: Deps, caller: Reader, paymentId: string): Promise<CarrierRead> {
  const payment = await readByPaymentId(deps, caller, paymentId);
  const [ended, late] = await Promise.all([
    readEnd(deps, payment),
    isPaid(payment) ? [] : readLatePayments(deps, payment),
  ]);
  return { payment, late, ...ended };
}

async function readEnd(deps: Deps, payment: Payment): Promise<Pick<CarrierRead, 'reference' | 'endedAt'>> {
  const { shard, attempt_id: attemptId, completed_at: endedAt } = payment;
  // What an operator has read on the bank's statement is not for customers.
  const reference = payment.method === 'bank_transfer' ? null : payment.provider_reference;
  if (attemptId !== null && payment.status === 'refunded') {
    const paid = await findAttempt(deps, shard, attemptId);
    return { reference: reference ?? paid?.reference ?? null, endedAt: paid?.settled_at ?? endedAt };
  }
  if (reference !== null || attemptId === null) return { reference, endedAt };
  // An attempt's reference never changes, so a cached row that this process wrote will do.
  const attempt = deps.store.attempt.recent(shard, attemptId) ?? (await findAttempt(deps, shard, attemptId));
  return { reference: attempt?.reference ?? null, endedAt };
}

/** The payment with that transaction_id. @throws Refusal 1204. */
export async function readByTransactionId(deps: Deps, caller: Reader, transactionId: string): Promise<Payment> {
  if (!isId('txn', transactionId)) throw refuseUnknownPayment('transaction_id', transactionId);
  return readOwn(deps, caller, transactionId);
}

/** The payment of that transaction_id or payment_id. @throws Refusal 1204. */
function readByAnyId(deps: Deps, caller: Reader, id: string): Promise<Payment> {
  return id.startsWith('pay_') ? readByPaymentId(deps, caller, id) : readByTransactionId(deps, caller, id);
}

async function readOwn(deps: Deps, caller: Reader, id: string): Promise<Payment> {
  // A merchant's payments are in the merchant's shard: an id of another shard is not one of them.
  if (shardOf(id) !== caller.merchant.shard) throw new Refusal(1204);
  const payment = await findPayment(deps, caller.merchant.shard, id);
  if (payment === undefined || payment.merchant_id !== caller.merchant.id) throw new Refusal(1204);
  // An acceptance already told is written first if it is another session's; the caller's own was at authentication.
  const writing = deps.acceptances.writtenOfSession(payment.session_id);
  if (writing === undefined) return payment;
  await writing;
  return (await deps.store.payment.get(payment.shard, id)) ?? payment;
}

/** A payment, with all that the API shows of it. */
export interface PaymentDetail {
  readonly payment: Payment;
  /** Oldest first; the first line is the collect itself. */
  readonly timeline: readonly Pick<PaymentHistory, 'status' | 'reason' | 'at'>[];
  /** Money that came for it, or for another payment of its session, too late to count. */
  readonly late: readonly LatePayment[];
  /** The methods that the customer may choose from. */
  readonly offered: readonly PaymentMethod[];
  /** What each of them costs: of the chosen one as it was collected, of the others as a submit would make it now. */
  readonly prices: { readonly [method in PaymentMethod]?: Pick<Payment, 'total_minor'> };
  /** Those of them that a submit would still accept now. */
  readonly choosable: readonly PaymentMethod[];
  /** The carriers whose customers can pay by mobile money in the currency. */
  readonly carriers: readonly CarrierOfCountry[];
  /** Where a bank transfer can go. */
  readonly banks: readonly Bank[];
}

/** A payment with its timeline, by transaction_id or payment_id. */
export async function readDetail(deps: Deps, caller: Reader, id: string): Promise<PaymentDetail> {
  const payment = await readByAnyId(deps, caller, id);
  const [history, late, accounts] = await Promise.all([
    findTimeline(deps, payment),
    readLatePayments(deps, payment),
    bankAccountsFor(deps, caller.merchant, payment.currency),
  ]);
  const offered = offeredWith(deps, caller.merchant, payment.currency, accounts);
  const now = deps.clock.now();
  const collected = { status: 'pending', reason: null, at: payment.created_at } as const;
  return {
    payment,
    // The history was read later: a move committed in between is not part of the payment as it is told.
    timeline: [collected, ...history.filter(({ version }) => version <= payment.version)],
    late,
    offered,
    prices: Object.fromEntries(offered.map((method) => [method, priceBy(method, payment, caller.merchant)])),
    choosable: offered.filter((method) => isChoosable(payment, caller.merchant, method, now)),
    carriers: deps.connectors.carriersFor(payment.currency),
    banks: banksOf(accounts),
  };
}
