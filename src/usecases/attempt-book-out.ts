/**
 * Money that left for a payout line or a refund after that had ended: who may bear the cost.
 *
 * Invariant: a merchant pays once for one beneficiary, and once for one payment's refunds: either what was paid in time, or the
 * late money that it bears. The rows that this is decided on are guarded.
 */

import { guard } from '../domain/change.ts';
import type { Booking, BookingContext, LateTarget } from '../domain/late-money.ts';
import {
  bookLateOut,
  isBorneByMerchant,
  type LateBeside,
  type LateOrder,
  lateCostOf,
} from '../domain/late-money-out.ts';
import { moneyText } from '../domain/money.ts';
import type { PayoutLine, Refund } from '../domain/outgoing-records.ts';
import { isLineOver } from '../domain/payout.ts';
import type { Attempt } from '../domain/records.ts';
import { isRefundOver, type RefundRows } from '../domain/refund.ts';
import { isOverRefunded } from '../domain/refund-order.ts';
import { readAvailable } from './balances-read.ts';
import type { Deps } from './deps.ts';
import { OperatorError } from './operator-error.ts';
import { refundOfAttempt } from './refund-read.ts';

/** An attempt whose late money waits to be booked, its order, and what booking it writes. */
export interface LateMoney {
  readonly attempt: Attempt;
  readonly order: { readonly id: string; readonly status: string };
  /** Minor units: the gateway's fee, of what comes, or besides what left, if the money is booked to the merchant. */
  readonly feeMinor: bigint;
  book(context: BookingContext): Booking;
}

type Needs = Pick<Deps, 'store'>;

/** @throws OperatorError when the money cannot be booked to `to`, or not yet. */
export async function readLateOut(deps: Needs, attempt: Attempt, to: LateTarget): Promise<LateMoney> {
  const { order, ...beside } = await (attempt.purpose === 'payout' ? readLine : readRefund)(deps, attempt, to);
  if (to === 'merchant') await requireFunds(deps, attempt, order);
  const ended = order?.kind === 'payout' ? order.line : order?.refund;
  return {
    attempt,
    order: { id: attempt.payment_id, status: ended?.status ?? 'archived' },
    feeMinor: order?.kind === 'payout' ? order.line.fee_minor : 0n,
    book: (context) => bookLateOut(attempt, order, to, context, beside),
  };
}

interface Found extends LateBeside {
  /** Undefined when the order is no longer live. */
  readonly order: LateOrder | undefined;
}

const INSTEAD = 'ask the upstream to return the money and use --to upstream, or bear the loss with --to gateway';

async function readLine({ store }: Needs, attempt: Attempt, to: LateTarget): Promise<Found> {
  const { shard, payment_id: id } = attempt;
  const family = await store.payoutLineFamily({ shard, id });
  const ids = family.map((line) => line.id);
  const live = (await Promise.all(ids.map((one) => store.payoutLine.get(shard, one)))).filter(isThere);
  const open = live.find(({ status }) => !isLineOver(status));
  // An open line may resume with this money, or be completed by it.
  if (open !== undefined) throw notYet(open);
  const line = live.find((one) => one.id === id);
  // Read after the lines: booking another attempt, or accepting it late, also writes its line, whose version guards this.
  const attempts = await store.attemptsOf(shard, ids);
  if (to === 'merchant') {
    if (line === undefined) throw archived(id);
    // The live lines are read after the family, and guarded: a line that was open in the family may be completed in `live`.
    const completed = [...live, ...family].find(({ status }) => status === 'completed');
    if (completed !== undefined) throw paidBy(id, completed.id);
    requireNotBorne(attempt, attempts);
    requireAllThere(family);
  }
  const guards = live.filter((one) => one !== line).map((one) => guard('payout_line', one));
  return { order: line && { kind: 'payout', line }, guards, others: othersOf(attempt, attempts) };
}

