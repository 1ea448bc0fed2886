/**
 * Refunds an approved payment, in whole or in part (contract §9).
 *
 * Invariant: a refund is committed with its money before anything is sent; a process that dies after that leaves a refund that
 * is due, and the round starts it. Another merchant's payment and an unknown one are answered alike (1204).
 */

import type { DecisionContext } from '../domain/change.ts';
import { isIdIn } from '../domain/ids.ts';
import type { Refund } from '../domain/outgoing-records.ts';
import type { Attempt, Merchant, Payment } from '../domain/records.ts';
import type { RefundRows } from '../domain/refund.ts';
import { makeRefund, type RefundRoute } from '../domain/refund-order.ts';
import { Refusal, refuseUnknownPayment } from '../domain/refusal.ts';
import { findPayment } from './archive-find.ts';
import { readAvailable } from './balances-read.ts';
import type { MerchantCaller } from './callers.ts';
import { type Deps, idsOf } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { type Answering, perform, type Reply } from './perform.ts';

export interface RefundMakeCommand {
  readonly transaction_id: string;
  /** Absent: all that is left. */
  readonly amount: string | undefined;
  /** Free text by the merchant. */
  readonly reason: string | undefined;
}

interface Rows {
  readonly payment: Payment | undefined;
  /** Whether the payment has been archived: then it can only be read. */
  readonly isArchived: boolean;
  /** The attempt that paid. */
  readonly paidBy: Attempt | undefined;
  readonly earlier: readonly Refund[];
  /** The merchant's available balance in the payment's currency. */
  readonly availableMinor: bigint;
}

/** Makes a refund, leased to this process, which sends it as soon as it is committed (`refund-dispatch.ts`). */
export function makeRefundForMerchant(
  deps: Deps,
  { merchant }: MerchantCaller,
  command: RefundMakeCommand,
  answering: Answering<RefundRows>,
): Promise<Reply> {
  return perform<Rows, RefundRows>(
    deps.store,
    answering,
    () => readRows(deps, merchant, command.transaction_id),
    ({ payment, isArchived, paidBy, earlier, availableMinor }) => {
      if (payment === undefined || payment.merchant_id !== merchant.id)
        throw refuseUnknownPayment('transaction_id', command.transaction_id);
      if (isArchived) throw refuseArchived(payment);
      const sources = { payment, earlier, availableMinor };
      const wanted = { amount: command.amount, note: command.reason ?? null };
      const context: DecisionContext = {
        now: deps.clock.now(),
        newId: idsOf(deps),
      };
      const { change, ...rows } = makeRefund(sources, wanted, () => routeBack(deps, payment, paidBy), context);
      return { change, answer: rows };
    },
  );
}

/** The refunds are read after the payment: if one was made in between, the payment's version has moved, and the guard fails. */
async function readRows(deps: Deps, merchant: Merchant, transactionId: string): Promise<Rows> {
  const nothing = { payment: undefined, isArchived: false, paidBy: undefined, earlier: [], availableMinor: 0n };
  if (!isIdIn(merchant.shard, 'txn', transactionId)) return nothing;
  const payment = await deps.store.payment.get(merchant.shard, transactionId);
  if (payment === undefined) {
    const archived = await findPayment(deps, merchant.shard, transactionId);
    return { ...nothing, payment: archived, isArchived: archived !== undefined };
  }
  const [paidBy, earlier, availableMinor] = await Promise.all([
    latestAttempt(deps, payment),
    deps.store.refund.ofPayment(payment.shard, payment.id),
    readAvailable(deps, { id: payment.merchant_id }, payment.currency),
  ]);
  // A balance that looks too low may have paid another refund of this payment meanwhile: then read again, to refuse for that.
  const isShort = availableMinor < payment.amount_minor;
  const isOld = isShort && (await deps.store.payment.get(payment.shard, payment.id))?.version !== payment.version;
  return isOld ? readRows(deps, merchant, transactionId) : { ...nothing, payment, paidBy, earlier, availableMinor };
}

function refuseArchived({ id, status }: Payment): Refusal {
  const details = [{ field: 'transaction_id', code: 'ARCHIVED' }] as const;
  return new Refusal(1205, { transactionId: id, words: { state: status }, details });
}

/** Refunds go by the method that paid, through the upstream that took the money; by hand if that cannot send money. */
function routeBack(deps: Deps, payment: Payment, paidBy: Attempt | undefined): RefundRoute {
  const { method, wallet_number: number } = payment;
  if (method === 'wallet' || method === 'flash') {
    if (number === null) throw new Error(`payment ${payment.id} was paid from no wallet`);
    return { kind: 'wallet', number };
  }
  if (paidBy === undefined) return { kind: 'by_hand' };
  const connector = senderBack(deps, paidBy);
  if (connector === undefined) return { kind: 'by_hand' };
  const { carrier, msisdn } = paidBy;
  return { kind: 'upstream', connector, carrier, msisdn };
}

/** The sender to what paid (`Sender.route`); undefined if none is configured. */
function senderBack({ connectors }: Deps, { method, connector }: Attempt): string | undefined {
  if (method !== 'mobile_money') return connectors.card?.name === connector ? connector : undefined;
  const route = connectors.routeOf(connector);
  return route !== undefined && connectors.payout(route) !== undefined ? route : undefined;
}
