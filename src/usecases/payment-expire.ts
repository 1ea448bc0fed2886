/**
 * Ends payments that nobody finished in time, and tells the merchant.
 *
 * Invariant: only payments in which no money can be under way expire: `pending`, and those waiting for a code.
 */

import { movePayment } from '../domain/payment.ts';
import type { Payment } from '../domain/records.ts';
import { collectEvent } from '../domain/webhook.ts';
import { type Deps, newId } from './deps.ts';
import { settle } from './perform.ts';

/** Expires what is due. Returns how many payments there were. */
export async function expireDue(deps: Deps, limit = 256): Promise<number> {
  const due = await deps.store.payment.toExpire(deps.clock.now(), limit);
  await Promise.all(due.map((payment) => expirePayment(deps, payment)));
  return due.length;
}

function expirePayment(deps: Deps, key: Payment): Promise<undefined> {
  const eventId = newId(deps, 'evt', key.shard);
  return settle(
    deps.store,
    () => deps.store.payment.get(key.shard, key.id),
    (payment) => {
      const now = deps.clock.now();
      const waits = payment?.status === 'pending' || payment?.status === 'pending_otp_verification';
      if (payment === undefined || !waits || payment.expires_at > now) return { answer: undefined };
      const moved = movePayment(payment, 'session_expired', 'session_expired', now);
      if (moved === undefined) return { answer: undefined };
      const event = collectEvent(moved.payment, eventId, now);
      const change = {
        updates: [moved.update],
        inserts: [moved.history, { table: 'webhook_event' as const, row: event }],
      };
      return { change, answer: undefined };
    },
  );
}
