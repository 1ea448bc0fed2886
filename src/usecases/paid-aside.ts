/**
 * Money that came for a payment too late to count by itself: it is in suspense, or an operator has booked it.
 *
 * Invariant: nobody who has paid so is asked for the same money again, by whatever method, or told that nothing was charged.
 */

import { isPaid } from '../domain/payment.ts';
import { LATE_GIVEN_BACK } from '../domain/reason.ts';
import type { Attempt, Payment } from '../domain/records.ts';
import type { Deps } from './deps.ts';

/** An attempt that has paid for one of these payments although none of them took its money; undefined: there is none. */
export async function findPaidAside(
  { store }: Pick<Deps, 'store'>,
  payments: readonly Payment[],
): Promise<Attempt | undefined> {
  // A payment at version 1 is as it was collected: nothing has been tried.
  const tried = payments.filter((one) => one.version > 1 && !isPaid(one));
  const found = await Promise.all(
    tried.flatMap(({ shard, id }) => [store.attempt.turnedAway(shard, id), store.attempt.ofCardPayment(shard, id)]),
  );
  return found.flat().find(({ status, reason }) => status === 'approved' && reason !== LATE_GIVEN_BACK);
}
