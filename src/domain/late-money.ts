/**
 * Money that moved after its order had ended, and where it goes once an operator has decided. Money that came in for a payment is
 * booked here; money that left for a payout line or a refund, in `late-money-out.ts`.
 *
 * Invariant: it is booked once: the change that takes it out of suspense records that in the attempt's row, under the attempt's
 * guard. The payment keeps the status that was reported (contract §4).
 */

import { type Change, guardedUpdate, revise, type Transfer, type Update } from './change.ts';
import { paymentTransfers, suspenseAccount, transitAccount } from './ledger.ts';
import { isFinal, isPaid } from './payment.ts';
import { LATE_BORNE, LATE_GIVEN_BACK, LATE_KEPT, LATE_WAITS, type LateReason } from './reason.ts';
import type { Attempt, AttemptPurpose, Payment } from './records.ts';

/**
 * Who gets late money of a payment: the merchant, who delivers after all; or the payer, to whom it was returned by hand, at the
 * upstream.
 */
const LATE_IN = ['merchant', 'payer'] as const;
/**
 * Who bears what left for a payout line or a refund: the merchant, for whom it was sent; the upstream, which has given it back;
 * or the gateway.
 */
const LATE_OUT = ['merchant', 'upstream', 'gateway'] as const;
/** The party to whom late money is booked. */
export type LateTarget = (typeof LATE_IN | typeof LATE_OUT)[number];

/** The targets possible for late money of that purpose. */
export function lateTargetsOf(purpose: AttemptPurpose): readonly LateTarget[] {
  return purpose === 'payment' ? LATE_IN : LATE_OUT;
}

const BOOKED = {
  merchant: LATE_KEPT,
  payer: LATE_GIVEN_BACK,
  upstream: LATE_GIVEN_BACK,
  gateway: LATE_BORNE,
} as const satisfies Record<LateTarget, LateReason>;

/** The transfer cause for money returned by hand: it appears in the upstream's book, but under no attempt of ours. */
export const GIVEN_BACK = 'late_given_back';

/** Where an attempt's late money is (`waits`: in suspense); undefined: none of it came, or left, late. */
export function lateMoneyOf({
  purpose,
  reason,
}: Pick<Attempt, 'purpose' | 'reason'>): 'waits' | LateTarget | undefined {
  return reason === LATE_WAITS ? 'waits' : lateTargetsOf(purpose).find((target) => BOOKED[target] === reason);
}

/** The columns of an attempt whose late money is booked. */
export function bookedColumns(to: LateTarget): { readonly reason: LateReason } {
  return { reason: BOOKED[to] };
}

/** Why a payment's late money cannot go to the merchant; undefined: it can. */
export function whyNotKept(payment: Pick<Payment, 'status'>): 'open' | 'paid' | undefined {
  if (isPaid(payment)) return 'paid';
  return isFinal(payment.status) ? undefined : 'open';
}

/** The update of an attempt whose late money has paid its order after all: it no longer waits for an operator. */
export function takenFromSuspense(attempt: Attempt): Update[] {
  if (lateMoneyOf(attempt) !== 'waits') return [];
  return [guardedUpdate('attempt', attempt, bookedColumns('merchant'))];
}

/** What booking late money writes, and the attempt as it will be. */
export interface Booking {
  readonly change: Change;
  readonly attempt: Attempt;
}

/** What booking is made with: fresh transfer ids, and the instant. */
export interface BookingContext {
  readonly ids: readonly [string, string];
  readonly now: number;
}

/**
 * What booking late money writes; it must still wait in suspense. The merchant gets what the payment would have brought,
 * available at once; the fee is ours as ever. `guards` are written with it.
 */
export function bookLate(
  attempt: Attempt,
  payment: Payment,
  to: LateTarget,
  { ids, now }: BookingContext,
  guards: readonly Update[],
): Booking {
  const { update, after } = revise('attempt', attempt, bookedColumns(to));
  const transfers =
    to === 'merchant' ? keptTransfers(attempt, payment, ids, now) : [backTransfer(attempt, ids[0], now)];
  const moved = transfers.reduce((sum, { amount_minor }) => sum + amount_minor, 0n);
  if (moved !== attempt.amount_minor)
    throw new Error(`${attempt.id} has brought another amount than its payment asks for`);
  return {
    change: { updates: [update, ...guards], transfers },
    attempt: after,
  };
}

/** The transfers of an approved payment, but out of suspense; money that would be held until delivery counts as delivered. */
function keptTransfers(attempt: Attempt, payment: Payment, ids: readonly [string, string], now: number): Transfer[] {
  const source = suspenseAccount(attempt.shard, attempt.currency);
  const delivered: Payment = { ...payment, fee_minor: attempt.fee_minor, delivery_behaviour: 'direct_delivery' };
  return paymentTransfers(delivered, source, ids, now).map((transfer) => ({
    ...transfer,
    cause: `late_${transfer.cause}`,
  }));
}

/** The upstream no longer owes us what it has given back. */
function backTransfer(
  { shard, connector, currency, amount_minor, payment_id }: Attempt,
  id: string,
  at: number,
): Transfer {
  return {
    shard,
    id,
    debit: suspenseAccount(shard, currency),
    credit: transitAccount(shard, connector, currency),
    amount_minor,
    currency,
    cause: GIVEN_BACK,
    cause_id: payment_id,
    at,
  };
}
