/**
 * Ends payments that the customer did not finish in time, and tells the merchant.
 *
 * Invariant: only payments for which no money can be moving expire: `pending` ones, those whose code has expired, and transfers
 * without a proof. A payment with an attempt ends by what its upstream says, and never here.
 */

import { isWithin } from '../domain/elapsed.ts';
import { movePayment } from '../domain/payment.ts';
import type { Payment, PaymentStatus } from '../domain/records.ts';
import { collectEvent, eventInsert } from '../domain/webhook.ts';
import { type Deps, newId } from './deps.ts';
import { eachOf } from './each-of.ts';
import { commitDecision } from './perform.ts';

/** The fact that ends a payment waiting for its customer too long; the reason has the same name. */
const FACTS: { readonly [status in PaymentStatus]?: 'session_expired' | 'proof_overdue' } = {
  pending: 'session_expired',
  pending_otp_verification: 'session_expired',
  pendingBankProofUpload: 'proof_overdue',
};

/** 64 payments are committed together: half of what may be queued before load is shed (`http/overload.ts`). */
const AT_ONCE = 64;
/**
 * 1024 payments per read. A read skips all overdue payments that wait for an upstream: with 50 000 of those it took 70 ms, for 64
 * rows as for 1024 (measured on two cores), and the API's reads queue behind it. So all of them are read once a minute only.
 */
const READ_AT_ONCE = 1_024;
const ALL_EVERY_MS = 60_000;
/** 16 reads at most per run: a payment that could not be ended must not keep the round busy for ever. */
const MAX_READS = 16;

const FAILING = { event: 'expiry_failed', about: ({ id }: Payment) => ({ transaction_id: id }) };

/**
 * Makes the round. Once a minute it reads all overdue payments; in between only those whose time ran out at most a minute before
 * the last full read. A payment that loses its attempt when it is overdue already may therefore wait for a minute.
 */
export function openExpiry(deps: Deps): (stopping: AbortSignal) => Promise<number> {
  let allReadAt: number | undefined;
  return async (stopping) => {
    const now = deps.clock.now();
    if (allReadAt !== undefined && isWithin(ALL_EVERY_MS, allReadAt, now)) {
      return expireDue(deps, stopping, allReadAt - ALL_EVERY_MS);
    }
    const found = await expireDue(deps, stopping);
    if (found < MAX_READS * READ_AT_ONCE && !stopping.aborted) allReadAt = now;
    return found;
  };
}

/**
 * Expires the payments that are due, of those whose time has been up since `after` at the earliest, until none are or `stopping`
 * aborts. Returns how many there were.
 *
 * @throws Error when some could not be ended: the others have been
 */
export async function expireDue(deps: Deps, stopping: AbortSignal, after?: number): Promise<number> {
  let found = 0;
  let failed = 0;
  // What could not be ended would only be read again.
  for (let reads = 0; reads < MAX_READS && failed === 0 && !stopping.aborted; reads += 1) {
    const due = await deps.store.payment.toExpire(deps.clock.now(), READ_AT_ONCE, after);
    for (let first = 0; first < due.length && !stopping.aborted; first += AT_ONCE) {
      const batch = due.slice(first, first + AT_ONCE);
      failed += await eachOf(deps.log, batch, (payment) => expirePayment(deps, payment), FAILING);
      found += batch.length;
    }
    if (due.length < READ_AT_ONCE) break;
  }
  if (failed > 0) throw new Error(`${failed} of ${found} due payments could not be ended`);
  return found;
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
