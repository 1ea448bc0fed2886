/**
 * Reads for an operator whose money lies in suspense, why, and to whom it can be booked.
 *
 * Invariant: nothing is written, and what it says can be done is what `attempt-book.ts` would do at that moment.
 */

import { type LateTarget, lateMoneyOf, lateTargetsOf } from '../domain/late-money.ts';
import { isFinal, isPaid } from '../domain/payment.ts';
import { isLineOver } from '../domain/payout.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import { isRefundOver } from '../domain/refund.ts';
import type { SuspensePage } from '../store/suspense-reads.ts';
import { type FindDeps, findPayment, findPayoutLine, findRefund, isOld } from './archive-find.ts';
import { requireLate, requireWaiting } from './attempt-book.ts';
import { requireAttempt } from './attempt-decide.ts';
import { OperatorError } from './operator-error.ts';
import { findTried } from './paid-aside.ts';

/**
 * Why money lies in suspense. `paid_late`: its payment had ended without it. `paid_twice`: the order was paid otherwise.
 * `sent_late`, `sent_twice`: the same of money that left for a payout line or a refund. `order_open`: its order has not ended,
 * and no further money is taken for it, or it may still be paid with this money.
 */
export type WhyInSuspense = 'paid_late' | 'paid_twice' | 'sent_late' | 'sent_twice' | 'order_open';

/** The payment, payout line or refund that an attempt moved money for. */
export interface SuspenseOrder {
  /** `archived`: it is no longer there. */
  readonly status: string;
  readonly customer_reference: string | null;
  /** Minor units: what the gateway keeps, or takes besides what left, if the money is booked to the merchant. */
  readonly fee_minor: bigint;
}

/** An attempt whose money is in suspense, its order, and why it is there. */
export interface InSuspense {
  readonly attempt: Attempt;
  readonly order: SuspenseOrder;
  readonly why: WhyInSuspense;
}

/** Whether the money can be booked to that party now; `whyNot` says what to do instead. */
export interface SuspenseChoice {
  readonly to: LateTarget;
  readonly whyNot: string | null;
}

/** A page of what lies in suspense. An order is read once, however many of its attempts the page shows. */
export async function listSuspense(deps: FindDeps, page: SuspensePage): Promise<InSuspense[]> {
  const attempts = await deps.store.suspense(page);
  const known = new Map<string, Known>();
  const seen: InSuspense[] = [];
  // One after the other: reading a payout line's family takes a connection of its own.
  for (const attempt of attempts) {
    const order = known.get(attempt.payment_id) ?? (await know(deps, attempt));
    known.set(attempt.payment_id, order);
    seen.push(seenAs(attempt, order));
  }
  return seen;
}

/** One attempt's money, and to whom it can be booked. @throws OperatorError when there is none in suspense. */
export async function seeSuspense(
  deps: FindDeps,
  attemptId: string,
): Promise<InSuspense & { readonly choices: readonly SuspenseChoice[] }> {
  const attempt = await requireAttempt(deps, attemptId);
  requireWaiting(attempt);
  const choices: SuspenseChoice[] = [];
  const targets = BY_PREFERENCE.filter((to) => lateTargetsOf(attempt.purpose).includes(to));
  for (const to of targets) choices.push({ to, whyNot: await whyNot(deps, attempt, to) });
  return { choices, ...seenAs(attempt, await know(deps, attempt)) };
}

/** The parties to whom late money can be booked, the usual one first (docs/operating.md). */
const BY_PREFERENCE: readonly LateTarget[] = ['payer', 'upstream', 'merchant', 'gateway'];

