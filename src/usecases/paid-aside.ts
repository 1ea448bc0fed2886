/**
 * Money that came for a payment too late to count by itself: it is in suspense, or an operator has booked it.
 *
 * Invariant: a customer who has paid like this is not asked for the money again, by any method, nor told that nothing was charged.
 */

import { lateMoneyOf } from '../domain/late-money.ts';
import { isNative } from '../domain/method.ts';
import { isPaid, isUntried } from '../domain/payment.ts';
import type { Attempt, Payment, Session } from '../domain/records.ts';
import { Refusal } from '../domain/refusal.ts';
import { type FindDeps, findAttempt } from './archive-find.ts';
import type { Deps } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { hasOnePayment } from './session-payments.ts';

/** An attempt that has *paid aside*: for one of these payments, although none of them took its money. Undefined: there is none. */
export async function findPaidAside(
  deps: Pick<Deps, 'store'>,
  payments: readonly Payment[],
): Promise<Attempt | undefined> {
  const tried = await findUnpaidTried(deps, payments);
  return tried.find(isPaidAside);
}

function findUnpaidTried(deps: Pick<Deps, 'store'>, payments: readonly Payment[]): Promise<Attempt[]> {
  return findTried(
    deps,
    payments.filter((one) => !isPaid(one)),
  );
}

/**
 * An attempt that has paid aside for any payment of this one's session. `known` is a session at hand, which spares a read if it is
 * that one and has no other payment; any live session of a merchant may finish a payment of another (contract §3).
 */
export async function findPaidAsideInSession(
  deps: Pick<Deps, 'store'>,
  payment: Payment,
  known: Pick<Session, 'id' | 'payments'>,
): Promise<Attempt | undefined> {
  const tried = await findTriedInSession(deps, payment, known);
  return tried.find(isPaidAside);
}

/** The attempts at the unpaid payments of this one's session that may have brought money too late to count, or may yet. */
export async function findTriedInSession(
  { store }: Pick<Deps, 'store'>,
  payment: Payment,
  known: Pick<Session, 'id' | 'payments'>,
): Promise<Attempt[]> {
  const { shard, session_id } = payment;
  const isAlone = known.id === session_id && hasOnePayment(known);
  return findUnpaidTried({ store }, isAlone ? [payment] : await store.payment.ofSession(shard, session_id));
}

/** The attempts at these payments that may have brought money too late to count: by phone, by card or by token. */
export async function findTried({ store }: Pick<Deps, 'store'>, payments: readonly Payment[]): Promise<Attempt[]> {
  const tried = payments.filter((one) => !isUntried(one));
  const found = await Promise.all(
    tried.flatMap((one) => {
      const { shard, id, method } = one;
      // A token is sent once, by the only attempt of its payment.
      if (isNative(method)) return [latestAttempt({ store }, one).then((only) => (only === undefined ? [] : [only]))];
      return [store.attempt.turnedAway(shard, id), store.attempt.ofCardPayment(shard, id)];
    }),
  );
  return found.flat();
}

/** Money that came for a payment too late to count by itself. */
export interface LatePayment {
  /** The payment that it came for. */
  readonly transactionId: string;
  /** In minor units: the total that its attempt asked for. */
  readonly amountMinor: bigint;
  readonly receivedAt: number | null;
  /** Whom an operator has booked it to; null: nobody yet, it is in suspense. */
  readonly bookedTo: 'merchant' | 'payer' | null;
}

/**
 * All that came too late for the order of a payment: for it, or for another payment of its session, whose submits are refused for
 * it too. Of an archived payment only its last attempt is looked at.
 */
export async function readLatePayments(deps: FindDeps, payment: Payment): Promise<LatePayment[]> {
  const { shard, session_id, id, attempt_id: last } = payment;
  const live = await deps.store.payment.ofSession(shard, session_id);
  const tried = await findTried(deps, live);
  // Of a live payment every attempt that brought money late is among these; one that was paid took its last attempt's.
  const isKnown = last === null || isPaid(payment) || live.some((one) => one.id === id);
  const more = isKnown ? undefined : await findAttempt(deps, shard, last);
  const found = [...tried, ...(more === undefined ? [] : [more])];
  const late = found.flatMap((attempt): LatePayment[] => {
    const target = lateMoneyOf(attempt);
    if (target !== 'waits' && target !== 'merchant' && target !== 'payer') return [];
    const { payment_id: transactionId, amount_minor: amountMinor, settled_at: receivedAt } = attempt;
    return [{ transactionId, amountMinor, receivedAt, bookedTo: target === 'waits' ? null : target }];
  });
  // What came for the payment itself first.
  return late.toSorted((a, b) => Number(b.transactionId === id) - Number(a.transactionId === id));
}

/** The order has been paid, too late to count: it is not paid a second time. `field` is what the caller sent it by. */
export function paidBefore({ id }: Payment, field: string): Refusal {
  return new Refusal(1110, { transactionId: id, details: [{ field, code: 'PAID_BEFORE' }] });
}

/** Of these attempts, one that has paid aside, or else one that a carrier has accepted, and that may still be paid. */
export function findTaken(tried: readonly Attempt[]): Attempt | undefined {
  return tried.find(isPaidAside) ?? tried.find(({ status }) => status === 'waiting');
}

/** Whether the money waits in suspense, or its merchant was given it: the payer has not got it back. */
export function isPaidAside(attempt: Attempt): boolean {
  const late = lateMoneyOf(attempt);
  return late === 'waits' || late === 'merchant';
}
