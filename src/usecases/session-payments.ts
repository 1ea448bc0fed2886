/**
 * The payments of a session: most sessions have one, and then none has to be read.
 *
 * Invariant: they are read after their session, whose version guards that no other has been added since.
 */

import type { Payment, Session } from '../domain/records.ts';
import type { Deps } from './deps.ts';

/** Whether the session has no payment besides the one at hand. */
export function hasOnePayment({ payments }: Pick<Session, 'payments'>): boolean {
  return payments < 2;
}

/** The session's payments, the oldest first, if it has more than one; else none. */
export async function readSessionPayments(
  { store }: Pick<Deps, 'store'>,
  session: Pick<Session, 'shard' | 'id' | 'payments'> | undefined,
): Promise<readonly Payment[]> {
  if (session === undefined || hasOnePayment(session)) return [];
  return store.payment.ofSession(session.shard, session.id);
}
