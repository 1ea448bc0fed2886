/**
 * Money that came after its payment had ended, and where it goes once a person has decided.
 *
 * Invariant: it is booked once: the change that takes it out of suspense says so in the attempt's row, under the attempt's
 * guard. The payment keeps what it was told (contract §4).
 */

import { updateAttempt } from './attempt-settlement.ts';
import type { Change, Transfer, Update } from './change.ts';
import { paymentTransfers, suspenseAccount, transitAccount } from './ledger.ts';
import { isFinal } from './payment.ts';
import type { Attempt, Payment } from './records.ts';

/** Whose it is: the merchant delivers after all; or the payer has been given it back by hand, at the upstream. */
export const LATE_TARGETS = ['merchant', 'payer'] as const;
export type LateTarget = (typeof LATE_TARGETS)[number];

/** The `reason` of an attempt whose late money lies in suspense. */
export const LATE_WAITS = 'late_success';
/** And once it was booked to the merchant. */
export const LATE_KEPT = 'late_success_kept';
const BOOKED = {
  merchant: LATE_KEPT,
  payer: 'late_success_given_back',
} as const satisfies Record<LateTarget, string>;

/** What a transfer back to the payer is for: the upstream's book has it, and no attempt of ours. */
export const GIVEN_BACK = 'late_given_back';

/** Where an attempt's late money is; undefined: none of it came late, or it is no payment's. */
export function lateMoneyOf({
  purpose,
  reason,
}: Pick<Attempt, 'purpose' | 'reason'>): 'waits' | LateTarget | undefined {
  if (purpose !== 'payment') return undefined;
  return reason === LATE_WAITS ? 'waits' : LATE_TARGETS.find((target) => BOOKED[target] === reason);
}

/** Why a payment's late money cannot be the merchant's. */
export function whyNotKept({ status }: Pick<Payment, 'status'>): 'open' | 'paid' | undefined {
  if (status === 'approved' || status === 'refunded') return 'paid';
  return isFinal(status) ? undefined : 'open';
}

export interface Booking {
  readonly change: Change;
  readonly attempt: Attempt;
}

/**
 * What booking it writes; it has to be waiting. The merchant gets what the payment would have brought, at once: the fee is
 * ours as ever. `ids` are two fresh transfer ids; `held` is written with it.
 */
export function bookLate(
  attempt: Attempt,
  payment: Payment,
  to: LateTarget,
  {
    ids,
    now,
    held,
  }: { readonly ids: readonly [string, string]; readonly now: number; readonly held: readonly Update[] },
): Booking {
  const row = { reason: BOOKED[to] };
  const transfers =
    to === 'merchant' ? keptTransfers(attempt, payment, ids, now) : [backTransfer(attempt, ids[0], now)];
  const moved = transfers.reduce((sum, { amount_minor }) => sum + amount_minor, 0n);
  if (moved !== attempt.amount_minor)
    throw new Error(`${attempt.id} has brought another amount than its payment asks for`);
  return {
    change: { updates: [updateAttempt(attempt, row), ...held], transfers },
    attempt: { ...attempt, ...row, version: attempt.version + 1 },
  };
}

/** As those of a payment that is approved, out of suspense; what was to be held until a delivery has been delivered. */
function keptTransfers(attempt: Attempt, payment: Payment, ids: readonly [string, string], now: number): Transfer[] {
  const source = suspenseAccount(attempt.shard, attempt.currency);
  const delivered: Payment = { ...payment, fee_minor: attempt.fee_minor, delivery_behaviour: 'direct_delivery' };
  return paymentTransfers(delivered, source, ids, now).map((transfer) => ({
    ...transfer,
    cause: `late_${transfer.cause}`,
  }));
}

/** What the upstream has given back it owes us no more. */
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
