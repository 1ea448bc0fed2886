/**
 * The dispatcher of refunds: sends those that have just been made, or that the round has claimed.
 *
 * Invariant: a refund is sent only while this process holds its lease; whoever dies in between leaves it to the round. An
 * upstream that hangs holds up no other one's refunds.
 */

import type { Refund } from '../domain/outgoing-records.ts';
import { START_LEASE_MS } from '../domain/payout.ts';
import type { Deps } from './deps.ts';
import { createIdle, type Idle, idleInTime } from './idle.ts';
import { createLanes, type LaneLimits } from './lanes.ts';
import { createWriting } from './outgoing-start.ts';
import { startRefund } from './refund-start.ts';

export interface RefundDispatcher {
  /** Takes on a refund that has just been committed, or claimed. Answers false when there is nothing to send, or no room. */
  offer(refund: Refund): boolean;
  /** Resolves when nothing waits and nothing is under way. */
  idle: Idle['idle'];
  /** Stops: what waits is left to the round of another process, what is under way is finished. */
  close(): Promise<void>;
}

const LIMITS: LaneLimits = { atReceiver: 16, inAll: 64, waitingAtReceiver: 1_000, waitingInAll: 4_000 };

/** Makes the dispatcher of this process; `limits` say how many refunds may be under way and may wait. */
export function createRefundDispatcher(deps: Deps, limits: LaneLimits = LIMITS): RefundDispatcher {
  let closed = false;
  /** Answers whether the upstream did; undefined where it was not to blame. */
  const start = async (refund: Refund): Promise<boolean | undefined> => {
    // Its lease has run out: the round will claim it anew.
    if (closed || refund.next_start_at === null || deps.clock.now() >= refund.next_start_at) return undefined;
    const about = { refund_id: refund.id, merchant_id: refund.merchant_id };
    try {
      const { answered, written } = await startRefund(deps, refund);
      writing.follow(written, (error) => deps.log.error('refund_not_recorded', about, error));
      return answered;
    } catch (error) {
      // It is due again when its lease has run out; where an attempt is open, the inquiry round finds out.
      deps.log.error('refund_not_started', about, error);
      return undefined;
    }
  };
  const { idle, tell } = createIdle(() => writing.isEmpty() && lanes.isEmpty());
  const writing = createWriting(tell);
  const lanes = createLanes(deps.clock, limits, start, tell);

  return {
    offer(refund) {
      if (closed || refund.status !== 'pending' || refund.connector === null || refund.next_start_at === null)
        return false;
      return lanes.add(refund.merchant_id, refund.connector, refund);
    },
    idle,
    close() {
      closed = true;
      lanes.clear();
      return idle();
    },
  };
}

const CLAIMED_AT_ONCE = 64;
/** So many claims a run, so that a great backlog does not keep the round from being stopped. */
const MOST_CLAIMS = 16;

/** Sends what is due. Returns how many refunds there were. */
export async function startDueRefunds(
  deps: Pick<Deps, 'store' | 'clock'>,
  dispatcher: RefundDispatcher,
): Promise<number> {
  let found = 0;
  for (let claims = 0; claims < MOST_CLAIMS; claims += 1) {
    const now = deps.clock.now();
    const due = await deps.store.refund.claimDue(now, now + START_LEASE_MS, CLAIMED_AT_ONCE);
    for (const refund of due) dispatcher.offer(refund);
    found += due.length;
    if (due.length < CLAIMED_AT_ONCE) break;
  }
  if (found > 0) await idleInTime(deps, dispatcher);
  return found;
}
