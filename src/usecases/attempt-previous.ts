/**
 * Before an order is sent again: what became of the previous attempt, which its upstream turned away.
 *
 * Invariant: nothing is sent again while the upstream says that it accepted the previous attempt, cannot say, or may not have
 * registered it yet.
 */

import { nextLookBackAt } from '../domain/payout.ts';
import type { Attempt } from '../domain/records.ts';
import { upstreamOf } from './attempt-answer.ts';
import { settleOutgoingInquiry } from './attempt-outgoing.ts';
import type { CallOutcome } from './call-outcome.ts';
import type { Deps } from './deps.ts';
import { latestAttempt } from './latest-attempt.ts';
import { inquireUpstream } from './upstream-inquire.ts';

/** What is known of the previous attempt. */
export type PreviousAttempt =
  /** There is none, or the upstream did not take it: the order may be sent. */
  | { readonly kind: 'over' }
  /** The upstream has taken it after all, and the order resumes with it. */
  | { readonly kind: 'taken' }
  /**
   * Unclear until `until`. The upstream was silent; or it was not asked, or its "not found" came too early to count
   * (`not_called`).
   */
  | { readonly kind: 'unclear'; readonly until: number; readonly outcome: Exclude<CallOutcome, 'answered'> };

interface Order {
  readonly shard: number;
  /** The attempt to ask about; null: there is none. */
  readonly attempt_id: string | null;
  readonly started_at: number | null;
  readonly created_at: number;
}

/**
 * Inquires about the last attempt of an order that is due again, and records it if it was accepted. A gateway of the upstream
 * that answers "busy" or "unavailable" may still have forwarded the request: "not found" counts only after the settle delay.
 */
export async function inquirePreviousAttempt(deps: Deps, order: Order): Promise<PreviousAttempt> {
  const attempt = await latestAttempt(deps, order);
  if (attempt === undefined || attempt.status === 'declined') return { kind: 'over' };
  const about = { attempt_id: attempt.id, connector: attempt.connector, transaction_id: attempt.payment_id };
  // It was accepted after the order was leased, so the order resumes with it; in any case nothing else is sent now.
  if (attempt.status !== 'not_sent') {
    deps.log.warn('earlier_attempt_unclear', { ...about, attempt_status: attempt.status });
    return { kind: 'unclear', until: nextLookBackAt(order, deps.clock.now()), outcome: 'not_called' };
  }
  const result = await inquireUpstream(deps, attempt);
  switch (result.answer.kind) {
    case 'approved':
    case 'waiting':
      deps.log.warn('earlier_attempt_taken', about);
      await settleOutgoingInquiry(deps, attempt, result, 'hint');
      return { kind: 'taken' };
    case 'unknown':
      deps.log.warn('earlier_attempt_unclear', about);
      return { kind: 'unclear', until: nextLookBackAt(order, deps.clock.now()), outcome: 'silent' };
    case 'not_found': {
      const until = turnedAwayAt(attempt) + upstreamOf(deps, attempt).settleDelayMs;
      // A fast clock may have been set right since; the time after the answer would count what the upstream took to give it.
      const isEarly = Math.min(result.at, deps.clock.now()) < until;
      return isEarly ? { kind: 'unclear', until, outcome: 'not_called' } : { kind: 'over' };
    }
    case 'declined':
      return { kind: 'over' };
  }
}

/**
 * When the call that was turned away ended: a clock that was wrong when the attempt was written may have been set right while the
 * call was on its way. An attempt that inquiries have closed has been unknown for the settle delay already.
 */
export function turnedAwayAt({ inquiries, settled_at, created_at }: Attempt): number {
  return inquiries === 0 && settled_at !== null ? settled_at : created_at;
}
