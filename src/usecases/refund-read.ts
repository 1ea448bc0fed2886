/**
 * Reads refunds: for a merchant its own, for an operator any.
 *
 * Invariant: another merchant's refund and an unknown one are answered alike (1204).
 */

import { isIdIn, shardOf } from '../domain/ids.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import type { Payment } from '../domain/records.ts';
import type { RefundRows } from '../domain/refund.ts';
import { Refusal } from '../domain/refusal.ts';
import { type FindDeps, findPayment, findRefund } from './archive-find.ts';
import type { MerchantCaller } from './callers.ts';
import type { Deps } from './deps.ts';
import { OperatorError } from './operator-error.ts';
import { requireId } from './operator-input.ts';

/** A refund with its payment. @throws Refusal 1204 for one that is not the merchant's. */
export async function readRefund(deps: FindDeps, { merchant }: MerchantCaller, refundId: string): Promise<RefundRows> {
  const isPossible = isIdIn(merchant.shard, 'rfd', refundId);
  const refund = isPossible ? await findRefund(deps, merchant.shard, refundId) : undefined;
  if (refund === undefined || refund.merchant_id !== merchant.id) throw new Refusal(1204);
  // Both are archived together, but dropping a month may have dropped only the payment.
  const payment = await findPayment(deps, refund.shard, refund.payment_id);
  if (payment === undefined) throw new Refusal(1204);
  return { refund, payment };
}

/** A refund of any merchant with its payment, live or archived. @throws OperatorError when there is no such refund. */
export async function seeRefund(deps: FindDeps, refundId: string): Promise<RefundRows> {
  requireId('rfd', refundId, 'refund');
  const refund = await findRefund(deps, shardOf(refundId), refundId);
  const payment = refund && (await findPayment(deps, refund.shard, refund.payment_id));
  if (refund === undefined || payment === undefined) {
    throw new OperatorError(`there is no refund ${refundId}: see \`mbongo refund list\``);
  }
  return { refund, payment };
}

/** A live refund, which may be decided on. @throws OperatorError when there is no such refund, or it has been archived. */
export async function requireRefund(deps: FindDeps, refundId: string): Promise<RefundRows> {
  requireId('rfd', refundId, 'refund');
  const refund = await deps.store.refund.get(shardOf(refundId), refundId);
  if (refund !== undefined) return { refund, payment: await paymentOf(deps, refund) };
  await seeRefund(deps, refundId);
  throw new OperatorError(
    `refund ${refundId} has been archived: \`mbongo refund show\` shows it, and it can no longer change`,
  );
}

/** A refund with its payment, for an attempt at it. @throws Error when it is missing, which is a bug. */
export async function refundOfAttempt(deps: Pick<Deps, 'store'>, shard: number, id: string): Promise<RefundRows> {
  const refund = await deps.store.refund.get(shard, id);
  if (refund === undefined) throw new Error(`there is no refund ${id}, and an attempt at it`);
  return { refund, payment: await paymentOf(deps, refund) };
}

/** The payment that a refund gives back. */
async function paymentOf(deps: Pick<Deps, 'store'>, refund: Refund): Promise<Payment> {
  const payment = await deps.store.payment.get(refund.shard, refund.payment_id);
  if (payment === undefined) throw new Error(`refund ${refund.id} has lost its payment`);
  return payment;
}
