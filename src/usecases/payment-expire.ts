/**
 * Ends payments that nobody finished in time, and tells the merchant.
 *
 * Invariant: only payments in which we move no money expire: `pending`, those whose code has run out, and transfers
 * without a proof. A payment with an attempt ends by what its upstream says, never by time.
 */

import { movePayment } from '../domain/payment.ts';
import type { Payment, PaymentStatus } from '../domain/records.ts';
import { collectEvent, eventInsert } from '../domain/webhook.ts';
import { type Deps, newId } from './deps.ts';
import { commitDecision } from './perform.ts';

/** What time does to a payment that waits for its customer; the reason has the same name. */
const FACTS: { readonly [status in PaymentStatus]?: 'session_expired' | 'proof_overdue' } = {
  pending: 'session_expired',
  pending_otp_verification: 'session_expired',
  pendingBankProofUpload: 'proof_overdue',
};

/** Expires what is due. Returns how many payments there were. */
export async function expireDue(deps: Deps, limit = 256): Promise<number> {
  const due = await deps.store.payment.toExpire(deps.clock.now(), limit);
  await Promise.all(due.map((payment) => expirePayment(deps, payment)));
  return due.length;
}

function expirePayment(deps: Deps, key: Payment): Promise<undefined> {
  const eventId = newId(deps, 'evt', key.shard);
  return commitDecision(
    deps.store,
    () => deps.store.payment.get(key.shard, key.id),
    (payment) => {
      const now = deps.clock.now();
      const fact = payment === undefined ? undefined : FACTS[payment.status];
      if (payment === undefined || fact === undefined) return { answer: undefined };
      if (payment.attempt_id !== null || payment.expires_at > now) return { answer: undefined };
      const moved = movePayment(payment, fact, fact, now);
      if (moved === undefined) return { answer: undefined };
      const event = collectEvent(moved.payment, eventId, now);
      const change = {
        updates: [moved.update],
        inserts: [moved.history, eventInsert(event)],
      };
      return { change, answer: undefined };
    },
  );
}
