/**
 * Asks upstreams about open attempts: when a callback hints at news, and on a schedule when none comes.
 *
 * Invariant: nothing is believed but an inquiry's answer. An attempt is asked about until it is settled.
 */

import type { Attempt } from '../domain/records.ts';
import { settleByInquiry } from './attempt-settle.ts';
import { attemptOfCallback } from './callback-url.ts';
import { carryOn } from './card-pay.ts';
import type { Deps } from './deps.ts';

/** Longer than an inquiry can take: then another process may take the attempt over. */
const LEASE_MS = 30_000;
/** How many upstream calls the round has open at once. */
const AT_ONCE = 32;

/** Inquires about one attempt and writes what the upstream says. */
export async function inquireAttempt(deps: Deps, attempt: Attempt): Promise<void> {
  if (attempt.status === 'challenged') return inquireChallenge(deps, attempt);
  const connector = deps.connectors.upstream(attempt.connector);
  if (connector === undefined) throw new Error(`no connector is called ${attempt.connector}`);
  const askedAt = deps.clock.now();
  const [word, known] = await Promise.all([
    connector.inquire({
      reference: attempt.reference,
      orderId: attempt.payment_id,
      attemptId: attempt.id,
      amountMinor: attempt.amount_minor,
      currency: attempt.currency,
    }),
    deps.store.payment.get(attempt.shard, attempt.payment_id),
  ]);
  const payment = await settleByInquiry(deps, attempt, known, word, askedAt);
  deps.log.debug('attempt_inquired', { attempt_id: attempt.id, word: word.kind, payment_status: payment.status });
}

/** No money has been asked for: it is the authentication that the network knows of. */
async function inquireChallenge(deps: Deps, attempt: Attempt): Promise<void> {
  const known = await deps.store.payment.get(attempt.shard, attempt.payment_id);
  if (known === undefined) throw new Error(`attempt ${attempt.id} has lost its payment`);
  const payment = await carryOn(deps, attempt, known);
  deps.log.debug('challenge_inquired', { attempt_id: attempt.id, payment_status: payment.status });
}

/** Inquires about the attempts that are due. Returns how many there were. */
export async function inquireDue(deps: Deps, limit = 256): Promise<number> {
  const now = deps.clock.now();
  const due = await deps.store.attempt.claimDue(now, now + LEASE_MS, limit);
  const queue = [...due];
  const worker = async (): Promise<void> => {
    for (let attempt = queue.shift(); attempt !== undefined; attempt = queue.shift()) {
      try {
        await inquireAttempt(deps, attempt);
      } catch (error) {
        deps.log.error('inquiry_failed', { attempt_id: attempt.id }, error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, due.length) }, worker));
  return due.length;
}

/**
 * A callback arrived: a hint. Returns false when its address is none of ours; otherwise the upstream has been asked
 * and the answer is written.
 */
export async function hintAttempt(deps: Deps, connectorName: string, segment: string): Promise<boolean> {
  const key = attemptOfCallback(deps, segment);
  if (key === undefined) return false;
  const attempt = await deps.store.attempt.get(key.shard, key.id);
  if (attempt === undefined || attempt.connector !== connectorName) return false;
  // An approved attempt has nothing to learn; one that ended otherwise is asked about again, in case money came late.
  if (attempt.status !== 'approved') await inquireAttempt(deps, attempt);
  return true;
}