async function whyNot(deps: FindDeps, attempt: Attempt, to: LateTarget): Promise<string | null> {
  try {
    await requireLate(deps, attempt.id, to);
    return null;
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
}

/** What is known of an order whose money is in suspense, for any of its attempts. */
interface Known {
  readonly order: SuspenseOrder;
  /** Why the money lies there, unless the late money of another attempt has paid the order. */
  readonly why: WhyInSuspense;
  /** The attempts at whatever stands for the same order; none where no attempt can change the answer. */
  readonly tried: readonly Attempt[];
}

function know(deps: FindDeps, attempt: Attempt): Promise<Known> {
  switch (attempt.purpose) {
    case 'payment':
      return knowPayment(deps, attempt);
    case 'payout':
      return knowLine(deps, attempt);
    case 'refund':
      return knowRefund(deps, attempt);
  }
}

const OTHERWISE = { payment: 'paid_twice', payout: 'sent_twice', refund: 'sent_twice' } as const satisfies {
  readonly [purpose in Attempt['purpose']]: WhyInSuspense;
};

function seenAs(attempt: Attempt, { order, why, tried }: Known): InSuspense {
  const { purpose, fee_minor } = attempt;
  // A payment's fee may differ by the method of each attempt.
  const own = purpose === 'payment' ? { ...order, fee_minor } : order;
  return { attempt, order: own, why: hasPaidFor(tried, attempt) ? OTHERWISE[purpose] : why };
}

const GONE: SuspenseOrder = { status: 'archived', customer_reference: null, fee_minor: 0n };

async function knowPayment(deps: FindDeps, { shard, payment_id, fee_minor }: Attempt): Promise<Known> {
  const payment = await findPayment(deps, shard, payment_id);
  if (payment === undefined) return { order: GONE, why: 'paid_late', tried: [] };
  const { status, customer_reference } = payment;
  const order = { status, customer_reference, fee_minor };
  const live = await deps.store.payment.ofSession(payment.shard, payment.session_id);
  if ([payment, ...live].some(isPaid)) return { order, why: 'paid_twice', tried: [] };
  const tried = await findTried(deps, live);
  if (await hasPaidInArchive(deps, payment)) return { order, why: 'paid_twice', tried };
  return { order, why: isFinal(payment.status) ? 'paid_late' : 'order_open', tried };
}

/** A payment whose late money waits stays, but those of its session that have paid may have been archived. */
async function hasPaidInArchive({ store, clock }: FindDeps, payment: Payment): Promise<boolean> {
  const { shard, id, merchant_id, customer_reference } = payment;
  if (!isOld({ clock }, id)) return false;
  // They have its reference. What paid an order is read from all attempts of its time, so it is asked for only if one is there.
  if ((await store.archive.payment.newest(shard, merchant_id, customer_reference)) === undefined) return false;
  return (await store.orderPaidBy(payment)).length > 0;
}

async function knowLine(deps: FindDeps, { shard, payment_id: id }: Attempt): Promise<Known> {
  const line = await findPayoutLine(deps, shard, id);
  if (line === undefined) return { order: GONE, why: 'sent_late', tried: [] };
  const { status, customer_reference, fee_minor, retried_by, retry_of } = line;
  const isAlone = retried_by === null && retry_of === null;
  const family = isAlone ? [line] : await deps.store.payoutLineFamily({ shard, id });
  const order = { status, customer_reference, fee_minor };
  if (family.some((one) => !isLineOver(one.status))) return { order, why: 'order_open', tried: [] };
  if (family.some((one) => one.status === 'completed')) return { order, why: 'sent_twice', tried: [] };
  const ids = family.map((one) => one.id);
  return { order, why: 'sent_late', tried: await deps.store.attemptsOf(shard, ids) };
}

async function knowRefund(deps: FindDeps, attempt: Attempt): Promise<Known> {
  const refund = await findRefund(deps, attempt.shard, attempt.payment_id);
  if (refund === undefined) return { order: GONE, why: 'sent_late', tried: [] };
  const payment = await findPayment(deps, refund.shard, refund.payment_id);
  const order = { status: refund.status, customer_reference: payment?.customer_reference ?? null, fee_minor: 0n };
  if (!isRefundOver(refund.status)) return { order, why: 'order_open', tried: [] };
  if (refund.status === 'completed') return { order, why: 'sent_twice', tried: [] };
  return { order, why: 'sent_late', tried: await deps.store.attemptsOf(refund.shard, [refund.id]) };
}

/** Whether the late money of another attempt has been booked to the merchant: the order counts as paid with it. */
function hasPaidFor(attempts: readonly Attempt[], { id }: Attempt): boolean {
  return attempts.some((one) => one.id !== id && lateMoneyOf(one) === 'merchant');
}