/** Requires that the merchant bears no other attempt's late money for this order. */
function requireNotBorne({ id, payment_id }: Attempt, attempts: readonly Attempt[]): void {
  const borne = attempts.find((one) => one.id !== id && isBorneByMerchant(one));
  if (borne !== undefined) throw paidBy(payment_id, borne.id);
}

/** Requires that every line that was sent in another's place can still be seen: a month of the archive may have been dropped. */
function requireAllThere(family: readonly PayoutLine[]): void {
  const isSeen = ({ id }: PayoutLine): boolean => family.some(({ retry_of }) => retry_of === id);
  const lost = family.find((line) => line.retried_by !== null && !isSeen(line));
  if (lost === undefined) return;
  const what = `the line of ${lost.retried_by} that was sent in place of ${lost.id} has been dropped from the archive`;
  throw new OperatorError(`${what}, so it is no longer known whether it was paid: ${INSTEAD}`);
}

/** The other attempts at the same order. */
function othersOf({ id, payment_id }: Attempt, attempts: readonly Attempt[]): Attempt[] {
  return attempts.filter((one) => one.payment_id === payment_id && one.id !== id);
}

async function readRefund(deps: Needs, attempt: Attempt, to: LateTarget): Promise<Found> {
  const { shard, payment_id: id } = attempt;
  if ((await deps.store.refund.get(shard, id)) === undefined) {
    if (to === 'merchant') throw archived(id);
    return { order: undefined, guards: [], others: [] };
  }
  const rows = await refundOfAttempt(deps, shard, id);
  const { refund, payment } = rows;
  if (!isRefundOver(refund.status)) throw notYet(refund);
  const attempts = await deps.store.attemptsOf(shard, [id]);
  if (to === 'merchant') {
    if (refund.status === 'completed') throw paidBy(id, id);
    requireNotBorne(attempt, attempts);
    if (isOverRefunded(payment, await countedWith(deps, rows, attempt))) {
      const what = `with ${id}, more of ${payment.id} would be refunded than was paid`;
      throw new OperatorError(`${what}: ${INSTEAD}`);
    }
  }
  return { order: { kind: 'refund', ...rows }, guards: [], others: othersOf(attempt, attempts) };
}

/**
 * The refunds of the payment as they count if the merchant bears this attempt: late money of another one counts only if the
 * merchant has borne it. Read after the payment, which is guarded: a change that makes, ends or books another refund writes it.
 */
async function countedWith({ store }: Needs, { refund, payment }: RefundRows, { id }: Attempt): Promise<Refund[]> {
  const refunds = await store.refund.ofPayment(payment.shard, payment.id);
  const attempts = await store.attemptsOf(
    payment.shard,
    refunds.map((one) => one.id),
  );
  const borneOf = (one: Refund): string | null =>
    attempts.find((tried) => tried.payment_id === one.id && isBorneByMerchant(tried))?.id ?? null;
  return refunds.map((one) => ({ ...one, late_attempt_id: one.id === refund.id ? id : borneOf(one) }));
}

function isThere(line: PayoutLine | undefined): line is PayoutLine {
  return line !== undefined;
}

function notYet({ id, status }: PayoutLine | Refund): OperatorError {
  return new OperatorError(`${id} is ${status}, and may still be paid with this money: wait until it has ended`);
}

function archived(id: string): OperatorError {
  return new OperatorError(`${id} has been archived: ${INSTEAD}`);
}

function paidBy(id: string, by: string): OperatorError {
  const what = id === by ? `${id} is completed, so it was paid without this money` : `${id} was paid by ${by}`;
  return new OperatorError(`${what}: ${INSTEAD}`);
}

async function requireFunds(deps: Needs, attempt: Attempt, order: LateOrder | undefined): Promise<void> {
  if (order === undefined) return;
  const { merchant_id: id, currency } = attempt;
  const [needed, available] = [lateCostOf(order), await readAvailable(deps, { id }, currency)];
  if (needed <= available) return;
  const [has, needs] = [moneyText(available, currency), moneyText(needed, currency)];
  throw new OperatorError(`${id} has ${has} available, and this costs ${needs}: wait until it has more, or ${INSTEAD}`);
}
