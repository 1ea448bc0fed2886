/**
 * Releases the money of a delayed delivery: for the merchant's backend, and for an operator.
 *
 * Invariant: another merchant's payment and an unknown one are answered alike (1204); a repeated release, as the first.
 */

import { type Released, releaseDelivery } from '../domain/delivery.ts';
import { isIdIn, shardOf } from '../domain/ids.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import type { Payment } from '../domain/records.ts';
import { Refusal, refuseUnknownPayment } from '../domain/refusal.ts';
import { type FindDeps, findPayment, findPayoutLine, findRefundsOf } from './archive-find.ts';
import type { MerchantCaller } from './callers.ts';
import { type Deps, newId, type OperatorDeps } from './deps.ts';
import { commitDecisionKnown } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { requireId } from './operator-input.ts';
import { type Answering, perform, type Reply } from './perform.ts';

/**
 * Makes the held money of an approved payment with delayed delivery available to its merchant (contract §4). A repeated
 * release answers as the first did, and moves nothing.
 *
 * @throws Refusal 1204 for a transaction that is not the merchant's, 1205 for one that is not approved or was delivered
 * directly.
 */
export function releaseForMerchant(
  deps: Deps,
  { merchant }: MerchantCaller,
  transactionId: string,
  answering: Answering<Released>,
): Promise<Reply> {
  const transferId = newId(deps, 'trf', merchant.shard);
  const known = isIdIn(merchant.shard, 'txn', transactionId);
  return perform<Rows, Released>(
    deps.store,
    answering,
    () => (known ? readRows(deps, transactionId) : Promise.resolve({ payment: undefined, refunds: [] })),
    ({ payment, refunds }) => {
      if (payment === undefined || payment.merchant_id !== merchant.id)
        throw refuseUnknownPayment('transaction_id', transactionId);
      return releaseDelivery(payment, refunds, transferId, deps.clock.now());
    },
  );
}

interface Rows {
  readonly payment: Payment | undefined;
  readonly refunds: readonly Refund[];
}

/** The refunds are read after the payment: if one was made in between, the payment's version has moved, and the guard fails. */
async function readRows(deps: FindDeps, transactionId: string): Promise<Rows> {
  const shard = shardOf(transactionId);
  const payment = await findPayment(deps, shard, transactionId);
  if (payment?.delivery_behaviour !== 'delayed_delivery') return { payment, refunds: [] };
  return { payment, refunds: await findRefundsOf(deps, payment) };
}

/** @throws OperatorError when there is no such payment, or nothing of it is held. */
export async function releaseForOperator(deps: OperatorDeps, transactionId: string): Promise<Released> {
  requireId('txn', transactionId, 'transaction');
  const shard = shardOf(transactionId);
  const transferId = newId(deps, 'trf', shard);
  return commitDecisionKnown(
    deps,
    async () => {
      const rows = await readRows(deps, transactionId);
      // A payout's line is a transaction too.
      const isLine = rows.payment === undefined && (await findPayoutLine(deps, shard, transactionId)) !== undefined;
      return { isLine, payment: rows.payment, refunds: rows.refunds };
    },
    ({ isLine, payment, refunds }) => {
      if (isLine)
        throw new OperatorError(`${transactionId} is a line of a payout: name a payment, whose money is held`);
      if (payment === undefined) throw new OperatorError(`there is no transaction ${transactionId}`);
      try {
        return releaseDelivery(payment, refunds, transferId, deps.clock.now());
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { delivery_behaviour: delivery, status } = payment;
        throw new OperatorError(`nothing is held for ${transactionId}: it is ${status}, with ${delivery}`);
      }
    },
    'release it again: it is released once',
  );
}
